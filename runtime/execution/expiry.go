package execution

import "time"

// Expires returns when a record is forgotten; the zero time while its execution is under way.
func (e *Engine) Expires(r *Record) time.Time {
	if !r.State.Terminal() {
		return time.Time{}
	}
	return r.Finished.Add(e.operation(r).keep())
}
