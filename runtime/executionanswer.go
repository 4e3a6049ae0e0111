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
)

// executionRequest is a request to get_execution, cancel_execution or retry_execution.
type executionRequest struct {
	ID     string
	Wait   int
	After  string
	Reason string
}

// executionsRequest is a request to list_executions.
type executionsRequest struct {
	Status, Operation string
	First             int
	After             string
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

type executionList struct {
	Items []executionAnswer
	Page  executionPage
}

type executionPage struct {
	Next bool
	End  string
}

// pollAfter is after how many milliseconds it is worth to look at an execution again.
const pollAfter = 1000

// start starts an execution.
func (e *executions) start(ctx context.Context, l *longRunning) (any, error) {
	v, ok := ctx.Value(executionKey{}).(*executionVisit)
	if !ok {
		return nil, errNoExecutionRequest
	}
	who := CallerOf(ctx)
	caller, err := json.Marshal(who)
	if err != nil {
		return nil, fmt.Errorf("keeping the caller of an execution: %w", err)
	}
	r, err := e.engine.Start(ctx, execution.Start{
		Operation: l.Name, CallerKey: who.Key(), Caller: caller, Params: v.params, Session: v.session, Once: v.once,
	})
	if err != nil {
		return nil, e.failure(err, "")
	}
	return e.answer(r)
}

func (e *executions) get(ctx context.Context, _ *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx).Key()
	r, err := e.engine.Get(ctx, caller, q.ID)
	if err != nil || q.Wait <= 0 || !e.mayWait() {
		return r, err
	}
	if q.After != "" && q.After != versionText(r) {
		return r, nil
	}
	return e.engine.Wait(ctx, caller, q.ID, r.Version(), time.Duration(q.Wait)*time.Millisecond)
}

// mayWait reports whether a request may wait without anything else waiting for it.
func (e *executions) mayWait() bool {
	c := e.adapter.options.Concurrency
	return c != Serialized && c != ReadConcurrent
}

func (e *executions) cancel(ctx context.Context, _ *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx).Key()
	r, err := e.engine.Cancel(ctx, caller, q.ID, strings.Clone(q.Reason))
	if err != nil || r.State.Terminal() || !e.mayWait() {
		return r, err
	}
	// Most handlers end at once. What has become of the execution is of more use than that it is to end.
	ended, err := e.engine.Wait(ctx, caller, q.ID, r.Version(), cancelWait)
	if err != nil {
		return r, nil //nolint:nilerr // it is to end, which is an answer
	}
	return ended, nil
}

// cancelWait is how long the answer to cancel_execution waits for the end.
const cancelWait = time.Second

// retry starts an execution again. The gate judges that as it does a start with the same parameters.
func (e *executions) retry(ctx context.Context, v *executionVisit, q *executionRequest) (*execution.Record, error) {
	caller := CallerOf(ctx)
	r, err := e.engine.Get(ctx, caller.Key(), q.ID)
	if err != nil {
		return nil, err
	}
	o := v.operations[r.Operation]
	if o == nil {
		return nil, Denied("operation '" + r.Operation + "' is not available")
	}
	if r.State == execution.Failed && !o.gate.Ungated() {
		params, err := e.engine.Params(r)
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
		if refused != nil && (refused.Reason != gate.ConfirmationNeeded || !v.confirmed) {
			v.gate.Refuse(ctx, asked, refused)
			return nil, retryRefused(refused, o.definition.Name)
		}
	}
	return e.engine.Retry(ctx, caller.Key(), q.ID)
}

// retryRefused is the failure of a request that may not start an execution again.
func retryRefused(refused *gate.Refusal, operation string) error {
	if refused.Reason == gate.Unavailable {
		return refused.Err
	}
	why := "operation '" + operation + "' is not allowed any more"
	if refused.Reason == gate.ConfirmationNeeded {
		why = "operation '" + operation + "' asks for a confirmation; start it anew"
	}
	return Denied(why).WithDetail("operation", operation)
}

func (e *executions) list(ctx context.Context, _ []any, request any) (any, error) {
	q := request.(*executionsRequest)
	page, err := e.engine.List(ctx, execution.Query{
		CallerKey: CallerOf(ctx).Key(), State: execution.State(q.Status), Operation: q.Operation, First: q.First,
		After: q.After,
	})
	if err != nil {
		return nil, e.failure(err, "")
	}
	list := &executionList{Items: []executionAnswer{}, Page: executionPage{Next: page.More}}
	if page.More {
		list.Page.End = page.End
	}
	for _, r := range page.Records {
		list.Items = append(list.Items, *withoutResult(r))
	}
	return list, nil
}

// answer returns an execution as agents see it.
func (e *executions) answer(r *execution.Record) (*executionAnswer, error) {
	a := withoutResult(r)
	if r.State != execution.Completed {
		return a, nil
	}
	result, err := e.engine.Result(r)
	a.Result = result
	return a, err
}

func withoutResult(r *execution.Record) *executionAnswer {
	a := &executionAnswer{
		ID: r.ID, Operation: r.Operation, Status: string(r.State), Attempt: r.Attempt, Reason: r.Reason,
		CancelRequested: r.Cancel && !r.State.Terminal(), Version: versionText(r),
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
	}
	if !r.State.Terminal() {
		a.PollAfter = pollAfter
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
		return illegalTransition(illegal)
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
func illegalTransition(illegal *execution.StateError) *Error {
	r := illegal.Record
	what, from := "cancelled", []string{"pending", "running", "retrying"}
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
