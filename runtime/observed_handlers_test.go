package aql

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/google/go-cmp/cmp"
)

// quitting are notes with an operation whose handler ends its goroutine.
func quitting() *Registry {
	return gen.NewRegistry([]gen.Handler{noteOperation("quit", gen.Execute, gen.Reversible,
		func(context.Context, *noteRequest) (string, error) { runtime.Goexit(); return "", nil })}, noteTypes)
}

// A handler that ends its goroutine ends what hooks were told of, too.
func TestHooksSeeTheEndOfGoroutines(t *testing.T) {
	w := new(witness)
	adapter, err := New(quitting(), Options{Name: "notes", Observe: w.hooks()})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		adapter.NewSession().Call(t.Context(), "mcp_aql_execute", []byte(`{"operation":"quit"}`))
	}()
	<-ended
	want := []string{
		"call Adapter=notes Tool=mcp_aql_execute",
		"> operation Category=EXECUTE Danger=reversible Endpoint=execute Name=quit",
		"> operation ended Code=INTERNAL_ERROR Ran=true",
		"call ended Code=INTERNAL_ERROR Error=true RPCError=-32603",
	}
	if diff := cmp.Diff(want, w.take()); diff != "" {
		t.Errorf("a call (-want +got)\n%s", diff)
	}
	adapter.NewSession().Call(t.Context(), "mcp_aql_execute",
		[]byte(`{"operations":[{"operation":"quit"},{"operation":"quit"}]}`))
	want = []string{
		"call Adapter=notes Tool=mcp_aql_execute",
		"> operation Category=EXECUTE Danger=reversible Endpoint=execute Name=quit",
		"> operation ended Code=INTERNAL_ERROR Ran=true",
		"> operation Category=EXECUTE Danger=reversible Endpoint=execute Index=1 Name=quit",
		"> operation ended Code=INTERNAL_ERROR Ran=true",
		"call ended Items=2",
	}
	if diff := cmp.Diff(want, w.take()); diff != "" {
		t.Errorf("a batch (-want +got)\n%s", diff)
	}
}

// What a hook adds to the context is there in the handler, and the hook takes nothing away: neither the caller nor the
// deadline.
func TestHooksAddToTheContextOfHandlers(t *testing.T) {
	type spanKey struct{}
	same := func(ctx context.Context) context.Context { return ctx }
	own := func(context.Context) context.Context { return context.Background() }
	for name, tt := range map[string]struct {
		of      func(ctx context.Context) context.Context
		timeout time.Duration
	}{
		"a context of that of the call":               {of: same},
		"a context of its own":                        {of: own},
		"a context of that of the call, with a bound": {of: same, timeout: time.Hour},
		"a context of its own, with a bound":          {of: own, timeout: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []any
			f := newFixture(t, Options{
				Timeout: tt.timeout,
				Observe: &observe.Hooks{
					Operation: func(ctx context.Context, _ observe.Operation) (context.Context, func(observe.OperationEnd)) {
						ctx, cancel := context.WithCancel(context.WithValue(tt.of(ctx), spanKey{}, "span"))
						cancel()
						return ctx, nil
					},
				},
				Intercept: []Interceptor{func(ctx context.Context, _ Invocation, next Next) (any, error) {
					_, bounded := ctx.Deadline()
					seen = append(seen, ctx.Value(spanKey{}), CallerOf(ctx).Subject, bounded, context.Cause(ctx))
					return next(ctx)
				}},
			})
			ctx := WithCaller(t.Context(), Caller{Subject: "ann"})
			f.session.Call(ctx, "mcp_aql_read", []byte(`{"operation":"get_note","params":{"note_id":"n1"}}`))
			if diff := cmp.Diff([]any{"span", "ann", tt.timeout > 0, nil}, seen); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Hooks that panic change no answer, and are logged once each.
func TestHooksMayPanic(t *testing.T) {
	f := newFixture(t, Options{Observe: &observe.Hooks{
		Call: func(context.Context, observe.Call) (context.Context, func(observe.CallEnd)) { panic("no call") },
		Operation: func(ctx context.Context, _ observe.Operation) (context.Context, func(observe.OperationEnd)) {
			return nil, func(observe.OperationEnd) { panic("no end") }
		},
		Gate: func(context.Context, observe.Decision) { panic("no decision") },
	}})
	want := newFixture(t, Options{})
	const request = `{"operation":"wipe_notes","params":{"_confirmation":"x"}}`
	for range 3 {
		if diff := cmp.Diff(want.call("mcp_aql_delete", request), f.call("mcp_aql_delete", request)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	for _, said := range []string{"no call", "no end", "no decision"} {
		if n := strings.Count(f.log.String(), said); n != 1 {
			t.Errorf("%q is logged %d times", said, n)
		}
	}
}
