package gate

import (
	"context"

	"github.com/aqltag/aqltag/runtime/internal/meter"
)

// Judge decides on a request that another one makes on behalf of its caller, as Admit would: by trust and policy. It
// counts nothing and records nothing. Such a request cannot be confirmed, so one that would need a confirmation is
// refused with ConfirmationNeeded, and no token is issued.
func (g *Gate) Judge(r *Request) *Refusal {
	a := &admission{gate: g, Request: r, now: g.clock.Now()}
	refusal := a.decide()
	if refusal == nil && a.confirm {
		refusal = &Refusal{
			Reason: ConfirmationNeeded, Rule: a.decision.Rule, Personal: a.personal(), Named: a.named(),
		}
	}
	if refusal != nil {
		refusal.At = a.now
	}
	return refusal
}

// Count counts and records a request that Judge lets pass, as Admit does. If it is not refused, Finish must be called
// when it has run. No token lifts a pause of a quota.
func (g *Gate) Count(ctx context.Context, r *Request) (Pass, *Refusal) {
	if r.Operation.Ungated() {
		return Pass{}, nil
	}
	a := &admission{gate: g, Request: r, now: g.clock.Now()}
	refusal := a.countOnce(ctx)
	if refusal == nil {
		if err := a.recordPass(ctx); err != nil {
			a.giveBack(ctx)
			refusal = unavailable(err)
		}
	}
	if refusal != nil {
		refusal.At = a.now
		a.recordRefusal(ctx, refusal)
		return Pass{}, refusal
	}
	return a.pass, nil
}

// countOnce counts the call, or refuses it.
func (a *admission) countOnce(ctx context.Context) *Refusal {
	gauge := a.Operation.gauge
	if gauge == nil {
		return nil
	}
	bounded, cancel := a.gate.Bound(ctx)
	defer cancel()
	var block *meter.Block
	var err error
	a.pass.taken, block, err = gauge.Take(bounded, a.Caller.Key(), a.now)
	a.pass.Warnings = a.pass.taken.Warnings
	switch {
	case err != nil:
		return unavailable(err)
	case block == nil:
		return nil
	}
	return blocked(block)
}

// Refuse records what Judge refused.
func (g *Gate) Refuse(ctx context.Context, r *Request, refusal *Refusal) {
	a := &admission{gate: g, Request: r, now: refusal.At}
	a.recordRefusal(ctx, refusal)
}
