package collections_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/collections/parts"
)

// FuzzFilter sends any text as a filter. What is accepted is JSON to encoding/json too, and finds what the evaluator of
// JSON finds.
func FuzzFilter(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(1, 1))}
	for range 30 {
		f.Add(string(encoded(f, m.filter(0))))
	}
	for _, text := range []string{
		`{"note":null}`, `{"_or":[]}`, `{"_not":{"_not":{"_not":{"_not":{}}}}}`, `{"minutes":{"in":[1e400]}}`,
		`{"title":{"contains":"\ud800"}}`, `{"minutes":1.0}`, `{"serial":18446744073709551616}`, `{"weight":-0}`,
	} {
		f.Add(text)
	}
	store := &parts.Store{Parts: m.parts(30)}
	all := elementsOf(f, store.Parts)
	session := newSession(f, store)
	f.Fuzz(func(t *testing.T, text string) {
		request := fmt.Appendf(nil, `{"operation":"list_slice","params":{"first":100,"filter":%s}}`, text)
		var p page
		reply := session.Call(t.Context(), "mcp_aql_read", request).JSON
		if err := json.Unmarshal(reply, &p); err != nil {
			t.Fatalf("%v: %s", err, reply)
		}
		var sent struct {
			Params struct{ Filter map[string]any }
		}
		if !p.Success || !json.Valid(request) {
			if p.Success {
				t.Fatalf("%q is accepted, and is no JSON", request)
			}
			return
		}
		if !json.Valid([]byte(text)) {
			return // it has other parameters behind the filter
		}
		decoded(t, request, &sent)
		p = page{}
		decoded(t, reply, &p)
		want := identities(expected(t, all, sent.Params.Filter, "", false))
		if diff := cmp.Diff(want, identities(p.Data.Items)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzCursor sends any text as a cursor. None is taken but those that were given.
func FuzzCursor(f *testing.F) {
	session := adapterOf(f, manyParts(5), fixedKey).NewSession()
	given := map[string]bool{}
	for _, params := range []string{`{"first":1}`, `{"first":2}`, `{"first":5}`} {
		cursor := endCursor(send(f, session, "list_slice", params))
		given[cursor] = true
		f.Add(cursor)
		f.Add(cursor[1:])
	}
	f.Add("")
	f.Add("a\x00")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := encoded(t, text)
		var sent string
		decoded(t, quoted, &sent)
		answer := send(t, session, "list_slice", fmt.Sprintf(`{"first":1,"after":%s}`, quoted))
		if given[sent] {
			return
		}
		if strings.Contains(sent, "\x00") { // no request may have it, whichever parameter it is in
			if code := at(answer, "error", "code"); code != "VALIDATION_INVALID_ENCODING" {
				t.Errorf("%q: %v", text, answer)
			}
			return
		}
		if diff := cmp.Diff(refusal("after"), at(answer, "error")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	})
}
