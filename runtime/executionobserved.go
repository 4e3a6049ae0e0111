package aql

import (
	"context"
	"errors"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/observe"
)

// changed returns what tells hooks of executions; nil: there are none.
func (e *executions) changed() func(context.Context, execution.Change) {
	o := e.adapter.observer
	if o == nil {
		return nil
	}
	return func(ctx context.Context, c execution.Change) {
		r := c.Record
		told := observe.StateChange{
			Operation: r.Operation, Execution: r.ID, From: string(c.From), To: string(r.State),
			Attempt: r.Attempt, Lost: c.Lost,
		}
		if r.State.Terminal() {
			told.Ended, told.Took = true, r.Finished.Sub(r.Created)
		}
		o.Execution(ctx, told)
	}
}

// origin is what attempts at an execution that is started are told; empty: nobody observes the adapter.
func (e *executions) origin(ctx context.Context) string {
	if o := e.adapter.observer; o != nil {
		return o.Origin(ctx)
	}
	return ""
}

// attemptFunc makes an attempt at an execution.
type attemptFunc = func(context.Context, *execution.Run) ([]byte, *execution.Failure)

// observed returns an attempt of which hooks are told, if there are some.
func (e *executions) observed(l *longRunning, do attemptFunc) attemptFunc {
	o := e.adapter.observer
	if o == nil {
		return do
	}
	return func(ctx context.Context, r *execution.Run) (result []byte, failed *execution.Failure) {
		ctx, end := o.Attempt(ctx, observe.Attempt{
			Operation: l.Name, Execution: r.ID(), Number: r.Attempt(), TakenOver: r.TakenOver(),
			Origin: r.Origin(),
		})
		failed = &execution.Failure{Code: string(codeInternal)} // if it does not return
		defer func() {
			told := observe.AttemptEnd{Stopped: stoppedFor(r.Stopped())}
			if failed != nil && told.Stopped == "" {
				told.Code = failed.Code
			}
			end(told)
		}()
		result, failed = do(ctx, r)
		return result, failed
	}
}

// stoppedFor is why an attempt was to end; empty: it was not.
func stoppedFor(cause error) string {
	switch {
	case errors.Is(cause, execution.ErrCancelled):
		return "cancelled"
	case errors.Is(cause, execution.ErrPaused):
		return "paused"
	case errors.Is(cause, execution.ErrLost):
		return "lost"
	default:
		return ""
	}
}

// observedSteps returns what makes the steps of an attempt ones of which hooks are told; nil: there are none.
func (e *executions) observedSteps(l *longRunning, r *execution.Run) func(stepFunc) stepFunc {
	o := e.adapter.observer
	if o == nil {
		return nil
	}
	return func(do stepFunc) stepFunc {
		return func(ctx context.Context) (result []byte, err error) {
			ctx, end := o.Step(ctx, observe.Step{Operation: l.Name, Execution: r.ID(), Attempt: r.Attempt()})
			done := false
			defer func() { end(observe.StepEnd{Failed: !done}) }()
			result, err = do(ctx)
			done = err == nil
			return result, err
		}
	}
}
