package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// keeper is a request with a field of every kind that could hold on to the bytes it was read from.
type keeper struct {
	Text    string
	Pointer *string
	List    []string
	Nested  []keptPart
	Strings map[string]string
	Parts   map[string]keptPart
	Dynamic any
	Number  json.Number
	Raw     json.RawMessage
	Patch   Patch[keptPart]
}

type keptPart struct {
	Text    string
	Labels  map[string]string
	Dynamic any
}

var keeperTypes = []gen.WireType{
	{Name: "Text", Kind: gen.KindScalar},
	{Name: "Part", Kind: gen.KindObject, Fields: []gen.Field{{Name: "text", Go: "Text", Type: "string"}, {Name: "labels",
		Go: "Labels", Type: "object", Items: &gen.Field{Type: "string"}}, {Name: "dynamic", Go: "Dynamic", Type: "any"}}},
	{Name: "PartPatch", Kind: gen.KindObject, Changes: "Part"},
}

// newKeeperAdapter returns an adapter whose handler gives each request to keep.
func newKeeperAdapter(t *testing.T, keep func(*keeper)) *Adapter {
	t.Helper()
	operation := gen.Handler{
		Name: "update_thing", Category: gen.Update, Danger: gen.Reversible, Description: "Keeps it.", Returns: "Text",
		Params: []gen.Field{
			{Name: "text", Go: "Text", Type: "string"}, {Name: "pointer", Go: "Pointer", Type: "string"}, {Name: "list",
				Go: "List", Type: "array", Items: &gen.Field{Type: "string"}},
			{Name: "nested", Go: "Nested", Type: "array", Items: &gen.Field{Type: "Part"}},
			{Name: "strings", Go: "Strings", Type: "object", Items: &gen.Field{Type: "string"}},
			{Name: "parts", Go: "Parts", Type: "object", Items: &gen.Field{Type: "Part"}},
			{Name: "dynamic", Go: "Dynamic", Type: "any"}, {Name: "number", Go: "Number", Type: "number"},
			{Name: "raw", Go: "Raw", Type: "any"}, {Name: "input", Go: "Patch", Type: "PartPatch", Required: true},
		},
		Request: (*keeper)(nil), Result: (*string)(nil),
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			keep(request.(*keeper))
			return "kept", nil
		},
	}
	adapter, err := New(gen.NewRegistry([]gen.Handler{operation}, keeperTypes), Options{Mode: "single"})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// keptRequests are requests with strings of every kind, by the way in which they are read.
func keptRequests() []struct{ name, request string } {
	const value = `"text":"plain","pointer":"p\u00e9","list":["a","b\n"],"nested":[{"text":"n\"",` +
		`"labels":{"k\u00e9":"v"},"dynamic":[{"x\t":"y"}]}],` +
		`"strings":{"key":"value","k\u00e9y":"val\\ue"},"parts":{"on\u00e9":{"text":"deep"}},"dynamic":{"a":["b",` +
		`{"c\u00e9":"d"}],"big":123456789012345678901234567890},` +
		`"number":1234567890123456789012345,"raw":{"as":["it","is\u00e9"]},` +
		`"input":{"text":"new\u00e9","labels":{"gone":null,"fr\u00e9sh":"la\"bel","plain":"x"},` +
		`"dynamic":{"m":{"n\u00e9":"o"}}}`
	return []struct{ name, request string }{
		{"decoded in passing", `{"operation":"update_thing","params":{` + value + `}}`},
		{"the operation named last", `{"params":{` + value + `},"operation":"update_thing"}`},
		{"beside params", `{"operation":"update_thing",` + value + `}`},
		{"in a batch", `{"operations":[{"operation":"update_thing","params":{` + value + `}}]}`},
		{"in a batch, named last", `{"operations":[{"params":{` + value + `},"operation":"update_thing"}]}`},
	}
}

// A request belongs to the transport, which may use its memory for the next one as soon as it is answered. Nothing that
// a handler kept changes then.
func TestWhatHandlersKeepOutlivesTheRequest(t *testing.T) {
	var kept []*keeper
	adapter := newKeeperAdapter(t, func(k *keeper) { kept = append(kept, k) })
	for _, tt := range keptRequests() {
		for _, padding := range []int{0, 100 << 10, 200 << 10} {
			t.Run(fmt.Sprintf("%s, padded with %d", tt.name, padding), func(t *testing.T) {
				kept = nil
				request := []byte(strings.Repeat(" ", padding) + tt.request)
				session := adapter.NewSession()
				if reply := session.Call(context.Background(), "mcp_aql", request); len(kept) != 1 {
					t.Fatalf("%s", reply.JSON)
				}
				before := spellKept(t, kept[0], false)
				for i := range request {
					request[i] = '#'
				}
				session.Call(context.Background(), "mcp_aql",
					[]byte(`{"operation":"update_thing","params":{"text":"####################","input":{"text":"####"}}}`))
				if diff := cmp.Diff(before, spellKept(t, kept[0], true)); diff != "" {
					t.Errorf("what was kept has changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// D4: neither the session nor another call writes to the memory of what handlers keep. The race detector sees what is
// written while the kept values are read.
func TestWhatHandlersKeepOutlivesOtherCalls(t *testing.T) {
	var mu sync.Mutex
	var kept []*keeper
	adapter := newKeeperAdapter(t, func(k *keeper) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, k)
	})
	session := adapter.NewSession()
	call := func(text string) {
		request := []byte(text)
		reply := session.Call(context.Background(), "mcp_aql", request)
		if !strings.Contains(string(reply.JSON), `"kept"`) {
			t.Errorf("%s", reply.JSON)
		}
		if string(request) != text {
			t.Errorf("the request was changed to %s", request)
		}
	}
	requests := keptRequests()
	for _, padding := range []int{0, 200 << 10} {
		for _, tt := range requests {
			call(strings.Repeat(" ", padding) + tt.request)
		}
	}
	first := kept
	before := make([]string, len(first))
	for i := range first {
		before[i] = spellKept(t, first[i], false)
	}
	var others sync.WaitGroup
	for worker := range 4 {
		others.Go(func() {
			for round := range 40 {
				tt := requests[(worker+round)%len(requests)]
				call(strings.ReplaceAll(strings.Repeat(" ", round%3*60<<10)+tt.request, "plain", "other"))
				session.Call(context.Background(), "mcp_aql", []byte(`{"operation":"update_thing","params":{"tex`))
			}
		})
	}
	for range 20 {
		for i := range first {
			if diff := cmp.Diff(before[i], spellKept(t, first[i], false)); diff != "" {
				t.Fatalf("what was kept has changed (-before +after):\n%s", diff)
			}
		}
	}
	others.Wait()
	for i := range first {
		if diff := cmp.Diff(before[i], spellKept(t, first[i], true)); diff != "" {
			t.Errorf("what was kept has changed (-before +after):\n%s", diff)
		}
	}
}

// spellKept spells all that a request holds, with what its patch makes of a part. merges says that the patch is
// applied; else it is spelled what that gives.
func spellKept(t *testing.T, k *keeper, merges bool) string {
	t.Helper()
	part := keptPart{"newé", map[string]string{"stays": "s", "frésh": `la"bel`, "plain": "x"},
		map[string]any{"m": map[string]any{"keeps": "1", "né": "o"}}}
	if merges {
		part = keptPart{"old", map[string]string{"gone": "g", "stays": "s"},
			map[string]any{"m": map[string]any{"keeps": "1"}}}
		if err := k.Patch.Apply(&part); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal([]any{k.Text, k.Pointer, k.List, k.Nested, k.Strings, k.Parts, k.Dynamic, k.Number, k.Raw,
		string(k.Patch.JSON()), k.Patch.Paths(), part})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recorder is an audit sink that keeps the records themselves.
type recorder struct {
	mu      sync.Mutex
	records []audit.Record
}

func (r *recorder) Write(_ context.Context, records []audit.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, records...)
	return nil
}

func (r *recorder) Close() error { return nil }

// Neither does anything change that the gate keeps: records that wait to be written, questions, what tokens are bound
// to, and the counters of callers.
func TestWhatTheGateKeepsOutlivesTheRequest(t *testing.T) {
	const token, deleteIt = "conf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", `"operation":"delete_note",` +
		`"_request_id":"r-1"`
	sink := new(recorder)
	log := audit.New(audit.Options{Sinks: []audit.Sink{sink}})
	f := newFixture(t, Options{Audit: log, Policy: parsePolicy(t,
		"version: 1\nrules:\n  - {name: two, effect: deny, operations: [delete_note], when: [{param: note_id, in: "+
			"[n2]}]}\n")})
	var questions []*Question
	send := func(text string) Reply {
		request := []byte(text)
		reply := f.session.Call(WithCaller(t.Context(), ann), "mcp_aql_delete", request)
		for i := range request {
			request[i] = '#'
		}
		if reply.Question != nil {
			questions = append(questions, reply.Question)
		}
		return reply
	}
	var tokens []string
	for _, request := range []string{
		`{` + deleteIt + `,"params":{"note_id":"n1","secret":"hunter2hunter2"}}`,
		`{"params":{"note_id":"n1"},` + deleteIt + `}`,
		`{` + deleteIt + `,"note_id":"n1"}`,
		`{` + deleteIt + `,"params":{"note_id":"n1","_confirmation":"` + token + `"}}`,
		`{` + deleteIt + `,"params":{"note_id":"n2"}}`,
		`{` + deleteIt + `,"params":{"note_id":3}}`,
		`{"_request_id":"r-1","operations":[{"operation":"delete_note","params":{"note_id":"n1"}},` +
			`{"operation":"wipe_notes"}]}`,
		`{"_request_id":"r-1","operations":[{"operation":"wipe_notes","params":{"nope":1}}]}`,
	} {
		if _, after, found := strings.Cut(string(send(request).JSON), `"confirmation_token":"`); found {
			tokens = append(tokens, after[:len(token)])
		}
	}
	if got := string(send(`{` + deleteIt + `,"params":{"note_id":"n1","_confirmation":"` + tokens[1] +
		`"}}`).JSON); !strings.Contains(got, `"data":"n1"`) {
		t.Errorf("%s", got)
	}
	f.session.Close()
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(sink.records) < 15 || len(questions) != 3 {
		t.Fatalf("%d records, %d questions", len(sink.records), len(questions))
	}
	for i := range sink.records {
		if text := string(sink.records[i].AppendJSON(nil)); strings.Contains(text, "#") || !strings.Contains(text, `"r-1"`) &&
			!strings.Contains(text, "TOKEN_REVOKED") {
			t.Errorf("record %d: %s", i, text)
		}
	}
	for i, q := range questions {
		if text := fmt.Sprintf("%+v", *q); strings.Contains(text, "#") || strings.Contains(text, "hunter2") ||
			!strings.Contains(text, "n1") {
			t.Errorf("question %d: %s", i, text)
		}
	}
}
