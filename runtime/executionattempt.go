package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// attempt returns what makes an attempt at the executions of an operation.
func (e *executions) attempt(l *longRunning) func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
	return func(ctx context.Context, r *execution.Run) ([]byte, *execution.Failure) {
		var by starter
		if err := json.Unmarshal(r.Caller(), &by); err != nil {
			return nil, e.failed(ctx, l, nil, r, fmt.Errorf("reading the caller of an execution: %w", err))
		}
		ctx = WithCaller(ctx, by.Caller)
		o := e.adapter.view.Load().directory.operations[l.Name]
		if o == nil {
			return nil, e.shown(failure("NOT_FOUND_OPERATION", "Operation '"+l.Name+"' is switched off"))
		}
		q, invalid := e.adapter.requestOf(ctx, o, r.Params())
		if invalid != nil {
			return nil, e.shown(invalid.WithDetail("hint", "The operation has changed since the execution was started"))
		}
		run := &Run{run: r, turns: &e.adapter.runner.turns, observed: e.observedSteps(l, r)}
		if l.Lifecycle.Asks {
			run.asking = &questions{e, l.Name, q, by}
		}
		result, err := e.charged(ctx, l, q, run)
		if err != nil {
			return nil, e.failed(ctx, l, q, r, err)
		}
		if l.encoder == nil {
			return nil, nil
		}
		w := wire.NewWriter(nil)
		w.SetLimit(largestResult)
		w.SetMaxDepth(e.adapter.options.Limits.NestingDepth - levelsAboveResult)
		l.encoder.Write(w, result, nil)
		if err := w.Err(); err != nil {
			return nil, e.failed(ctx, l, q, r, fmt.Errorf("encoding the result: %w", err))
		}
		if w.ExceedsLimit() {
			return nil, e.shown(tooLarge("result_size", largestResult, w.Len(), "bytes"))
		}
		return w.Bytes(), nil
	}
}

const (
	// largestResult is how many bytes the result of an execution may have.
	largestResult = mib
	// levelsAboveResult is how many levels of an answer are around a result: in a batch, those of the answer, the list of
	// results, an item, its answer and the execution.
	levelsAboveResult = 5
)

// charged calls the handler, charges the caller for what it reports to have used, and keeps its warnings.
func (e *executions) charged(ctx context.Context, l *longRunning, q *request, r *Run) (any, error) {
	u, given := new(usage), new(warnings)
	result, err := e.call(context.WithValue(context.WithValue(ctx, usageKey{}, u), warningsKey{}, given), l, q, r)
	r.run.Warn(e.kept(ctx, l.Name, given))
	u.mutex.Lock()
	used := u.used
	u.mutex.Unlock()
	e.adapter.view.Load().gate.Charge(ctx, q.operation.gate, CallerOf(ctx), used)
	return result, err
}

// call calls the handler. Its panic is an error.
func (e *executions) call(ctx context.Context, l *longRunning, q *request, r *Run) (result any, err error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		} else if !returned {
			err = errGoexit
		}
	}()
	result, err = e.intercepted(ctx, l, q, r)
	returned = true
	return result, err
}

// intercepted calls the handler inside the interceptors.
func (e *executions) intercepted(ctx context.Context, l *longRunning, q *request, r *Run) (any, error) {
	handler := func(ctx context.Context) (any, error) {
		receivers, err := l.ReceiversOf(ctx)
		if err != nil {
			return nil, err
		}
		return l.run(ctx, receivers, q.slots.handled.request, r)
	}
	if e.adapter.options.Intercept == nil {
		return handler(ctx)
	}
	i := &interception{
		bound: q.slots.handled.bound, attempt: handler,
		Invocation: Invocation{
			Operation: &l.Operation, Caller: CallerOf(ctx), Request: q.slots.handled.request,
			Attempt: r.Attempt(), Execution: r.ID(),
		},
	}
	return i.carryThrough(ctx, l.Result())
}

// failed is the failure of an attempt whose handler returned an error. What that means is of no interest where the
// attempt was to end.
func (e *executions) failed(
	ctx context.Context, l *longRunning, q *request, r *execution.Run, err error,
) *execution.Failure {
	if stopped := r.Stopped(); stopped != nil {
		return &execution.Failure{Code: "INTERNAL_ERROR", Message: "Internal error: 'interrupted'"}
	}
	o := e.adapter.view.Load().directory.operations[l.Name]
	report := reporter{
		log: e.adapter.log, operation: l.Name, session: r.ID(), definition: o, request: q,
		levels:      e.adapter.options.Limits.NestingDepth - levelsAboveDetail - 1,
		legacyCodes: e.adapter.options.LegacyErrorCodes,
	}
	judged := (&run{operation: &l.Operation, mapError: e.adapter.options.MapError}).judge(ctx, err)
	failed := e.shown(report.handlerFailure(ctx, judged, ctx.Err()))
	failed.Final = failed.Final || errors.Is(err, gate.ErrNoInbox) || errors.Is(err, errNoAsks)
	return failed
}

// shown returns a failure as the execution has it. Another attempt is of no use where the request is at fault.
func (e *executions) shown(f *Error) *execution.Failure {
	failed := &execution.Failure{Code: string(f.Code), Message: f.Message}
	if details, err := detailsJSON(f.details); err == nil && len(f.details) > 0 {
		failed.Details = json.RawMessage(details)
	}
	for _, prefix := range []string{"VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFLICT_", "TOKEN_"} {
		failed.Final = failed.Final || strings.HasPrefix(failed.Code, prefix)
	}
	return failed
}

// requestOf makes a request of parameters that no message has: those of an execution, or of a relation.
func (a *Adapter) requestOf(ctx context.Context, o *operation, params []byte) (*request, *Error) {
	q := &request{operation: o}
	d := decoder{limits: a.options.Limits, legacyCodes: a.options.LegacyErrorCodes}
	r := &d.reader
	r.Reset(string(params), d.limits.wire())
	d.begin(q)
	d.readParams(r, q)
	q.call.complete(ctx, r)
	d.problems = r.TakeProblems(d.problems)
	if fault := r.Fault(); fault != nil {
		return nil, faultFailure(fault, d.limits, o)
	}
	if len(d.problems) > 0 || len(d.unknown) > 0 {
		return nil, (&invalid{o, d.problems, d.unknown, d.legacyCodes, false, false}).failure()
	}
	return q, nil
}

// shownProgress returns a message of progress as agents may see it.
func shownProgress(message string) string {
	message = words.Clip(message, longestProgress)
	if _, part := words.Leak(message); part != "" {
		return ""
	}
	return message
}
