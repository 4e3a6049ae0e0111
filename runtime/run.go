package aql

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// runner is the third stage of a request: it runs handlers, within their time, in their turn, and survives their
// panics.
type runner struct {
	timeout   time.Duration // where the operation sets none; zero: no bound
	turns     turns
	groupings groupings
	abandoned abandoned
	log       *slog.Logger
	now       func() time.Time // nil: it is of no interest how long a handler takes
}

// outcome is what came of a handler, besides the result that it wrote.
type outcome struct {
	handling *handling // what the handler collected
	took     time.Duration
	verdict  verdict // what its error means
	ctxErr   error   // why the handler's context had ended when it returned; nil: it had not
	givenUp  bool    // it still runs: it has the memory of the request, and that of the writer
}

// invoker calls a handler and writes its result. When it returns an error, what it wrote is to be taken back.
type invoker interface {
	invoke(ctx context.Context, w *wire.Writer) error
}

// run is what a runner runs.
type run struct {
	operation *gen.Operation
	handler   invoker
	mapError  func(ctx context.Context, operation string, err error) error // nil: none
	grouped   int                                                          // summaries with groups that are wanted
}

// run calls a handler and writes its result to w. It waits for one that has a deadline no longer than until a second
// after that.
func (e *runner) run(ctx context.Context, r run, w *wire.Writer) outcome {
	caller, timeout := ctx, r.operation.Timeout
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
	_, bounded := ctx.Deadline()
	switch err := e.enter(ctx, r); {
	case err != nil:
		out.verdict.err = errNoTurn
	case bounded:
		e.runApart(caller, r, &out, w)
	default:
		out.verdict = e.runHere(caller, r, out.handling, w)
	}
	if e.now != nil {
		out.took = e.now().Sub(start)
	}
	out.ctxErr = ctx.Err()
	return out
}

// enter waits until a handler may run. Unless it returns an error, which is that of ctx, leave has to be called when
// the handler has ended. Nothing that has a turn waits for groupings, since those come first.
func (e *runner) enter(ctx context.Context, r run) error {
	if err := e.groupings.enter(ctx, r.grouped); err != nil {
		return err
	}
	err := e.turns.enter(ctx, r.operation.Category)
	if err != nil {
		e.groupings.leave(r.grouped)
	}
	return err
}

func (e *runner) leave(r run) {
	e.turns.leave(r.operation.Category)
	e.groupings.leave(r.grouped)
}

// runHere runs a handler in the goroutine of the call.
func (e *runner) runHere(caller context.Context, r run, ctx *handling, w *wire.Writer) verdict {
	defer e.leave(r)
	if err := invoke(ctx, r.handler, w); err != nil {
		return r.judge(caller, err)
	}
	return verdict{}
}

// runApart runs a handler in a goroutine of its own, and waits for it.
func (e *runner) runApart(caller context.Context, r run, out *outcome, w *wire.Writer) {
	a := &attempt{
		run: r, runner: e, caller: caller, handling: out.handling, writer: *w,
		began: time.Now(), ended: make(chan struct{}),
	}
	go a.begin()
	if a.wait() {
		*w, out.verdict = a.writer, a.verdict
		return
	}
	w.Detach()
	out.givenUp, out.verdict.err = true, errGivenUp
}

// invoke calls a handler, and makes its panic an error.
func invoke(ctx *handling, h invoker, w *wire.Writer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
	}()
	return h.invoke(ctx, w)
}

// panicError is a panic of a handler, or of the methods of its error, on its way to the log.
type panicError struct {
	text  string // of the value, whose methods are the author's
	stack []byte
}

func newPanicError(value any) *panicError {
	return &panicError{fmt.Sprintf("handler panicked: %v", value), debug.Stack()}
}

func (p *panicError) Error() string { return p.text }
