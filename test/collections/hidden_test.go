package collections_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// A caller who does not get a field can neither filter nor sort by it, nor find words in it: he would learn its values.
func TestHiddenFields(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.minutes, Part.title, Part.plan, Maker.rank], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(5)
	store.Parts[0].Tags = []string{"visible"}
	s := adapterOf(t, store, aql.Options{Policy: rules}).NewSession()
	call := func(caller, operation, params string) map[string]any {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: caller})
		var answer map[string]any
		decoded(t, s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"`+operation+`","params":`+params+`}`)).JSON, &answer)
		return answer
	}
	for _, tt := range []struct{ operation, params, code string }{
		{"list_slice", `{"filter":{"minutes":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"filter":{"_or":[{"_not":{"title":{"starts":"P"}}}]}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"sort":{"field":"minutes"}}`, "VALIDATION_INVALID_ENUM"},
		{"list_slice", `{"filter":{"plan.step.count":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"filter":{"maker.rank":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"sort":{"field":"maker.rank"}}`, "VALIDATION_INVALID_ENUM"},
		{"list_slice", `{"sort":{"field":"plan.due_at"}}`, "VALIDATION_INVALID_ENUM"},
	} {
		if answer := call("ann", tt.operation, tt.params); answer["success"] != true {
			t.Errorf("ann, who sees all: %s: %v", tt.params, answer)
		}
		answer := call("bob", tt.operation, tt.params)
		if code := at(answer, "error", "code"); code != tt.code {
			t.Errorf("bob: %s: %v, want %s", tt.params, answer, tt.code)
		}
		if text := string(encoded(t, at(answer, "error", "details", "allowed"))); strings.Contains(text, "minutes") {
			t.Errorf("bob: %s: what is allowed names what is hidden: %s", tt.params, text)
		}
	}
	for caller, want := range map[string]int{"ann": 5, "bob": 0} {
		if n := len(items(call(caller, "search_parts", `{"query":"part"}`))); n != want {
			t.Errorf("%s finds %d parts by a word of a title, want %d", caller, n, want)
		}
	}
	if n := len(items(call("bob", "search_parts", `{"query":"visible"}`))); n != 1 {
		t.Errorf("bob finds %d parts by a word of a tag", n)
	}
	for _, query := range []string{
		`{"query":"operations","name":"list_slice"}`, `{"query":"operations","name":"search_parts"}`,
		`{"query":"types","name":"PartFilter"}`, `{"query":"types","name":"PartSort"}`, `{"query":"types","name":"Part"}`,
	} {
		told := string(encoded(t, call("bob", "introspect", query)))
		for _, name := range []string{"minutes", "title", "plan.", "maker.rank"} {
			if strings.Contains(told, name) {
				t.Errorf("introspection tells bob of %s: %s: %s", name, query, told)
			}
		}
	}
	visible := `{"filter":{"checked":false,"maker.name":""}}`
	if diff := cmp.Diff(5, len(items(call("bob", "list_slice", visible)))); diff != "" {
		t.Errorf("bob filters by what he gets: %s", diff)
	}
}
