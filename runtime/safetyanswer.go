package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/verify"
)

// The requests of the loop. The names of the fields on the wire are those of gen.LoopOperations.
type (
	agentRequest struct {
		Agent      string
		Goal       string
		Parameters map[string]any
		MaxSteps   *int
	}
	stepRequest struct {
		Agent, ID, Hint, Description string
		Outcome                      string
		Findings                     string
		Risk                         *float64
	}
	completeRequest struct{ Agent, ID, Outcome, Summary string }
	abortRequest    struct{ Agent, ID, Reason string }
	confirmRequest  struct{ Operation, Token string }
	verifyRequest   struct{ Challenge, Code string }
)

// agentDirective is what an agent is told (MCP-AQL core §8.7.1). The names of the fields on the wire are those of
// gen.LoopTypes.
type agentDirective struct {
	ID, Agent     string
	Step          int
	Continue      bool
	Factors       []string
	Stopped       bool
	Reason        string
	Remaining     *int
	Risk          string
	Approval      string
	ApprovalOf    string
	Notifications []agentNotification
}

type agentNotification struct {
	Type, Message string
	Metadata      *agentMetadata
	Timestamp     time.Time
}

type agentMetadata struct{ Operation, Reason, Level, Verification string }

type agentVerification struct {
	Verified  bool
	Agent     string
	Unblocked bool
}

var errNoLoopRequest = errors.New("an operation of the safety loop was called with a context that is not that of its " +
	"request")

// handler returns what carries out an operation of the loop.
func (l *safetyLoop) handler(name string) *gen.Handler {
	h := &gen.Handler{Name: name}
	call := func(do func(ctx context.Context, v *loopVisit, request any) (any, error)) {
		h.Call = func(ctx context.Context, _ []any, request any) (any, error) {
			v, ok := ctx.Value(loopKey{}).(*loopVisit)
			if !ok {
				return nil, errNoLoopRequest
			}
			return do(ctx, v, request)
		}
	}
	switch name {
	case gen.ExecuteAgent:
		h.Request, h.Result = (*agentRequest)(nil), (**agentDirective)(nil)
		call(l.start)
	case gen.RecordExecutionStep:
		h.Request, h.Result = (*stepRequest)(nil), (**agentDirective)(nil)
		call(l.step)
	case gen.CompleteExecution:
		h.Request, h.Result = (*completeRequest)(nil), (**executionAnswer)(nil)
		call(l.complete)
	case gen.AbortExecution:
		h.Request, h.Result = (*abortRequest)(nil), (**executionAnswer)(nil)
		call(l.abort)
	case gen.VerifyChallenge:
		h.Request, h.Result = (*verifyRequest)(nil), (**agentVerification)(nil)
		call(l.verify)
	default:
		h.Request = (*confirmRequest)(nil)
		h.Call = func(context.Context, []any, any) (any, error) { return nil, notByAgents() }
	}
	return h
}

// notByAgents is the failure of confirm_operation: no agent is given what it would need (MCP-AQL core §8.7.3; T-102).
func notByAgents() *Error {
	return Denied("what waits for a person is approved by people, on a channel of theirs; tell the user, and send the " +
		"request that waits again when it is approved")
}

func (l *safetyLoop) start(ctx context.Context, v *loopVisit, request any) (any, error) {
	q := request.(*agentRequest)
	w := who(ctx, v.session, strings.Clone(q.Agent), "")
	var err error
	if w.Encoded, err = json.Marshal(w.Caller); err != nil {
		return nil, fmt.Errorf("keeping the caller of an agent: %w", err)
	}
	most := 0
	if q.MaxSteps != nil {
		most = *q.MaxSteps
	}
	d, err := l.keeper.Start(ctx, w, most, v.approved, v.params)
	return l.answer(ctx, d, err, "")
}

func (l *safetyLoop) step(ctx context.Context, v *loopVisit, request any) (any, error) {
	q := request.(*stepRequest)
	if !loop.Readable(q.Hint) {
		return nil, failure(CodePatternMismatch,
			"Parameter 'next_action_hint' (alias nextActionHint) has nothing that a person could read",
			detail{"param_name", "next_action_hint"})
	}
	r := agents.Report{
		Who:  who(ctx, v.session, strings.Clone(q.Agent), strings.Clone(q.ID)),
		Hint: strings.Clone(q.Hint), Outcome: loop.Outcome(q.Outcome), Risk: q.Risk, Request: v.label,
	}
	d, err := l.keeper.Report(ctx, r)
	return l.answer(ctx, d, err, q.ID)
}

func (l *safetyLoop) complete(ctx context.Context, v *loopVisit, request any) (any, error) {
	q := request.(*completeRequest)
	w := who(ctx, v.session, strings.Clone(q.Agent), strings.Clone(q.ID))
	r, err := l.keeper.Complete(ctx, w, loop.Outcome(q.Outcome), strings.Clone(q.Summary))
	if err != nil {
		return nil, l.failure(err, q.ID)
	}
	return l.executions.answer(ctx, r)
}

func (l *safetyLoop) abort(ctx context.Context, v *loopVisit, request any) (any, error) {
	q := request.(*abortRequest)
	r, err := l.keeper.Abort(ctx, who(ctx, v.session, strings.Clone(q.Agent), strings.Clone(q.ID)), q.Reason)
	if err != nil {
		return nil, l.failure(err, q.ID)
	}
	return l.executions.answer(ctx, r)
}

func (l *safetyLoop) verify(ctx context.Context, v *loopVisit, request any) (any, error) {
	q := request.(*verifyRequest)
	result, err := l.keeper.Verify(ctx, who(ctx, v.session, "", ""), q.Challenge, q.Code)
	if o := l.executions.adapter.observer; o != nil {
		o.Verification(ctx, observe.Verification{Result: verified(err)})
	}
	if err != nil {
		return nil, l.failure(err, "")
	}
	return &agentVerification{Verified: true, Agent: result.Agent, Unblocked: result.Block}, nil
}

// verified is what became of a code.
func verified(err error) observe.VerificationResult {
	if err == nil {
		return observe.Verified
	}
	if _, wrong := errors.AsType[*verify.FailedError](err); wrong {
		return observe.Wrong
	}
	return observe.NotChecked
}

// answer is a directive as agents see it, or why there is none.
func (l *safetyLoop) answer(ctx context.Context, d *agents.Directive, err error, id string) (any, error) {
	if err != nil {
		return nil, l.failure(err, id)
	}
	if o := l.executions.adapter.observer; o != nil {
		o.Directive(ctx, observe.Directive{
			Agent: d.Agent, Execution: d.Execution, Step: d.Step, Tier: string(d.Tier), Continue: d.Continue, Stopped: d.Stopped,
		})
	}
	return directiveOf(d), nil
}

func directiveOf(d *agents.Directive) *agentDirective {
	a := &agentDirective{
		ID: d.Execution, Agent: d.Agent, Step: d.Step, Continue: d.Continue, Factors: d.Factors, Stopped: d.Stopped,
		Reason: d.Reason, Remaining: d.Remaining, Risk: string(d.Tier), Approval: d.Approval,
		ApprovalOf: string(d.ApprovalOf), Notifications: []agentNotification{},
	}
	for _, n := range d.Notifications {
		notification := agentNotification{Type: n.Type, Message: n.Message, Timestamp: n.At}
		if m := (agentMetadata{n.Operation, n.Reason, n.Level, n.Verification}); m != (agentMetadata{}) {
			notification.Metadata = &m
		}
		a.Notifications = append(a.Notifications, notification)
	}
	return a
}

// failure is what an agent learns of an error of the keeper about the execution with an id.
func (l *safetyLoop) failure(err error, id string) error {
	var ended *execution.StateError
	var blocked *agents.BlockedError
	var limit *agents.LimitError
	var failed *verify.FailedError
	var tooMany *verify.TooManyError
	var waiting *approve.TooManyError
	switch {
	case errors.As(err, &blocked):
		return blockedFailure(blocked)
	case errors.As(err, &ended):
		f := illegalTransition(ended, false)
		f.Message = fmt.Sprintf("Execution '%s' is '%s': its agent can do nothing more", ended.Record.ID, ended.Record.State)
		f.template = f.Message
		return f
	case errors.Is(err, agents.ErrNone):
		return failure(CodeInvalidState, "The agent does not run: start it with execute_agent",
			detail{"allowed_from", []string{"running"}})
	case errors.Is(err, agents.ErrUnapproved):
		return failure(CodeInvalidState,
			"No person has approved of the start of the agent, which is needed now: start it anew with execute_agent",
			detail{"allowed_from", []string{"running"}})
	case errors.Is(err, agents.ErrSeveral):
		return failure(CodeMissingParam, "Parameter 'execution_id' is missing: the agent has several executions",
			detail{"param_name", "execution_id"})
	case errors.Is(err, agents.ErrUnlisted):
		return Denied("the agent is none of those that this adapter knows").WithDetail("agents", l.keeper.Listed())
	case errors.Is(err, agents.ErrBusy), errors.Is(err, verify.ErrTooMany):
		return RateLimited(time.Second)
	case errors.As(err, &limit):
		return failure(CodeOutOfRange,
			fmt.Sprintf("Parameter 'max_autonomous_steps' is more than this adapter allows: %d", limit.Most),
			detail{"param_name", "max_autonomous_steps"}, detail{"maximum", limit.Most})
	case errors.As(err, &failed):
		denied := Denied("the verification failed")
		if !failed.Replacement.IsZero() {
			denied = denied.WithDetail("challenge_id", failed.Replacement.String())
		}
		return denied
	case errors.As(err, &tooMany):
		return rateLimitedUntil(l, tooMany.Until)
	case errors.As(err, &waiting):
		f := rateLimitedUntil(l, waiting.Until)
		f.Message, f.template = tooManyWait, tooManyWait
		return f
	}
	return l.executions.failure(err, id)
}

func rateLimitedUntil(l *safetyLoop, until time.Time) *Error {
	wait := until.Sub(l.executions.adapter.options.Now())
	return RateLimited(max(time.Duration(math.Ceil(wait.Seconds()))*time.Second, time.Second))
}

// blockedFailure is the failure of a request of an agent that is blocked (T-69).
func blockedFailure(b *agents.BlockedError) *Error {
	d := b.Directive
	denied := Denied("agent \""+d.Agent+"\" is blocked").WithDetail("element_name", d.Agent)
	if b.Hold.Agent != d.Agent {
		denied = Denied("agent \""+b.Hold.Agent+"\" of the same caller is blocked").
			WithDetail("element_name", b.Hold.Agent)
	}
	denied = denied.WithDetail("challenge_id", b.Hold.Challenge.String())
	return denied.WithDetail("directive", map[string]any{
		"continue": false, "stopped": true, "reason": d.Reason, "factors": d.Factors, "notifications": []any{},
	})
}
