package aql

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// attempt is the run of a handler that has a deadline, from its turn to what its result or its error means. All of that
// is the author's code, which need not end: the attempt has a goroutine of its own, and the call that waits for it may
// give it up.
type attempt struct {
	run
	runner   *runner
	caller   context.Context // of the call
	handling *handling
	writer   wire.Writer
	began    time.Time

	verdict verdict
	within  bool        // of abandoned.add; set before over is
	over    atomic.Bool // it has ended, or was given up, whichever came first
	ended   chan struct{}
}

// grace is how long a handler may run after its deadline, until it is given up.
const grace = time.Second

// wait waits for the end of the attempt. It returns false where the attempt was given up: nothing but its handling may
// be used then. Where the client has cancelled the call, or went, nobody waits for an answer: the handler has the rest
// of its time, and the call keeps the place of its caller meanwhile.
func (a *attempt) wait() bool {
	select {
	case <-a.ended:
		return true
	case <-a.handling.Done():
	}
	deadline, _ := a.handling.Deadline()
	timer := time.NewTimer(time.Until(deadline) + grace)
	defer timer.Stop()
	select {
	case <-a.ended:
		return true
	case <-timer.C:
	}
	a.within = a.runner.abandoned.add(a.operation.Name, CallerOf(a.caller)) // before another call is let in
	if a.over.CompareAndSwap(false, true) {
		return false
	}
	a.runner.abandoned.remove(a.operation.Name, CallerOf(a.caller), a.within)
	<-a.ended
	return true
}

// begin runs the handler.
func (a *attempt) begin() {
	defer a.end() // also where the handler ends the goroutine
	a.verdict = verdict{err: errGoexit}
	err := invoke(a.handling, a.handler, &a.writer)
	if err == nil {
		a.verdict = verdict{}
		return
	}
	a.verdict = a.judge(a.caller, err)
}

func (a *attempt) end() {
	a.runner.leave(a.run)
	if a.over.CompareAndSwap(false, true) {
		close(a.ended)
		return
	}
	a.runner.abandoned.remove(a.operation.Name, CallerOf(a.caller), a.within)
	attrs := []slog.Attr{slog.String("operation", a.operation.Name), slog.Duration("after", time.Since(a.began))}
	if a.verdict.err != nil {
		attrs = append(attrs, slog.Any("error", a.verdict.err))
	}
	a.runner.log.LogAttrs(a.caller, slog.LevelInfo, "a handler that was given up has ended", attrs...)
}

// errGoexit is the error of a handler that has ended its goroutine.
var errGoexit = errors.New("the handler ended its goroutine with runtime.Goexit")

// The errors of handlers that did not run, or that nobody waits for.
var (
	errGivenUp = errors.New("the handler did not return after its deadline, and was given up; it still runs")
	errNoTurn  = errors.New("earlier operations have not ended, beside which it may not run")
	errTooMany = errors.New("too many handlers that were given up still run")
)
