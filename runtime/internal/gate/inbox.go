package gate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/policy"
)

// bindingKey is where the store holds the secret with which the bindings of items are made, if the adapter has no state
// key.
const bindingKey = "key/approve"

// byInbox reports whether a person decides about the confirmation in the inbox. A client that can ask its user does
// that instead, unless the policy says who must approve, or the client can refer its user to the inbox.
func (a *admission) byInbox() bool {
	return a.confirm && a.gate.inbox != nil && a.bindable() &&
		(a.named() || a.Operation.personal() && !a.asksUser() || a.refers())
}

// refers reports whether the user of the client is referred to the inbox, for a request that has no token.
func (a *admission) refers() bool {
	return a.CanRefer && a.Sealed == "" && a.presented.Token == "" && !a.presented.Conflict
}

// named reports whether the policy says who must approve the call, or a person must whatever the policy says.
func (a *admission) named() bool { return len(a.decision.Approvers) > 0 || a.Operation.person > 0 }

// personal reports whether no token confirms the call.
func (a *admission) personal() bool { return a.Operation.personal() || a.named() }

// asksUser reports whether the user of the client is asked, or was.
func (a *admission) asksUser() bool { return a.CanAsk || a.Sealed != "" }

// mayBeDenied reports whether people may have denied the request in the inbox, even if it does not wait there now: the
// caller may have come with another client, or another policy, before.
func (a *admission) mayBeDenied() bool { return a.gate.inbox != nil && a.bindable() }

// bindable reports whether an approval can be bound to the caller. Anonymous callers without a connection are not told
// apart.
func (a *admission) bindable() bool { return !a.Caller.Anonymous() || !a.Session.shared }

// itemBindings returns what an item is bound to for a request: first what a new one is, and then what those may be that
// were opened with other state keys.
func (a *admission) itemBindings(ctx context.Context, b Binding) ([]approve.Binding, error) {
	if a.Caller.Anonymous() {
		b.Session = a.Session.ID
	}
	text := make([]byte, 0, 256)
	for _, part := range []string{string(b.Kind), b.Adapter, b.Caller, b.Session, b.Operation} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = append(text, b.Params[:]...)
	keys := a.gate.keys
	if keys == nil {
		secret, err := a.gate.secret(ctx, bindingKey)
		if err != nil {
			return nil, err
		}
		keys = keyring{{mac: secret}}
	}
	return keys.bindings(text), nil
}

// bindings returns a keyed digest of a text for each key.
func (r keyring) bindings(text []byte) []approve.Binding {
	bindings := make([]approve.Binding, len(r))
	for i, k := range r {
		mac := hmac.New(sha256.New, k.mac)
		mac.Write(text)
		bindings[i] = approve.Binding(mac.Sum(nil))
	}
	return bindings
}

// waiting is an item of the inbox, and the question that it is about.
type waiting struct {
	item    approve.Item
	binding approve.Binding
	kind    approve.Kind
}

// find looks up what became of a question. A denial refuses the request.
func (a *admission) find(ctx context.Context, kind approve.Kind, b Binding) (*waiting, *Refusal) {
	var bindings []approve.Binding
	var err error
	if a.now, err = a.gate.latest(ctx, a.now); err == nil {
		bindings, err = a.itemBindings(ctx, b)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	var waits *waiting
	for _, binding := range bindings {
		w := &waiting{kind: kind, binding: binding}
		if w.item, err = a.gate.inbox.Find(ctx, a.terms(w)); err != nil {
			return nil, unavailable(err)
		}
		state := w.item.StateAt(a.now)
		if w.item.ID != "" && state == approve.Denied {
			return nil, &Refusal{Reason: Declined, Item: &w.item}
		}
		if waits == nil || !waits.counts(a.now) && w.counts(a.now) {
			waits = w
		}
	}
	return waits, nil
}

// counts reports whether the item waits, or its approval does to be used.
func (w *waiting) counts(now time.Time) bool {
	return w.item.ID != "" && w.item.StateAt(now) == approve.Open || w.approved(now)
}

// approved reports whether the item is approved at a time.
func (w *waiting) approved(now time.Time) bool {
	return w != nil && w.item.ID != "" && w.item.StateAt(now) == approve.Approved
}

// ask adds the open item to a refusal, and opens one if there is none.
func (a *admission) ask(ctx context.Context, w *waiting, refusal *Refusal) *Refusal {
	if w.item.ID == "" || w.item.StateAt(a.now) != approve.Open {
		if !a.Session.mayIssue(a.now) || !a.gate.allowances.mayIssue(a.Caller.Key(), a.now) {
			return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
		}
		var err error
		w.item, refusal.Opened, err = a.gate.inbox.Ask(ctx, a.question(w, refusal))
		var many *approve.TooManyError
		switch {
		case errors.As(err, &many):
			return &Refusal{Reason: TooManyWait, Wait: max(many.Until.Sub(a.now).Truncate(time.Second), 0) + time.Second}
		case errors.Is(err, approve.ErrTooMany):
			return &Refusal{Reason: TooManyWait, Wait: time.Minute}
		case err != nil:
			return unavailable(err)
		}
	}
	refusal.Item = &w.item
	return refusal
}

// question is what a person is asked about the request that is refused.
func (a *admission) question(w *waiting, refusal *Refusal) approve.Question {
	definition := a.Operation.definition
	q := a.terms(w)
	q.Adapter, q.Operation, q.At = a.gate.adapter, definition.Name, a.now
	if w.kind == approve.Continuation {
		q.Danger, q.Message = definition.Danger, Continue(refusal.Block, a.Caller)
		return q
	}
	message, params := a.Params.Asked()
	q.Message, q.Params = message, string(params)
	return q
}

// terms are the parts of a question that say when an item is the one about it: see approve.Inbox.Find.
func (a *admission) terms(w *waiting) approve.Question {
	q := approve.Question{Binding: w.binding, Kind: w.kind, Caller: a.Caller, Lifetime: a.lifetime()}
	if a.Caller.Anonymous() {
		q.Session = a.Session.ID
	}
	if w.kind == approve.Continuation { // which is of all operations
		q.Lifetime = a.gate.options.Confirmation.Lifetime
		return q
	}
	q.Danger, q.Reasons = a.Operation.definition.Danger, a.Operation.definition.Reasons
	if rule := a.decision.Rule; rule != nil {
		addRule(&q, rule)
	}
	q.Typing = a.typing()
	q.Cooldown = a.cooldown()
	if within := addApprovers(&q, &a.decision, a.Operation.person); within > 0 {
		q.Lifetime = within
	}
	q.Needs.Reauthenticate = a.reauthenticates()
	giveTime(&q)
	return q
}

// addApprovers adds to a question who must approve by the policy, and returns how long these have, if that is less than
// within; zero: as long as anybody.
func addApprovers(q *approve.Question, d *policy.Decision, within time.Duration) time.Duration {
	for _, needed := range d.Approvers {
		q.Needs.Factors = append(q.Needs.Factors, approve.Factor{Count: max(needed.Count, 1), Groups: needed.Groups})
		q.Needs.NotRequester = q.Needs.NotRequester || needed.NotRequester
		q.Needs.Reason = q.Needs.Reason || needed.ReasonRequired
		if needed.Within > 0 && (within == 0 || needed.Within < within) {
			within = needed.Within
		}
	}
	return within
}

// giveTime makes a question last longer than its cooldown, which another rule may demand: else nobody could approve.
func giveTime(q *approve.Question) {
	if q.Cooldown >= q.Lifetime {
		q.Lifetime += q.Cooldown
	}
}

// addRule adds to a question the rule of the policy that demands it.
func addRule(q *approve.Question, rule *policy.Rule) {
	q.Rule = rule.Name
	if rule.Reason != "" {
		q.Reasons = append(q.Reasons[:len(q.Reasons):len(q.Reasons)], rule.Reason)
	}
}

// confirmByInbox admits the request if its item is approved, and uses that up. Who has approved has authenticated anew
// where that is demanded, since the item needs it. The caller confirms nothing here.
func (a *admission) confirmByInbox(ctx context.Context, w *waiting) *Refusal {
	if !w.approved(a.now) {
		return a.ask(ctx, w, &Refusal{Reason: ConfirmationNeeded, Rule: a.decision.Rule})
	}
	used, refusal := a.use(ctx, w)
	if refusal != nil {
		return refusal
	}
	if !used {
		return a.askAnew(ctx, w, a.binding(ConfirmationToken),
			&Refusal{Reason: ConfirmationNeeded, Rule: a.decision.Rule})
	}
	a.pass.Confirmed, a.confirmedByInbox = true, true
	return nil
}

// use uses up an approval. It returns false if another request was faster.
func (a *admission) use(ctx context.Context, w *waiting) (bool, *Refusal) {
	err := a.gate.inbox.Use(ctx, w.item, a.now)
	switch {
	case errors.Is(err, approve.ErrNotApproved):
		return false, nil
	case err != nil:
		a.spent = true // or it may be
		return false, unavailable(err)
	}
	a.spent = a.spent || w.kind == approve.Confirmation
	a.approvals = append(a.approvals, &w.item)
	return true, nil
}

// askAnew asks once more, for a request whose approval another one has used up.
func (a *admission) askAnew(ctx context.Context, w *waiting, b Binding, refused *Refusal) *Refusal {
	now, refusal := a.find(ctx, w.kind, b)
	if refusal != nil {
		return refusal
	}
	return a.ask(ctx, now, refused)
}
