package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Admit decides on a request. If it admits the request, the call is counted, its token is consumed and the decision is
// recorded before Admit returns; Finish must be called when the operation has run.
func (g *Gate) Admit(ctx context.Context, r *Request) (Pass, *Refusal) {
	if r.Operation.Ungated() {
		return Pass{}, nil
	}
	a := &admission{gate: g, Request: r, now: g.clock.Now()}
	refusal := a.decide()
	if refusal == nil {
		refusal = a.countAndConfirm(ctx)
	}
	if refusal != nil {
		refusal.At, refusal.Spent = a.now, a.spent
		a.recordRefusal(ctx, refusal)
		return Pass{}, refusal
	}
	if err := a.recordPass(ctx); err != nil {
		a.giveBack(ctx)
		refusal = unavailable(err)
		refusal.At, refusal.Spent = a.now, a.spent
		return Pass{}, refusal
	}
	a.pass.Rule = a.decision.Rule
	return a.pass, nil
}

// admission is the decision on one request.
type admission struct {
	*Request
	gate     *Gate
	now      time.Time
	decision policy.Decision
	// presented are the tokens of the request, or the one that a person has approved.
	presented        Presented
	confirm          bool   // the call needs confirmation
	dry              bool   // the call is a dry run, which changes nothing
	light            bool   // and neither the danger level nor a pause holds it up
	finds            string // the execution that the call reads in place of starting one; empty: it starts
	pass             Pass
	approvals        []*approve.Item // that were used up
	confirmedByInbox bool            // the last of them confirmed the call
	consumed         []string        // ids of the tokens that were consumed
	spent            bool            // the same request would find its token used up, or might
}

// IsBusy reports whether a failure of the store or the audit log may be over when the request is made again.
func IsBusy(err error) bool {
	return errors.Is(err, store.ErrBusy) || errors.Is(err, context.DeadlineExceeded)
}

// unavailable is the refusal of a request because of a failure of the store or the audit log.
func unavailable(err error) *Refusal {
	if IsBusy(err) {
		return &Refusal{Reason: Busy, Wait: time.Second, Err: err}
	}
	return &Refusal{Reason: Unavailable, Err: err}
}

// decide applies trust level and policy, and finds out whether the call needs confirmation.
func (a *admission) decide() *Refusal {
	o := a.Operation
	switch {
	case o.ruling.Verdict == trust.IntrospectOnly, o.ruling.Verdict == trust.Deny && o.ruling.ByMinimum:
		return &Refusal{Reason: TrustTooLow, Trust: o.ruling, Level: a.gate.options.Trust.Standing.Level}
	case o.ruling.Verdict == trust.Deny:
		return &Refusal{Reason: DeniedByTrust, Trust: o.ruling, Level: a.gate.options.Trust.Standing.Level}
	}
	if o.rules != nil {
		a.decision = o.rules.Decide(policy.Request{Caller: a.Caller, Value: a.Params.Seen})
		if a.decision.Effect == policy.Deny {
			return &Refusal{Reason: DeniedByPolicy, Rule: a.decision.Rule}
		}
	}
	if o.dryRun != "" {
		text, _ := a.Params.Seen(o.dryRun)
		a.dry = text == "true"
		a.light = a.dry && !o.humanOnly
	}
	a.confirm = !o.unheld && (o.confirm && !a.light || o.person > 0 || a.decision.Effect == policy.Confirm)
	if a.confirm && o.typed != "" && a.typing().Value == "" {
		return &Refusal{Reason: NothingToType}
	}
	return nil
}

// countAndConfirm counts the call and consumes its token. If it refuses the call after counting it, it gives the count
// back; consumed tokens stay consumed.
func (a *admission) countAndConfirm(ctx context.Context) *Refusal {
	bounded, cancel := a.gate.Bound(ctx)
	defer cancel()
	if refusal := a.readAnswer(ctx, bounded); refusal != nil {
		return refusal
	}
	if a.confirm && (a.named() || a.Operation.personal() && a.Sealed == "") &&
		(a.presented.Token != "" || a.presented.Conflict) {
		return a.refuseAgent()
	}
	byInbox := a.byInbox()
	var waits *waiting
	if byInbox || a.confirm && a.mayBeDenied() {
		found, refusal := a.find(bounded, approve.Confirmation, a.binding(ConfirmationToken))
		if refusal != nil {
			return refusal
		}
		if byInbox {
			waits = found
		}
	}
	tokenless := a.confirm && a.presented.Token == "" && !a.presented.Conflict && !waits.approved(a.now)
	if refusal := a.count(bounded, tokenless); refusal != nil {
		return refusal
	}
	if !a.confirm {
		return nil
	}
	var refusal *Refusal
	switch {
	case byInbox:
		refusal = a.confirmByInbox(bounded, waits)
	case a.named(), a.Operation.personal() && !a.asksUser():
		refusal = &Refusal{Reason: NobodyToAsk, Rule: a.decision.Rule}
	case tokenless:
		refusal = a.issue(bounded, a.binding(ConfirmationToken), &Refusal{
			Reason: ConfirmationNeeded, Rule: a.decision.Rule, Personal: a.personal(),
		})
	default:
		refusal = a.redeem(ctx, bounded)
	}
	if refusal != nil {
		a.giveBack(ctx)
	}
	return refusal
}

// readAnswer replaces the presented tokens with the one that a person was asked about. bounded is ctx with the time
// limit of the store.
func (a *admission) readAnswer(ctx, bounded context.Context) *Refusal {
	a.presented = a.Presented
	if a.Sealed == "" {
		return nil
	}
	if !a.Session.mayFail(a.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	token, refusal := a.answered(bounded)
	switch {
	case refusal != nil:
		return refusal
	case !a.approves(token):
		a.Session.questions.answer(a.Sealed, Unknown, a.now)
		a.revoke(ctx, token, reasons[Declined])
		return &Refusal{Reason: Declined, Mistyped: a.types(token) && a.Typed != ""}
	case strings.HasPrefix(token, string(ContinuationToken)):
		a.presented = Presented{Continuation: token}
	default:
		a.presented = Presented{Token: token}
	}
	return nil
}

// count counts the call; with checkOnly it only checks whether the call could be counted. A continuation token lifts a
// pause. No pause holds up a dry run, unless only a person can lift it.
func (a *admission) count(ctx context.Context, checkOnly bool) *Refusal {
	gauge := a.Operation.gauge
	if gauge == nil {
		return nil
	}
	caller := a.Caller.Key()
	for continued := false; ; continued = true {
		var block *meter.Block
		var err error
		switch {
		case checkOnly:
			block, err = gauge.Check(ctx, caller, a.now)
		case a.light:
			a.pass.taken, block, err = gauge.TakeDry(ctx, caller, a.now)
		default:
			a.pass.taken, block, err = gauge.Take(ctx, caller, a.now)
		}
		a.pass.Warnings = a.pass.taken.Warnings
		switch {
		case err != nil:
			return unavailable(err)
		case block == nil:
			return nil
		case block.Limit != nil || block.Exhausted:
			return blocked(block)
		case a.Operation.humanOnly && a.Sealed == "" && a.presented.Continuation != "":
			return a.refuseAgent()
		case a.continuesByInbox():
			if refusal := a.continueByInbox(ctx, block, continued); refusal != nil {
				return refusal
			}
			if refusal := a.lift(ctx, block); refusal != nil {
				return refusal
			}
			continue
		}
		if a.mayBeDenied() {
			if _, refusal := a.find(ctx, approve.Continuation, a.lifting(block)); refusal != nil {
				return refusal
			}
		}
		switch {
		case a.Operation.humanOnly && !a.asksUser(): // nobody can lift it
			return blocked(block)
		case continued, a.presented.Continuation == "": // one token continues one quota
			return a.issue(ctx, a.continuation(block.Quota), blocked(block))
		case a.presented.Conflict:
			return a.refuseUnknown()
		}
		if refusal := a.consume(ctx, a.continuation(block.Quota), a.presented.Continuation); refusal != nil {
			return refusal
		}
		if refusal := a.lift(ctx, block); refusal != nil {
			return refusal
		}
	}
}

// lift lifts the pause of a quota.
func (a *admission) lift(ctx context.Context, block *meter.Block) *Refusal {
	if err := a.gate.meter.Lift(ctx, block.Quota, a.Caller.Key(), block.Resets, a.now); err != nil {
		a.spent = true
		return unavailable(err)
	}
	return nil
}

// blocked returns the refusal of a call that a limit or a quota keeps out.
func blocked(block *meter.Block) *Refusal {
	switch {
	case block.Limit != nil:
		return &Refusal{Reason: RateLimited, Block: block}
	case block.Exhausted:
		return &Refusal{Reason: QuotaExhausted, Block: block}
	default:
		return &Refusal{Reason: QuotaPaused, Block: block}
	}
}

// giveBack gives back the count of a call that is refused in the end. If it fails, the call stays counted.
func (a *admission) giveBack(ctx context.Context) {
	ctx, cancel := a.gate.Bound(context.WithoutCancel(ctx))
	defer cancel()
	if err := a.pass.taken.GiveBack(ctx, a.gate.clock.Now()); err != nil {
		a.gate.logFailure(ctx, "a call that was not made stays counted", err)
	}
	a.pass.taken = meter.Taken{}
}

// binding returns what a token of a kind must be bound to for this request.
func (a *admission) binding(kind Kind) Binding {
	b := Binding{
		Kind: kind, Adapter: a.gate.adapter, Caller: a.Caller.Key(),
		Operation: a.Operation.definition.Name, Params: Hash(a.Params.Canonical()),
	}
	if a.gate.sessionTokens() {
		b.Session = a.Session.ID
	}
	return b
}

// continuation returns what a token must be bound to that lifts the pause of one quota.
func (a *admission) continuation(q *quota.Quota) Binding {
	b := a.binding(ContinuationToken)
	b.Params = Hash(fmt.Appendf(b.Params[:], "%s %t", q.Metric, q.Shared))
	return b
}
