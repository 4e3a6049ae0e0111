package observe_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/google/go-cmp/cmp"
)

type withinKey struct{}

// named returns hooks that all write down their name and what they are told, each within those before it.
func named(name string, told *[]string) *observe.Hooks {
	note := func(ctx context.Context, what string, event any) context.Context {
		within, _ := ctx.Value(withinKey{}).(string)
		*told = append(*told, fmt.Sprintf("%s%s %s %v", within, name, what, event))
		return context.WithValue(ctx, withinKey{}, within+name+" ")
	}
	return &observe.Hooks{
		Session: func(ctx context.Context, s observe.Session) { note(ctx, "session", s.ID) },
		Call: func(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
			return note(ctx, "call", c.Tool), func(e observe.CallEnd) { note(ctx, "call ended", e.Code) }
		},
		Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
			return note(ctx, "operation", o.Name), func(e observe.OperationEnd) { note(ctx, "operation ended", e.Code) }
		},
		Gate:      func(ctx context.Context, d observe.Decision) { note(ctx, "gate", d.Effect) },
		Quota:     func(ctx context.Context, u observe.QuotaUse) { note(ctx, "quota", u.Metric) },
		Execution: func(ctx context.Context, c observe.StateChange) { note(ctx, "execution", c.To) },
		Origin:    func(context.Context) string { return "origin:" + name },
		Attempt: func(ctx context.Context, a observe.Attempt) (context.Context, func(observe.AttemptEnd)) {
			return note(ctx, "attempt", a.Origin), func(e observe.AttemptEnd) { note(ctx, "attempt ended", e.Code) }
		},
		Step: func(ctx context.Context, s observe.Step) (context.Context, func(observe.StepEnd)) {
			return note(ctx, "step", s.Attempt), func(e observe.StepEnd) { note(ctx, "step ended", e.Failed) }
		},
		Approval:     func(ctx context.Context, a observe.Approval) { note(ctx, "approval", a.Event) },
		Directive:    func(ctx context.Context, d observe.Directive) { note(ctx, "directive", d.Tier) },
		Verification: func(ctx context.Context, v observe.Verification) { note(ctx, "verification", v.Result) },
		Store:        func(ctx context.Context, c observe.StoreCall) { note(ctx, "store", c.Method) },
	}
}

// Every hook is joined, whichever may be added: those of all are told of what begins in their order, each in the
// context of the one before, and of its end in the other order.
func TestJoin(t *testing.T) {
	var told []string
	joined := observe.Join(nil, named("a", &told), new(observe.Hooks), named("b", &told))
	fields := reflect.ValueOf(*joined)
	for i := range fields.NumField() {
		if fields.Field(i).IsNil() {
			t.Errorf("%s is not joined", fields.Type().Field(i).Name)
		}
	}
	ctx, end := joined.Call(t.Context(), observe.Call{Tool: "mcp_aql"})
	ctx, operated := joined.Operation(ctx, observe.Operation{Name: "get_note"})
	joined.Gate(ctx, observe.Decision{Effect: observe.Held})
	joined.Quota(ctx, observe.QuotaUse{Metric: "requests_per_day"})
	joined.Approval(ctx, observe.Approval{Event: observe.Opened})
	joined.Directive(ctx, observe.Directive{Tier: "advisory"})
	joined.Verification(ctx, observe.Verification{Result: observe.Wrong})
	joined.Store(ctx, observe.StoreCall{Method: observe.StorePut})
	origin := joined.Origin(ctx)
	operated(observe.OperationEnd{Code: "X"})
	end(observe.CallEnd{Code: "Y"})
	joined.Session(t.Context(), observe.Session{ID: "s1"})
	joined.Execution(t.Context(), observe.StateChange{To: "running"})
	ctx, attempted := joined.Attempt(t.Context(), observe.Attempt{Origin: origin})
	_, stepped := joined.Step(ctx, observe.Step{Attempt: 1})
	stepped(observe.StepEnd{Failed: true})
	attempted(observe.AttemptEnd{Code: "Z"})
	want := []string{
		"a call mcp_aql", "a b call mcp_aql",
		"a b a operation get_note", "a b a b operation get_note",
		"a b a b a gate held", "a b a b b gate held",
		"a b a b a quota requests_per_day", "a b a b b quota requests_per_day",
		"a b a b a approval opened", "a b a b b approval opened",
		"a b a b a directive advisory", "a b a b b directive advisory",
		"a b a b a verification wrong", "a b a b b verification wrong",
		"a b a b a store put", "a b a b b store put",
		"a b a b operation ended X", "a b a operation ended X",
		"a b call ended Y", "a call ended Y",
		"a session s1", "b session s1",
		"a execution running", "b execution running",
		"a attempt origin:a", "a b attempt origin:b",
		"a b a step 1", "a b a b step 1",
		"a b a b step ended true", "a b a step ended true",
		"a b attempt ended Z", "a attempt ended Z",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What is alone stays as it is, so that nothing is called for nothing.
func TestJoinOfOne(t *testing.T) {
	if observe.Join() != nil || observe.Join(nil, nil) != nil {
		t.Error("there are hooks")
	}
	one := new(observe.Hooks)
	if observe.Join(nil, one, nil) != one {
		t.Error("hooks that are alone were changed")
	}
	joined := reflect.ValueOf(*observe.Join(one, new(observe.Hooks)))
	for i := range joined.NumField() {
		if !joined.Field(i).IsNil() {
			t.Errorf("%s is called for nothing", joined.Type().Field(i).Name)
		}
	}
}

// Hooks are told the origins that they have returned, also where others have none, and none that is not theirs.
func TestOriginsOfJoinedHooks(t *testing.T) {
	of := func(said string, told *[]string) *observe.Hooks {
		h := &observe.Hooks{
			Attempt: func(ctx context.Context, a observe.Attempt) (context.Context, func(observe.AttemptEnd)) {
				*told = append(*told, a.Origin)
				return ctx, nil
			},
		}
		if said != "-" {
			h.Origin = func(context.Context) string { return said }
		}
		return h
	}
	for _, tt := range []struct {
		said []string // what hooks return; -: they do not
		kept string   // in place of what they return, unless empty
		want []string
	}{
		{said: []string{"a", "b"}, want: []string{"a", "b"}},
		{said: []string{"3:a:", "", "12"}, want: []string{"3:a:", "", "12"}},
		{said: []string{"a", "-"}, want: []string{"a", ""}},
		{said: []string{"-", "b", "-"}, want: []string{"", "b", ""}},
		{said: []string{"-", "-"}, want: []string{"", ""}},
		{said: []string{"", ""}, want: []string{"", ""}},
		{said: []string{"a", "b"}, kept: "00-0af7-01", want: []string{"", ""}},
		{said: []string{"a", "b"}, kept: "1:a", want: []string{"a", ""}},
		{said: []string{"a", "b"}, kept: "9:a1:b", want: []string{"", ""}},
		{said: []string{"a", "b"}, kept: "-1:a1:b", want: []string{"", ""}},
	} {
		var told []string
		var all []*observe.Hooks
		for _, said := range tt.said {
			all = append(all, of(said, &told))
		}
		joined, kept := observe.Join(all...), tt.kept
		if kept == "" && joined.Origin != nil {
			kept = joined.Origin(t.Context())
		}
		joined.Attempt(t.Context(), observe.Attempt{Origin: kept})
		if diff := cmp.Diff(tt.want, told); diff != "" {
			t.Errorf("%q, kept as %q (-want +got)\n%s", tt.said, kept, diff)
		}
	}
}

// A hook that panics keeps no other one from being called, and its panic is not lost.
func TestPanicsOfJoinedHooks(t *testing.T) {
	var told []string
	broken := &observe.Hooks{
		Gate: func(context.Context, observe.Decision) { panic("no gate") },
		Call: func(context.Context, observe.Call) (context.Context, func(observe.CallEnd)) { panic("no call") },
		Step: func(ctx context.Context, _ observe.Step) (context.Context, func(observe.StepEnd)) {
			return ctx, func(observe.StepEnd) { panic("no end") }
		},
		Origin: func(context.Context) string { panic("no origin") },
	}
	joined := observe.Join(broken, named("b", &told), broken)
	said := func(do func()) (v any) {
		defer func() { v = recover() }()
		do()
		return nil
	}
	ctx, ended := joined.Call(t.Context(), observe.Call{})
	_, stepped := joined.Step(ctx, observe.Step{})
	for want, do := range map[string]func(){
		"no gate": func() { joined.Gate(ctx, observe.Decision{}) },
		"no call": func() { ended(observe.CallEnd{}) },
		"no end":  func() { stepped(observe.StepEnd{}) },
	} {
		if got := said(do); got != want {
			t.Errorf("the panic is %v, want %s", got, want)
		}
	}
	for _, want := range []string{"b call ", "b gate", "b call ended", "b step ended"} {
		if !strings.Contains(strings.Join(told, "\n"), want) {
			t.Errorf("%q is not told: %q", want, told)
		}
	}
	if got := joined.Origin(ctx); got != "0:8:origin:b0:" {
		t.Errorf("the origin is %q", got)
	}
	if got := said(func() { observe.Join(broken, broken).Origin(ctx) }); got != "no origin" {
		t.Errorf("the panic is %v", got)
	}
}
