package aql

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// runner is the third stage of a request: it runs handlers, within their time, in their turn, and survives their
// panics.
type runner struct {
	timeout     time.Duration // where the operation sets none; zero: no bound
	concurrency Concurrency
	turn        sync.RWMutex
	now         func() time.Time // nil: it is of no interest how long a handler takes
}

// outcome is what came of a handler, besides the result that it wrote.
type outcome struct {
	handling *handling // what the handler collected
	took     time.Duration
	err      error
	ctxErr   error // why the handler's context had ended when it returned; nil: it had not
}

// invoker calls a handler and writes its result. When it returns an error, what it wrote is to be taken back.
type invoker interface {
	invoke(ctx context.Context, w *wire.Writer) error
}

// run calls the handler of an operation and writes its result to w.
func (e *runner) run(ctx context.Context, o *gen.Operation, h invoker, w *wire.Writer) outcome {
	timeout := o.Timeout
	if timeout == 0 {
		timeout = e.timeout
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	out := outcome{handling: &handling{Context: ctx}}
	var start time.Time
	if e.now != nil {
		start = e.now()
	}
	out.err = e.invoke(out.handling, o.Category, h, w)
	if e.now != nil {
		out.took = e.now().Sub(start)
	}
	out.ctxErr = ctx.Err()
	return out
}

func (e *runner) invoke(ctx *handling, category gen.Category, h invoker, w *wire.Writer) (err error) {
	defer e.enter(category)()
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return h.invoke(ctx, w)
}

// enter waits until an operation of this category may run, as the concurrency model says, and returns what ends its
// turn.
func (e *runner) enter(category gen.Category) (leave func()) {
	switch {
	case e.concurrency == Serialized, e.concurrency == ReadConcurrent && category != gen.Read:
		e.turn.Lock()
		return e.turn.Unlock
	case e.concurrency == ReadConcurrent:
		e.turn.RLock()
		return e.turn.RUnlock
	default:
		return func() {}
	}
}

// panicError is a handler's panic, on its way to the log.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("handler panicked: %v", p.value) }
