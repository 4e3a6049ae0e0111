package execution

import "context"

// Change is that the state of an execution has changed, that one was started, or that one was taken from a worker that
// is gone. Only the process that has made the change tells of it, once.
type Change struct {
	Record *Record // as it is now; it is only valid until Options.Changed returns
	From   State   // empty: it is started
	Lost   bool    // its worker is gone
}

// changed tells of a change that the store has taken.
func (e *Engine) changed(ctx context.Context, r *Record) {
	c := Change{Record: r, From: r.was, Lost: r.lost}
	r.was, r.lost = r.State, false
	if e.o.Changed != nil && !r.Buried && (c.From != r.State || c.Lost) {
		e.o.Changed(ctx, c)
	}
}
