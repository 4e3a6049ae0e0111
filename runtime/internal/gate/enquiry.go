package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Enquiry is what an execution asks a person before it goes on. No request of an agent is an answer to it.
type Enquiry struct {
	Operation *Operation
	Caller    identity.Caller
	Session   string // the connection of an anonymous caller; see Session.Connection
	Execution string
	Name      string // of the question in the execution
	Danger    gen.Danger
	Message   string
	Reasons   []string
	Params    Params
	Lifetime  time.Duration // how long people have, unless the policy gives them less
}

// ErrNoInbox says that there is nothing where people could decide.
var ErrNoInbox = errors.New("the adapter has no inbox (serve.Options.Operator, or Confirmation.Inbox), or its state " +
	"is in memory")

// DeniedError is the error of a question about a call that the policy denies by now: nobody says who must answer it.
type DeniedError struct{ Refusal *Refusal }

func (e *DeniedError) Error() string { return "the policy denies the operation" }

// Enquire asks a person, unless that was done, and returns the item of the question. It fails with a *DeniedError where
// the policy denies the call.
func (g *Gate) Enquire(ctx context.Context, q *Enquiry) (approve.Item, error) {
	if g.inbox == nil {
		return approve.Item{}, ErrNoInbox
	}
	now, err := g.latest(ctx, g.clock.Now())
	if err != nil {
		return approve.Item{}, err
	}
	asked := q.question()
	asked.Adapter, asked.Operation, asked.At = g.adapter, q.Operation.definition.Name, now
	asked.Danger, asked.Message, asked.Reasons = q.Danger, q.Message, q.Reasons
	_, params := q.Params.Asked()
	asked.Params = string(params)
	asked.Needs.Reauthenticate = g.reauthenticatesFrom(q.Danger)
	if refusal := q.heedPolicy(&asked); refusal != nil {
		refusal.At = now
		g.Refuse(ctx, q.request(), refusal)
		return approve.Item{}, &DeniedError{refusal}
	}
	known, err := g.find(ctx, q)
	if err != nil {
		return known.item, err
	}
	asked.Binding = known.binding
	item, opened, err := g.inbox.Ask(ctx, asked)
	if err != nil || !opened {
		return item, err
	}
	g.note(ctx, q, audit.ApprovalRequested, item.ID, "")
	return item, nil
}

// Decision returns the item of a question, and whether somebody has decided about it or nobody can any more: then the
// execution may go on with that. An approval is used up, so that it cannot be taken back.
func (g *Gate) Decision(ctx context.Context, q *Enquiry) (item approve.Item, decided bool, err error) {
	if g.inbox == nil {
		return item, false, ErrNoInbox
	}
	now, err := g.latest(ctx, g.clock.Now())
	if err != nil {
		return item, false, err
	}
	for ctx.Err() == nil {
		known, err := g.find(ctx, q)
		if err != nil {
			return item, false, err
		}
		if item = known.item; item.ID == "" {
			return item, true, nil
		}
		switch item.StateAt(now) {
		case approve.Open:
			return item, false, nil
		case approve.Approved:
			err = g.inbox.Use(ctx, item, now)
			if errors.Is(err, approve.ErrNotApproved) { // another process has, or a person has denied it after all
				continue
			}
			if err != nil {
				return item, false, err
			}
			g.note(ctx, q, audit.ApprovalUsed, item.ID, "approved by "+approvers(&item))
			item.State = approve.Used
		}
		return item, true, nil
	}
	return item, false, fmt.Errorf("looking up a decision: %w", ctx.Err())
}

// find looks up the item of an enquiry. Where there is none, the binding is that of a new one.
func (g *Gate) find(ctx context.Context, q *Enquiry) (*waiting, error) {
	text := fmt.Appendf(nil, "execution %d:%s%d:%s", len(q.Execution), q.Execution, len(q.Name), q.Name)
	bindings := g.keys.bindings(text)
	if g.keys == nil { // whoever has the state reads the question
		bindings = []approve.Binding{sha256.Sum256(text)}
	}
	asked := q.question()
	for _, binding := range bindings {
		asked.Binding = binding
		item, err := g.inbox.Find(ctx, asked)
		if err != nil || item.ID != "" {
			return &waiting{item: item, binding: binding}, err
		}
	}
	return &waiting{binding: bindings[0]}, nil
}

// Withdraw removes what an execution has asked before it ended, unless it has taken the decision.
func (g *Gate) Withdraw(ctx context.Context, q *Enquiry, ended time.Time) error {
	if g.inbox == nil {
		return nil
	}
	asked := q.question()
	asked.At = ended
	return g.inbox.Withdraw(ctx, asked)
}

// question says which item is that of the enquiry.
func (q *Enquiry) question() approve.Question {
	return approve.Question{
		Kind: approve.Enquiry, Caller: q.Caller, Session: q.Session,
		Execution: q.Execution, Lifetime: q.Lifetime,
	}
}

// heedPolicy has those people decide, and in the time, whom the policy demands for calls of the operation with the
// parameters of the execution. It refuses the question where the policy denies these.
func (q *Enquiry) heedPolicy(asked *approve.Question) *Refusal {
	if q.Operation.rules == nil {
		return nil
	}
	decision := q.Operation.rules.Decide(policy.Request{Caller: q.Caller, Value: q.Params.Seen})
	switch {
	case decision.Effect == policy.Deny:
		return &Refusal{Reason: DeniedByPolicy, Rule: decision.Rule}
	case decision.Effect != policy.Confirm:
		return nil
	}
	if within := addApprovers(asked, &decision, 0); within > 0 {
		asked.Lifetime = min(asked.Lifetime, within)
	}
	if len(decision.Approvers) > 0 && decision.Rule != nil {
		addRule(asked, decision.Rule)
	}
	asked.Needs.Reauthenticate = asked.Needs.Reauthenticate || decision.Reauthenticate
	asked.Cooldown = decision.Cooldown
	giveTime(asked)
	return nil
}

// request is the request of which the records of the enquiry are.
func (q *Enquiry) request() *Request {
	return &Request{Operation: q.Operation, Caller: q.Caller, Session: &Session{ID: q.Execution}, Params: q.Params}
}

// note records what has become of an enquiry.
func (g *Gate) note(ctx context.Context, q *Enquiry, event audit.Event, item, reason string) {
	if !g.records(ctx) {
		return
	}
	r := g.record(q.request(), event, audit.Success, reason)
	r.ApprovalID = item
	if err := g.write(context.WithoutCancel(ctx), r); err != nil {
		g.logFailure(ctx, "a question of an execution is not on record", err)
	}
}
