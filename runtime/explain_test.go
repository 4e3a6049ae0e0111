package aql_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// F63: what is explained is what the gate decides, of the policy in force, with the parameters as handlers see them.
func TestExplain(t *testing.T) {
	of := func(effect policy.Effect, level string) *policy.Policy {
		return &policy.Policy{Rules: []policy.Rule{{
			Name: "some-levels", Effect: effect, Operations: []string{"note_level"}, Reason: "Not so loud",
			When: []policy.Condition{{Param: "count", AtLeast: 3}, {Param: "word", Equals: level}},
		}}}
	}
	type request struct {
		Count int
		Word  string
	}
	handler := gen.Handler{
		Name: "note_level", Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag, Description: "Looks.",
		Params: []gen.Field{
			{Name: "count", Go: "Count", Type: "integer"}, {Name: "word", Go: "Word", Type: "string"},
		},
		Request: (*request)(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{handler}, nil), aql.Options{
		Name: "notes", Policy: of(policy.Deny, "loud"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		params string
		effect policy.Effect
		rule   string
	}{
		"matches":               {`{"count":3,"word":"loud"}`, policy.Deny, "some-levels"},
		"matches by the escape": {`{"count":3,"word":"l\u006fud"}`, policy.Deny, "some-levels"},
		"does not match":        {`{"count":2,"word":"loud"}`, policy.Allow, ""},
	} {
		e, err := adapter.Explain(t.Context(), "note_level", aql.Caller{Subject: "ann"}, []byte(tt.params))
		if err != nil || e.Effect != tt.effect || e.Rule != tt.rule {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		reply := adapter.NewSession().Call(t.Context(), adapter.Tool("note_level"),
			[]byte(`{"operation":"note_level","params":`+tt.params+`}`))
		if denied := strings.Contains(string(reply.JSON), `"PERMISSION_DENIED"`); denied != (e.Effect == policy.Deny) {
			t.Errorf("%s: the gate says %s", name, reply.JSON)
		}
	}
	for operation, params := range map[string]string{
		"note_level": `{"count":"many"}`, "": `{}`, "introspect": `{}`, "nothing": `{}`,
	} {
		_, err := adapter.Explain(t.Context(), operation, aql.Caller{}, []byte(params))
		invalid, of := errors.AsType[*aql.Error](err)
		if err == nil || of != (operation == "note_level") || of && invalid.Message == "" {
			t.Errorf("%q: %v", operation, err)
		}
	}
	if err := adapter.SetPolicy(nil); err != nil {
		t.Fatal(err)
	}
	e, err := adapter.Explain(t.Context(), "note_level", aql.Caller{}, []byte(`{"count":3,"word":"loud"}`))
	if err != nil || e.Effect != policy.Allow || adapter.Policy() != nil || e.Confirmed {
		t.Errorf("without a policy: %+v, %v", e, err)
	}
}
