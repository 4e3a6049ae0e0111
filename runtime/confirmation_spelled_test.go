package aql

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// commandRequest has values of which nothing tells how the handler sees them, or that it sees as they were sent.
type commandRequest struct {
	Spec commandSpec
	Raw  json.RawMessage
}

// commandSpec reads JSON by a method of its own, and keeps what it has read to itself.
type commandSpec struct{ cmd string }

func (s *commandSpec) UnmarshalJSON(text []byte) error {
	var v struct{ Cmd string }
	err := json.Unmarshal(text, &v)
	s.cmd = v.Cmd
	return err
}

// A person who approves sees the same of a value in each spelling for which the approval then counts.
func TestNoSpellingHidesAValue(t *testing.T) {
	blanks, zeros := strings.Repeat(" ", 600), strings.Repeat("0", 600)
	for name, tt := range map[string]struct{ plain, spelled string }{
		"blanks":       {`"spec":{"cmd":"rm -rf /"}`, `"spec":{` + blanks + `"cmd":` + blanks + `"rm -rf /"}`},
		"escapes":      {`"spec":{"cmd":"rm -rf /"}`, `"spec":{"\u0063md":"\u0072\u006d \u002d\u0072\u0066 \/"}`},
		"zeros":        {`"spec":{"n":1,"cmd":"rm"}`, `"spec":{"n":1.` + zeros + `,"cmd":"rm"}`},
		"zeros of raw": {`"raw":{"n":1,"cmd":"rm"}`, `"raw":{"n":1.` + zeros + `,"cmd":"rm"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, params := range []string{tt.plain, tt.spelled} {
				state := new(store.Memory)
				adapter, err := New(gen.NewRegistry([]gen.Handler{{
					Name: "run_spec", Category: gen.Delete, Danger: gen.Dangerous, Returns: "Nothing",
					Confirm: "Run {spec} {raw}?",
					Params: []gen.Field{
						{Name: "spec", Go: "Spec", Type: "object"}, {Name: "raw", Go: "Raw", Type: "any"},
					},
					Request: (*commandRequest)(nil),
					Call:    func(context.Context, []any, any) (any, error) { return nil, nil },
				}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}), Options{
					Name: "notes", State: state, Confirmation: Confirmation{HumanOnly: true, Inbox: approve.New},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx := WithCaller(t.Context(), Caller{Subject: "ann", Issuer: "test"})
				request := []byte(`{"operation":"run_spec","params":{` + params + `}}`)
				answer := adapter.NewSession().Call(ctx, "mcp_aql_delete", request)
				items, err := approve.New(state).List(t.Context())
				if err != nil || len(items) != 1 {
					t.Fatalf("%+v, %v: %s", items, err, answer.JSON)
				}
				_, value, _ := strings.Cut(tt.plain, ":")
				if got, want := items[0].Params, "{"+tt.plain+"}"; got != want {
					t.Errorf("%.40s: the person sees %.80s, want %s", params, got, want)
				}
				if got := items[0].Message; !strings.Contains(got, value) {
					t.Errorf("%.40s: the person is asked %.80s", params, got)
				}
			}
		})
	}
}
