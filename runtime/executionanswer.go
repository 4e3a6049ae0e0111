package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/quota"
)

// executionRequest is a request to get_execution, cancel_execution, retry_execution or answer_execution.
type executionRequest struct {
	ID     string
	Wait   int
	After  string
	Reason string
	Name   string
	Value  json.RawMessage
}

// executionAnswer is an execution in an answer (MCP-AQL core §8.4.3). The names of the fields on the wire are those of
// gen.ExecutionTypes.
type executionAnswer struct {
	ID, Operation, Status string
	StartedAt, FinishedAt *time.Time
	Progress              *executionProgress
	Result                json.RawMessage
	Error                 *executionError
	Attempt               int
	CancelRequested       bool
	Reason                string
	Version               string
	PollAfter             int
	WaitsFor              *executionWait
}

type executionProgress struct {
	Percentage     *float64
	Current, Total *int
	Message        string
}

type executionError struct {
	Code, Message string
	Details       json.RawMessage
}

// executionPollAfter is after how many milliseconds it is worth to look at an execution again.
const executionPollAfter = 1000

// start starts an execution.
func (e *executions) start(ctx context.Context, l *longRunning) (any, error) {
	v, ok := ctx.Value(executionKey{}).(*executionVisit)
	if !ok {
		return nil, errNoExecutionRequest
	}
	who := CallerOf(ctx)
	caller, err := json.Marshal(starter{who, v.connection(who)})
	if err != nil {
		return nil, fmt.Errorf("keeping the caller of an execution: %w", err)
	}
	var r *execution.Record
	if v.found != nil { // the gate has admitted nothing else: not another execution, if this one is forgotten meanwhile
		r, _ = v.found.record.(*execution.Record)
		err = v.found.err
	} else {
		r, err = e.engine.Start(ctx, execution.Start{
			Operation: l.Name, CallerKey: who.Key(), Caller: caller, Params: v.params, Session: v.session, Once: v.once,
			Canonical: v.canonical, Origin: e.origin(ctx),
		})
	}
	if err != nil {
		return nil, e.failure(err, "")
	}
	r = e.follow(ctx, v, r)
	e.tell(v, r, true)
	return e.answer(ctx, r)
}

func (e *executions) get(ctx context.Context, v *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx).Key()
	r, err := e.engine.Get(ctx, caller, q.ID)
	wait := e.wait(ctx, v, time.Duration(q.Wait)*time.Millisecond)
	if err != nil || wait <= 0 {
		return r, err
	}
	if q.After != "" && q.After != versionText(r) {
		return r, nil
	}
	return e.engine.Follow(ctx, execution.Follow{
		CallerKey: caller, ID: q.ID, Version: r.Version(), Most: wait, Pause: pauseOf(ctx),
	})
}

// wait returns for how much of a time a request may wait: not at all where others would wait for it, and no longer than
// leaves the time for an answer.
func (e *executions) wait(ctx context.Context, v *executionVisit, most time.Duration) time.Duration {
	if c := e.adapter.options.Concurrency; v.batch || c == Serialized || c == ReadConcurrent {
		return 0
	}
	if deadline, ok := ctx.Deadline(); ok {
		return min(most, time.Until(deadline)-answerTime)
	}
	return most
}

// answerTime is what a request that waits leaves of its time for its answer.
const answerTime = time.Second

func (e *executions) cancel(ctx context.Context, v *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx).Key()
	r, err := e.engine.Cancel(ctx, caller, q.ID, strings.Clone(q.Reason))
	wait := e.wait(ctx, v, cancelWait)
	if err != nil || r.State.Terminal() || wait <= 0 {
		return r, err
	}
	// Most handlers end at once. What has become of the execution is of more use than that it is to end.
	ended, err := e.engine.Wait(ctx, caller, q.ID, r.Version(), wait)
	if err != nil {
		return r, nil //nolint:nilerr // it is to end, which is an answer
	}
	return ended, nil
}

// cancelWait is how long the answer to cancel_execution waits for the end.
const cancelWait = time.Second

// retry starts an execution again. The gate judges and counts that as it does a start with the same parameters.
func (e *executions) retry(ctx context.Context, v *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx)
	r, err := e.engine.Get(ctx, caller.Key(), q.ID)
	if err != nil {
		return nil, err
	}
	o := v.operations[r.Operation]
	if o == nil {
		return nil, Denied("operation \"" + r.Operation + "\" is not available")
	}
	if !e.engine.CanRetry(r) {
		return nil, &execution.StateError{Record: r, Retry: true}
	}
	if o.gate.Ungated() {
		return e.engine.Retry(ctx, caller.Key(), q.ID)
	}
	params, err := e.engine.Params(ctx, r)
	if err != nil {
		return nil, err
	}
	again, invalid := e.adapter.requestOf(ctx, o, params)
	if invalid != nil {
		return nil, invalid.WithDetail("hint", "The operation has changed since the execution was started")
	}
	asked := &gate.Request{
		Operation: o.gate, Caller: caller, Session: v.gated, RequestID: v.label, Endpoint: o.family, Params: again,
	}
	refused := v.gate.Judge(asked)
	if refused != nil {
		byItself := refused.Named || o.definition.TypeToConfirm != "" // which nobody has done for this request
		if refused.Reason != gate.ConfirmationNeeded || byItself || !v.grounds.Cover(v.gate.Grounds(asked)) {
			v.gate.Refuse(ctx, asked, refused)
			return nil, e.retryRefused(refused, again)
		}
	}
	pass, refused := v.gate.Count(ctx, asked)
	if refused != nil {
		return nil, e.retryRefused(refused, again)
	}
	for i := range pass.Warnings {
		Warn(ctx, quotaWarning(&pass.Warnings[i]))
	}
	r, err = e.engine.Retry(ctx, caller.Key(), q.ID)
	code := ""
	if failed := (*Error)(nil); err != nil && errors.As(e.failure(err, q.ID), &failed) {
		code = string(failed.Code)
	} else if err != nil {
		code = "INTERNAL_ERROR"
	}
	v.gate.Finish(ctx, asked, &pass, quota.Usage{}, code) // attempts are charged for what they use
	return r, err
}

// retryRefused is the failure of a request that may not start an execution again.
func (e *executions) retryRefused(refused *gate.Refusal, q *request) error {
	operation := q.operation.definition.Name
	var f *Error
	switch refused.Reason {
	case gate.Unavailable:
		return refused.Err
	case gate.ConfirmationNeeded:
		f = Denied("operation \"" + operation + "\" asks for a confirmation; start it anew" + e.anotherKey(q))
	case gate.DeniedByPolicy, gate.DeniedByTrust:
		f = Denied("operation \"" + operation + "\" is not allowed any more")
	case gate.QuotaPaused:
		f = failure("RATE_LIMIT_QUOTA_PAUSE", "Quota pause threshold reached", quotaDetails(refused.Block, true)...)
	default:
		f, _ = (&refusal{Refusal: refused, request: q, now: refused.At, inBatch: true}).explain()
	}
	return f.WithDetail("operation", operation)
}

// anotherKey says how an execution is started anew that its key would find; empty: it has none.
func (e *executions) anotherKey(q *request) string {
	l := e.operations[q.operation.definition.Name]
	if l == nil || l.Lifecycle.Once == "" || textOfJSON(q.Value(l.Lifecycle.Once)) == "" {
		return ""
	}
	return " with another \"" + l.Lifecycle.Once + "\", since this one finds the execution that has failed"
}

// answer returns an execution as agents see it.
func (e *executions) answer(ctx context.Context, r *execution.Record) (*executionAnswer, error) {
	a := withoutResult(r)
	if r.State.Terminal() {
		warnAgain(ctx, r.Warnings)
	}
	if r.State != execution.Completed {
		return a, nil
	}
	result, err := e.engine.Result(ctx, r)
	a.Result = result
	return a, err
}

func withoutResult(r *execution.Record) *executionAnswer {
	a := &executionAnswer{
		ID: r.ID, Operation: r.Operation, Status: string(r.State), Attempt: r.Attempt, Reason: r.Reason,
		CancelRequested: r.Cancel && !r.State.Terminal(), Version: versionText(r), WaitsFor: waitsFor(r),
	}
	if !r.Started.IsZero() {
		a.StartedAt = &r.Started
	}
	if !r.Finished.IsZero() {
		a.FinishedAt = &r.Finished
	}
	if p := r.Progress; p != nil {
		a.Progress = &executionProgress{p.Percentage, p.Current, p.Total, p.Message}
	}
	if f := r.Failure; f != nil {
		a.Error = &executionError{f.Code, f.Message, f.Details}
	} else if r.State == execution.Failed { // a failed execution says why (MCP-AQL core §8.4.3)
		a.Error = &executionError{Code: "INTERNAL_ERROR", Message: "Internal error: 'the failure cannot be read'"}
	}
	if !r.State.Terminal() {
		a.PollAfter = executionPollAfter
	}
	return a
}

func versionText(r *execution.Record) string { return strconv.FormatUint(r.Version(), 10) }

// failure is what an agent learns of an error about the execution with an id.
func (e *executions) failure(err error, id string) error {
	var illegal *execution.StateError
	var once *execution.OnceError
	switch {
	case errors.Is(err, execution.ErrNotFound):
		return NotFound("execution", strings.Clone(id))
	case errors.As(err, &illegal):
		l := e.operations[illegal.Record.Operation]
		return illegalTransition(illegal, l != nil && l.Lifecycle.Asks)
	case errors.As(err, &once):
		return failure(CodeAlreadyExists,
			"The key belongs to execution '"+once.ID+"', which was started with other parameters; use another key",
			detail{"execution_id", once.ID})
	case errors.Is(err, execution.ErrTooMany):
		return RateLimited(time.Minute).WithDetail("hint", "Too many executions are under way; wait until some have ended")
	case errors.Is(err, execution.ErrNotWorking):
		return fmt.Errorf("starting an execution: %w; call Adapter.Work, as serve.Main does", err)
	default:
		return err
	}
}

// illegalTransition is the failure of what the state of an execution does not allow (MCP-AQL core §8.4.2).
// asks says that it may pause.
func illegalTransition(illegal *execution.StateError, asks bool) *Error {
	r := illegal.Record
	if illegal.Answer {
		return notWaiting(r)
	}
	what, from := "cancelled", []string{"pending", "running", "retrying"}
	if asks {
		from = append(from, "paused")
	}
	if illegal.Retry {
		what, from = "started again", []string{"failed"}
	}
	f := failure(CodeInvalidState, "Execution '"+r.ID+"' is '"+string(r.State)+"' and cannot be "+what,
		detail{"execution_id", r.ID}, detail{"status", string(r.State)}, detail{"allowed_from", from})
	if illegal.Retry && r.State == execution.Failed {
		f.details = append(f.details, detail{"hint", "It was started again as often as its operation allows"})
	}
	return f
}
