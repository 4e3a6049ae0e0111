package gate

import "context"

// Find decides on a request that starts nothing, since an execution of its key is there: it reads what has become of
// that. reads is the request for the execution, as which it counts. Trust and policy decide as they do about any other
// request for the operation. Nobody confirms it, and no token or approval is used up: that was done for the start.
// Both requests have passed Judge, which may have said that the first needs a confirmation. If Find does not refuse,
// Finish must be called when the request has run.
func (g *Gate) Find(ctx context.Context, r, reads *Request, execution string) (Pass, *Refusal) {
	a := &admission{gate: g, Request: r, now: g.clock.Now(), finds: execution}
	refusal := a.decide()
	if refusal != nil && refusal.Reason == NothingToType {
		refusal = nil
	}
	if refusal == nil {
		counted := &admission{gate: g, Request: reads, now: a.now}
		refusal = counted.countOnce(ctx)
		a.pass = counted.pass
	}
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
