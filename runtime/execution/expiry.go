package execution

import (
	"cmp"
	"time"
)

// Expires returns when a record is forgotten; the zero time while its execution is under way.
func (e *Engine) Expires(r *Record) time.Time {
	if !r.State.Terminal() {
		return time.Time{}
	}
	return r.Finished.Add(e.keep(r))
}

// keep returns how long an execution is kept after its end. The first process that writes its record and has its
// operation decides that.
func (e *Engine) keep(r *Record) time.Duration { return cmp.Or(r.Keep, e.operation(r).keep()) }
