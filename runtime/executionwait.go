package aql

import (
	"context"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// waitMember is the metadata of a request that starts an execution and waits for what that comes to, in milliseconds.
const waitMember = "_wait"

// asksToWait is the waitMember of a request.
type asksToWait struct {
	given        bool
	milliseconds int
	kind         string // its JSON kind, where that is wrong
}

// readWait reads the value of the member that r has reached.
func (q *request) readWait(r *wire.Reader) {
	q.wait = asksToWait{given: true}
	kind := r.Kind()
	if kind != "number" {
		q.wait.kind = kind
		r.Skip()
		return
	}
	text, _ := r.Number()
	var err error
	if q.wait.milliseconds, err = strconv.Atoi(text); err != nil {
		q.wait.kind = "number"
	}
}

// checkWait reports a wait that cannot be. It is metadata, and has no meaning, where nothing starts.
func (q *request) checkWait() *Error {
	w := &q.wait
	switch {
	case !w.given || q.operation.definition.Lifecycle == nil:
		return nil
	case w.kind != "":
		return invalidType(waitMember, "integer", w.kind, "")
	case w.milliseconds < 0:
		return failure(CodeOutOfRange, "Parameter '"+waitMember+"' must be >= '0'", detail{"param_name", waitMember},
			detail{"minimum", 0})
	case w.milliseconds > gen.MaxExecutionWait:
		return failure(CodeOutOfRange, "Parameter '"+waitMember+"' must be <= '"+strconv.Itoa(gen.MaxExecutionWait)+"'",
			detail{"param_name", waitMember}, detail{"maximum", gen.MaxExecutionWait})
	case w.milliseconds > 0 && q.envelope.item:
		return failure(CodeOutOfRange, "Parameter '"+waitMember+"' has no place in a batch: its other operations would wait",
			detail{"param_name", waitMember})
	}
	return nil
}

type pauseKey struct{}

// WithPause returns a context with which Session.Call says when it waits for an execution: it calls pause before that,
// and what pause returns afterwards. Meanwhile the call takes up nothing that others need, and is one of no more than
// 64 that wait.
func WithPause(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

func pauseOf(ctx context.Context) func() func() {
	pause, _ := ctx.Value(pauseKey{}).(func() func())
	return pause
}

// follow returns an execution that was started as soon as it has ended or is paused, or when the request waits no
// longer. It reports the progress of the execution as that of the request.
func (e *executions) follow(ctx context.Context, v *executionVisit, r *execution.Record) *execution.Record {
	wait := e.wait(ctx, v, v.wait)
	if wait <= 0 || r.State.Terminal() || r.State == execution.Paused {
		return r
	}
	last, err := e.engine.Follow(ctx, execution.Follow{
		CallerKey: r.CallerKey, ID: r.ID, Version: r.Version(), Most: wait, Pause: pauseOf(ctx),
		Enough: func(r *execution.Record) bool {
			reportExecution(ctx, r.Progress)
			return r.State == execution.Paused
		},
	})
	if err != nil { // it was started, which is an answer
		last = r
	}
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok && !last.State.Terminal() {
		h.stopProgress()
	}
	return last
}

// reportExecution reports the progress of an execution as that of a request.
func reportExecution(ctx context.Context, p *execution.Progress) {
	const parts = 10_000 // of which a percentage has whole ones
	switch {
	case p == nil:
	case p.Current != nil && p.Total != nil:
		ReportProgress(ctx, *p.Current, *p.Total, p.Message)
	case p.Percentage != nil:
		ReportProgress(ctx, int(*p.Percentage*parts/completed), parts, p.Message)
	}
}

// stopProgress keeps the end of the call from being reported as the end of the work.
func (h *handling) stopProgress() {
	h.warnings.mutex.Lock()
	defer h.warnings.mutex.Unlock()
	if p := h.progress; p != nil {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.endless = true
	}
}

// waitOf is for how long a request that starts an execution waits. A large one does not: others wait for its room.
func waitOf(x *exchange, q *request) time.Duration {
	if x.adapter.inFlight.counts(x.message.size) {
		return 0
	}
	return time.Duration(q.wait.milliseconds) * time.Millisecond
}
