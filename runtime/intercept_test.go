package aql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

type tenantKey struct{}

// Interceptors see what will run, in their order, with the definition, the caller and the request, and then the result.
func TestInterceptors(t *testing.T) {
	var seen []string
	named := func(name string) Interceptor {
		return func(ctx context.Context, call Invocation, next Next) (any, error) {
			request := call.Request.(*noteRequest)
			seen = append(seen, fmt.Sprintf("%s: %s %s by %s, limit %d", name, call.Operation.Category, call.Operation.Name,
				call.Caller.Subject, request.Limit))
			result, err := next(context.WithValue(ctx, tenantKey{}, name))
			seen = append(seen, fmt.Sprintf("%s: %v, %v", name, result, err))
			return result, err
		}
	}
	f := newFixture(t, Options{Mode: ModeSingle, Intercept: []Interceptor{named("outer"), named("inner")}})
	ctx := WithCaller(t.Context(), Caller{Subject: "ann"})
	call := func(request string) string { return string(f.session.Call(ctx, "mcp_aql", []byte(request)).JSON) }

	if got := call(`{"operation":"create_note","params":{"title":"Milk"}}`); got != `{"success":true,"data":"Milk"}` {
		t.Errorf("got %s", got)
	}
	want := []string{
		"outer: CREATE create_note by ann, limit 25", "inner: CREATE create_note by ann, limit 25",
		"inner: Milk, <nil>", "outer: Milk, <nil>",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}

	seen = nil
	for _, request := range []string{
		`{"operation":"create_note"}`,
		`{"operation":"no_note"}`,
		`{"operation":"introspect","params":{"query":"operations"}}`,
		deleteN1,
		`{"operation":"delete_note","params":{"note_id":"n1","confirmation_token":"conf_x"}}`,
		`{"operations":[{"operation":"delete_note","params":{"note_id":"n1"}}]}`,
	} {
		if call(request); len(seen) > 0 {
			t.Errorf("%s does not run, and an interceptor saw %v", request, seen)
		}
	}
	call(`{"operations":[{"operation":"get_note","params":{"note_id":"a"}},{"operation":"get_note"},` +
		`{"operation":"get_note","params":{"note_id":"b"}}]}`)
	if len(seen) != 8 {
		t.Errorf("of a batch with two sound items, interceptors saw %v", seen)
	}
}

// What an interceptor returns is treated as what a handler returns, and it cannot make a handler run twice that changes
// something.
func TestInterceptorsInPlaceOfHandlers(t *testing.T) {
	var second error
	for _, tt := range []struct {
		name, operation string
		intercept       Interceptor
		want            string
		ran             int
	}{
		{
			"a refusal", "get_note",
			func(context.Context, Invocation, Next) (any, error) { return nil, Denied("not your tenant") },
			`"code":"PERMISSION_DENIED","message":"Permission denied: 'not your tenant'"`, 0,
		},
		{
			"an error that MapError knows", "get_note",
			func(context.Context, Invocation, Next) (any, error) { return nil, errSecret },
			`"code":"CONFLICT_MAPPED"`, 0,
		},
		{
			"a result", "get_note", func(context.Context, Invocation, Next) (any, error) { return "cached", nil },
			`{"success":true,"data":"cached"}`, 0,
		},
		{
			"a result of another type", "get_note",
			func(context.Context, Invocation, Next) (any, error) { return 7, nil }, `"INTERNAL_ERROR"`, 0,
		},
		{
			"no result", "get_note", func(context.Context, Invocation, Next) (any, error) { return nil, nil },
			`"INTERNAL_ERROR"`, 0,
		},
		{
			"a result that nothing returns", "nothing",
			func(context.Context, Invocation, Next) (any, error) { return 7, nil }, `{"success":true,"data":null}`, 0,
		},
		{
			"a panic", "get_note", func(context.Context, Invocation, Next) (any, error) { panic("secret") },
			`"INTERNAL_ERROR"`, 0,
		},
		{
			"READ may run again", "get_note", func(ctx context.Context, _ Invocation, next Next) (any, error) {
				_, _ = next(ctx)
				return next(ctx)
			}, `"data":"n1"`, 2,
		},
		{
			"others run once", "create_note", func(ctx context.Context, _ Invocation, next Next) (any, error) {
				result, err := next(ctx)
				_, second = next(ctx)
				return result, err
			}, `"data":"n1"`, 1,
		},
		{
			"warnings", "get_note", func(ctx context.Context, _ Invocation, next Next) (any, error) {
				Warn(ctx, Warning{Code: "SLOW_WARNING", Message: "slow today"})
				return next(ctx)
			}, `"SLOW_WARNING"`, 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{
				Mode: ModeSingle, Intercept: []Interceptor{tt.intercept},
				MapError: func(_ context.Context, _ string, err error) error {
					if errors.Is(err, errSecret) {
						return Errorf("CONFLICT_MAPPED", "it was mapped")
					}
					return err
				},
			})
			params := map[string]string{"get_note": `{"note_id":"n1"}`, "create_note": `{"title":"n1"}`, "nothing": `{}`}
			got := f.call("mcp_aql", `{"operation":"`+tt.operation+`","params":`+params[tt.operation]+`}`)
			if !strings.Contains(got, tt.want) || len(f.ran) != tt.ran || strings.Contains(got, "secret") {
				t.Errorf("after %d runs: %s", len(f.ran), got)
			}
		})
	}
	if !errors.Is(second, errRunTwice) {
		t.Errorf("calling next a second time: %v", second)
	}
}

// Without interceptors a call costs what the handler costs.
func TestNoInterceptorsCostNothing(t *testing.T) {
	f := newFixture(t, Options{})
	h := f.adapter.handlers["nothing"]
	var into slots
	h.newCall(&into)
	w := wire.NewWriter(nil)
	ctx := t.Context()
	if allocated := testing.AllocsPerRun(100, func() {
		w.Reset(w.Bytes()[:0])
		if err := into.handled.invoke(ctx, w); err != nil {
			t.Fatal(err)
		}
	}); allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// After an interceptor has returned, its next runs nothing: the agent has the answer, and the turn is over.
func TestNextAfterTheAnswer(t *testing.T) {
	var late Next
	f := newFixture(t, Options{Intercept: []Interceptor{
		func(_ context.Context, _ Invocation, next Next) (any, error) {
			late = next
			return nil, errors.New("too slow")
		},
	}})
	got := f.call("mcp_aql_read", `{"operation":"get_note","params":{"note_id":"n1"}}`)
	if !strings.Contains(got, "INTERNAL_ERROR") {
		t.Fatal(got)
	}
	if _, err := late(t.Context()); !errors.Is(err, errOver) {
		t.Errorf("next ran: %v", err)
	}
}
