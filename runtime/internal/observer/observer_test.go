package observer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/observe"
)

func TestNoHooks(t *testing.T) {
	if o := New(nil, slog.New(slog.DiscardHandler)); o != nil {
		t.Error("there is something to call")
	}
}

// Of no hooks, nothing is called: a call can be told of with what there is.
func TestHooksThatAreNil(t *testing.T) {
	o := New(new(observe.Hooks), slog.New(slog.DiscardHandler))
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "kept")
	ctx, called := o.Call(ctx, observe.Call{})
	ctx, operated := o.Operation(ctx, observe.Operation{})
	ctx, attempted := o.Attempt(ctx, observe.Attempt{})
	ctx, stepped := o.Step(ctx, observe.Step{})
	o.Gate(ctx, observe.Decision{})
	o.Quota(ctx, observe.QuotaUse{})
	o.Execution(ctx, observe.StateChange{})
	if said := o.Origin(ctx); said != "" {
		t.Errorf("the origin is %q", said)
	}
	o.Approval(ctx, observe.Approval{})
	o.Directive(ctx, observe.Directive{})
	o.Verification(ctx, observe.Verification{})
	o.Store(ctx, observe.StoreCall{})
	o.Session(ctx, observe.Session{})
	stepped(observe.StepEnd{})
	attempted(observe.AttemptEnd{})
	operated(observe.OperationEnd{})
	called(observe.CallEnd{})
	if o.Approvals() || o.Stores() || o.Quotas() || ctx.Value(key{}) != "kept" {
		t.Error("nil hooks were called")
	}
}

// bomb panics when it is printed.
type bomb struct{}

func (bomb) String() string { panic("no text") }

// The panic of each hook is logged once, and by its name, whatever its value does.
func TestPanics(t *testing.T) {
	log := new(bytes.Buffer)
	o := New(&observe.Hooks{
		Step:      func(context.Context, observe.Step) (context.Context, func(observe.StepEnd)) { panic(bomb{}) },
		Directive: func(context.Context, observe.Directive) { panic("no directive") },
	}, slog.New(slog.NewTextHandler(log, nil)))
	for range 3 {
		ctx, end := o.Step(t.Context(), observe.Step{})
		if ctx != t.Context() {
			t.Error("a hook that panics has changed the context")
		}
		end(observe.StepEnd{})
		o.Directive(t.Context(), observe.Directive{})
	}
	for _, want := range []string{"hook=Step", "hook=Directive", `panic="no directive"`} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%s is logged %d times: %s", want, n, log)
		}
	}
}

// Where an execution was started is kept up to a bound, and is not known where the hook panics.
func TestOrigins(t *testing.T) {
	long := strings.Repeat("x", longestOrigin+1)
	for said, want := range map[string]string{"": "", long[1:]: long[1:], long: "", "panic": ""} {
		o := New(&observe.Hooks{Origin: func(context.Context) string {
			if said == "panic" {
				panic(said)
			}
			return said
		}}, slog.New(slog.DiscardHandler))
		if got := o.Origin(t.Context()); got != want {
			t.Errorf("%.10q is %.10q, want %.10q", said, got, want)
		}
	}
}

// What happens within goes by the end of the context that the hook was given, and by the cause of that.
func TestHooksEndNothing(t *testing.T) {
	o := New(&observe.Hooks{
		Step: func(ctx context.Context, _ observe.Step) (context.Context, func(observe.StepEnd)) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, nil
		},
	}, slog.New(slog.DiscardHandler))
	given, cancel := context.WithCancelCause(t.Context())
	ctx, _ := o.Step(given, observe.Step{})
	if ctx.Err() != nil || context.Cause(ctx) != nil {
		t.Errorf("the hook has ended the context: %v", context.Cause(ctx))
	}
	why := errors.New("the client has left")
	cancel(why)
	if got := context.Cause(ctx); !errors.Is(got, why) {
		t.Errorf("the cause is %v", got)
	}
}
