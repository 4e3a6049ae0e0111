// Package observer calls the hooks of a program that observes its adapter, so that no hook can do harm.
package observer

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/aqltag/aqltag/runtime/observe"
)

// Observer calls hooks. Callers have nil for an adapter that nobody observes, and do not call its methods then. The
// functions that the methods return are never nil.
type Observer struct {
	hooks  observe.Hooks
	log    *slog.Logger
	logged [hooks]sync.Once
}

// New returns what calls hooks; nil: there are none.
func New(h *observe.Hooks, log *slog.Logger) *Observer {
	if h == nil {
		return nil
	}
	return &Observer{hooks: *h, log: log}
}

// hook is one of the hooks.
type hook int

const (
	session hook = iota
	call
	operation
	gate
	quota
	execution
	origin
	attempt
	step
	approval
	directive
	verification
	stored
	hooks int = iota
)

func (h hook) String() string {
	return [...]string{
		"Session", "Call", "Operation", "Gate", "Quota", "Execution", "Origin", "Attempt", "Step", "Approval",
		"Directive", "Verification", "Store",
	}[h]
}

// Session tells of a session that has ended.
func (o *Observer) Session(ctx context.Context, s observe.Session) {
	tell(ctx, o, session, o.hooks.Session, s)
}

// Call tells of a call that begins.
func (o *Observer) Call(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
	return begin(ctx, o, call, o.hooks.Call, c)
}

// Operation tells of a request that begins.
func (o *Observer) Operation(
	ctx context.Context, p observe.Operation,
) (context.Context, func(observe.OperationEnd)) {
	return begin(ctx, o, operation, o.hooks.Operation, p)
}

// Gate tells of a decision.
func (o *Observer) Gate(ctx context.Context, d observe.Decision) { tell(ctx, o, gate, o.hooks.Gate, d) }

// Quotas reports whether somebody wants to be told of quotas.
func (o *Observer) Quotas() bool { return o.hooks.Quota != nil }

// Quota tells of how much of a quota is used.
func (o *Observer) Quota(ctx context.Context, u observe.QuotaUse) {
	tell(ctx, o, quota, o.hooks.Quota, u)
}

// Execution tells of a change of a state.
func (o *Observer) Execution(ctx context.Context, c observe.StateChange) {
	tell(ctx, o, execution, o.hooks.Execution, c)
}

// longestOrigin is how many bytes are kept of where an execution was started.
const longestOrigin = 128

// Origin asks for what attempts at an execution that is started are told.
func (o *Observer) Origin(ctx context.Context) (said string) {
	if o.hooks.Origin == nil {
		return ""
	}
	defer o.survive(ctx, origin)
	if said = o.hooks.Origin(ctx); len(said) > longestOrigin {
		return ""
	}
	return said
}

// Attempt tells of an attempt that begins.
func (o *Observer) Attempt(ctx context.Context, a observe.Attempt) (context.Context, func(observe.AttemptEnd)) {
	return begin(ctx, o, attempt, o.hooks.Attempt, a)
}

// Step tells of a step that begins.
func (o *Observer) Step(ctx context.Context, s observe.Step) (context.Context, func(observe.StepEnd)) {
	return begin(ctx, o, step, o.hooks.Step, s)
}

// Approvals reports whether somebody wants to be told of approvals.
func (o *Observer) Approvals() bool { return o.hooks.Approval != nil }

// Approval tells of something that happened to an item.
func (o *Observer) Approval(ctx context.Context, a observe.Approval) {
	tell(ctx, o, approval, o.hooks.Approval, a)
}

// Directive tells of a directive.
func (o *Observer) Directive(ctx context.Context, d observe.Directive) {
	tell(ctx, o, directive, o.hooks.Directive, d)
}

// Verification tells of a code that an agent has sent.
func (o *Observer) Verification(ctx context.Context, v observe.Verification) {
	tell(ctx, o, verification, o.hooks.Verification, v)
}

// Stores reports whether somebody wants to be told of the state.
func (o *Observer) Stores() bool { return o.hooks.Store != nil }

// Store tells of a call of the state.
func (o *Observer) Store(ctx context.Context, c observe.StoreCall) {
	tell(ctx, o, stored, o.hooks.Store, c)
}

func tell[T any](ctx context.Context, o *Observer, h hook, f func(context.Context, T), event T) {
	if f == nil {
		return
	}
	defer o.survive(ctx, h)
	f(ctx, event)
}

func begin[T, E any](
	ctx context.Context, o *Observer, h hook, f func(context.Context, T) (context.Context, func(E)), event T,
) (context.Context, func(E)) {
	if f == nil {
		return ctx, func(E) {}
	}
	values, ended := ask(ctx, o, h, f, event)
	if values != nil {
		ctx = within{ctx, context.WithoutCancel(values)}
	}
	if ended == nil {
		return ctx, func(E) {}
	}
	return ctx, func(end E) {
		defer o.survive(ctx, h)
		ended(end)
	}
}

// ask calls a hook. Of one that panics it returns nothing.
func ask[T, E any](
	ctx context.Context, o *Observer, h hook, f func(context.Context, T) (context.Context, func(E)), event T,
) (values context.Context, ended func(E)) {
	defer o.survive(ctx, h)
	return f(ctx, event)
}

// survive, which is to be deferred, survives the panic of a hook.
func (o *Observer) survive(ctx context.Context, h hook) {
	v := recover()
	if v == nil {
		return
	}
	o.logged[h].Do(func() {
		o.log.LogAttrs(ctx, slog.LevelError, "a hook of Options.Observe panicked; later panics of it are not logged",
			slog.String("hook", h.String()), slog.String("panic", text(v)), slog.String("stack", string(debug.Stack())))
	})
}

// text returns what a panic says. The methods of its value are the program's.
func text(v any) (said string) {
	defer func() {
		if recover() != nil {
			said = "a value that cannot be printed"
		}
	}()
	return fmt.Sprint(v)
}

// within is a context with the values that a hook has added. It ends when that ends which the hook was given, whatever
// context the hook made of it.
type within struct {
	context.Context
	values context.Context
}

// Value returns a value of the hook's context, or of the one that the hook was given, should it have made its own of
// another.
func (w within) Value(key any) any {
	if v := w.values.Value(key); v != nil {
		return v
	}
	return w.Context.Value(key)
}
