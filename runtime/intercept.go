package aql

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// Interceptor runs in place of a handler and calls next to run it. It sees the requests that will run, and no others:
// those whose parameters are valid, that the gate has admitted, and whose confirmation is consumed. The built-in
// operations are not intercepted.
//
// It runs in the handler's time and turn, with the handler's context: CallerOf, Warn and ReportUsage work as in the
// handler. A context with more in it, such as a transaction or a tenant, goes to next. It may return without having
// called next: an error, or a result of the type that the operation returns. The error goes to MapError and then to the
// agent as that of a handler does, and so does a panic.
//
// Computed fields are computed in next. They are computed again, with the context of the outermost interceptor, where
// the elements of the result are others than those of the handler, or their fields have changed. What fields point to
// is not compared: an interceptor that changes it replaces it by a changed copy. Relations that a request selects are
// loaded again where their keys have changed, wherever these are: of a key that next has loaded with this very context,
// what was loaded stays. No interceptor sees what relations lead to.
//
// An operation that outlives its call is intercepted at the call, where next starts the execution, and then at each
// attempt, where next runs the handler: see Invocation.Attempt. The two share no context, and may be in two processes.
// At an attempt Warn does nothing, and the interceptor runs in no turn, as the handler outside its steps. An attempt
// that ends because the execution goes on later has an error, too: execution.ErrPaused.
//
// It must not change the request, since the gate has decided about this one. next may be called again only for an
// operation of the category READ: a confirmation is for one run. A Query in the request is whole again at each run,
// whatever the run before took of it. next must be called in the interceptor's goroutine;
// after the interceptor has returned, it runs nothing and returns an error.
type Interceptor func(ctx context.Context, call Invocation, next Next) (result any, err error)

// Invocation is a call of an operation.
type Invocation struct {
	// Operation is the definition of the operation, which must not be changed.
	Operation *gen.Operation
	Caller    Caller
	// Request is the pointer to the decoded request struct that the handler gets.
	Request any
	// Attempt is the number of the attempt at an execution that runs, from 1 on, and Execution the id of that. Zero: a
	// call does. A call of an operation whose Operation.Lifecycle is not nil starts an execution, and runs no handler.
	Attempt   int
	Execution string
}

// Next runs what comes after an interceptor: the next interceptor, or the handler. The result has the type that the
// handler returns.
type Next func(ctx context.Context) (result any, err error)

// interception is one request on its way through the interceptors. It outlives the call where an interceptor returns
// before next has.
type interception struct {
	*bound
	Invocation
	attempt Next          // runs the handler at an attempt at an execution; nil: a call does
	inquiry inquiry       // nil: the operation has no Query
	behind  codec.Behind  // what the request selects behind the fields
	loaded  *codec.Loaded // of the last result of the handler; nil: nothing
	runs    atomic.Int32  // of the handler
	over    atomic.Bool   // the answer is given: nothing may run any more
}

// intercepted runs the handler inside the interceptors.
func (c *handled) intercepted(ctx context.Context) (any, error) {
	i := &interception{
		bound:      c.bound,
		Invocation: Invocation{Operation: &c.Operation, Caller: CallerOf(ctx), Request: c.request},
		inquiry:    c.inquiry,
		behind:     c.chosen.Behind,
	}
	result, err := i.carryThrough(ctx, c.Result())
	if err != nil {
		return nil, err
	}
	if c.loaded = i.loaded; !c.chosen.Behind.IsEmpty() && (c.loaded == nil || !c.loaded.IsOf(result)) {
		c.loaded, err = c.loadAgain(ctx, i.loaded, result, c.chosen.Behind)
	}
	return result, err
}

// carryThrough runs all interceptors, and the handler inside them. The result is of a type; nil: of any.
func (i *interception) carryThrough(ctx context.Context, want reflect.Type) (any, error) {
	defer i.over.Store(true) // also where an interceptor panics
	result, err := i.from(0)(ctx)
	if err != nil {
		return nil, err
	}
	if want != nil && !fits(reflect.TypeOf(result), want) {
		return nil, fmt.Errorf("an interceptor returned %T from %s, which returns %s", result, i.Operation.Name, want)
	}
	return result, nil
}

// fits reports whether a value of type t, nil for a nil interface, is one that a handler returns as want.
func fits(t, want reflect.Type) bool {
	if want.Kind() == reflect.Interface {
		return t == nil || t.AssignableTo(want)
	}
	return t == want
}

var (
	errRunTwice = errors.New("an interceptor called next twice for an operation that is not READ")
	errOver     = errors.New("an interceptor called next after it had returned")
)

// from returns what runs the interceptors from this one on, and then the handler.
func (i *interception) from(at int) Next {
	return func(ctx context.Context) (result any, err error) {
		if i.over.Load() {
			return nil, errOver
		}
		if at < len(i.intercept) {
			return i.intercept[at](ctx, i.Invocation, i.from(at+1))
		}
		if i.runs.Add(1) > 1 && i.Operation.Category != gen.Read {
			return nil, errRunTwice
		}
		if i.attempt != nil {
			return i.attempt(ctx)
		}
		if i.inquiry != nil {
			i.inquiry.restore()
		}
		result, i.loaded, err = i.carryOut(ctx, i.Request, i.behind)
		return result, err
	}
}
