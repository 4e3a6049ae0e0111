package aql

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// large is a result that may have 50 MB in any of its fields.
type large struct {
	Text   string
	Texts  []string
	Data   []byte
	Raw    json.RawMessage
	Own    selfWritten
	Names  map[string]string
	Any    any
	Nested []large
}

// selfWritten writes itself as text.
type selfWritten struct{ text []byte }

func (o selfWritten) MarshalText() ([]byte, error) { return o.text, nil }

var largeTypes = []gen.WireType{{Name: "Large", Kind: gen.KindObject, Fields: []gen.Field{
	{Name: "text", Go: "Text", Type: "string"},
	{Name: "texts", Go: "Texts", Type: "array", Items: &gen.Field{Type: "string"}},
	{Name: "data", Go: "Data", Type: "string"}, {Name: "raw", Go: "Raw", Type: "any"},
	{Name: "own", Go: "Own", Type: "string"},
	{Name: "names", Go: "Names", Type: "object", Items: &gen.Field{Type: "string"}}, {Name: "any", Go: "Any", Type: "any"},
	{Name: "nested", Go: "Nested", Type: "array", Items: &gen.Field{Type: "Large"}},
}}}

// C12, REQ-RS-05: a result beyond the limit is not encoded first: what is allocated for it is a small part of it. The
// limit that is least decides: that of responses, the budget of READ operations, and what a batch has left.
func TestALargeResultIsNotEncodedWhole(t *testing.T) {
	const size = 20 << 20
	text := strings.Repeat("x", size)
	many := make([]string, 500)
	for i := range many {
		many[i] = text[:size/len(many)]
	}
	var tiny []any
	for range 1 << 18 {
		tiny = append(tiny, map[string]any{"text": text[:50]})
	}
	nested := make([]large, 500)
	for i := range nested {
		nested[i].Text = many[i]
	}
	for _, tt := range []struct {
		name   string
		result large
	}{
		{"a text", large{Text: text}},
		{"texts", large{Texts: many}},
		{"binary data", large{Data: []byte(text)}},
		{"JSON", large{Raw: json.RawMessage(`"` + text + `"`)}},
		{"a text of its own", large{Own: selfWritten{[]byte(text)}}},
		{"a map", large{Names: map[string]string{"a": text, "b": text}}},
		{"a name in a map", large{Names: map[string]string{text: "a"}}},
		{"a text in any", large{Any: []any{1, map[string]any{"a": text}}}},
		{"a name in any", large{Any: map[string]any{text: 1}}},
		{"a number in any", large{Any: json.Number(strings.Repeat("1", size))}},
		{"data in any", large{Any: []any{[]byte(text)}}},
		{"many values in any", large{Any: tiny}},
		{"many structs", large{Nested: nested}},
		{"a list in a list", large{Nested: []large{{Nested: nested}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for batch, options := range map[bool]Options{
				true:  {Mode: ModeSingle, Limits: Limits{ResponseSize: 1 << 20}},
				false: {Mode: ModeSingle, AnswerBudget: 1 << 20},
			} {
				o := noteOperation("get_large", gen.Read, gen.Safe, nil)
				o.Result, o.Returns = (**large)(nil), "Large"
				o.Call = func(context.Context, []any, any) (any, error) { return &tt.result, nil }
				adapter, err := New(gen.NewRegistry([]gen.Handler{o}, largeTypes), options)
				if err != nil {
					t.Fatal(err)
				}
				request := `{"operation":"get_large"}`
				if batch {
					request = `{"operations":[` + request + `]}`
				}
				var answer []byte
				allocated := allocatedBy(func() {
					answer = adapter.NewSession().Call(context.Background(), "mcp_aql", []byte(request)).JSON
				})
				if !strings.Contains(string(answer), "VALIDATION_PAYLOAD_TOO_LARGE") {
					t.Errorf("in a batch %v: %.300s", batch, answer)
				}
				if allocated > size/2 {
					t.Errorf("in a batch %v: %d MiB are allocated", batch, allocated>>20)
				}
			}
		})
	}
}

// allocatedBy returns how many bytes a function allocates.
func allocatedBy(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
