package execution

import (
	"context"
	"errors"
	"time"
)

// end writes how the attempt has ended. again says that it could not begin, and is to be made later.
func (r *Run) end(result []byte, failed *Failure, again bool) {
	e, id := r.engine, r.begun.ID
	lost, settled := true, false
	defer func() {
		if lost {
			r.withdraw()
		}
	}()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.runs[id] == r {
			delete(e.runs, id)
			if !settled { // what is left belongs to whoever looks after dead workers
				delete(e.active, id)
			}
		}
	}()
	r.mu.Lock()
	if r.flushing != nil {
		r.flushing.Stop()
	}
	over, undone, due, progress := r.over, r.undone, r.due, r.progress
	waiting, answered, warnings := r.waiting, r.answered, r.warnings
	r.mu.Unlock()
	cause := r.Stopped()
	if over || errors.Is(cause, ErrLost) { // giving up is no failure: whoever takes it over goes on
		r.finish()
		return
	}
	ctx, done := context.WithTimeout(context.Background(), storeTimeout)
	defer done()
	if undone && failed == nil { // whatever the function has made of a step's error
		failed = interrupted()
	}
	paused := again || errors.Is(cause, ErrPaused) && (failed != nil || !due.IsZero())
	cancelled := errors.Is(cause, ErrCancelled) || r.sessionEnded()
	if failed != nil || paused {
		result = nil
	}
	since := e.now().Round(0)
	inside, aside, err := r.keepResult(ctx, result)
	if err != nil {
		e.warn(ctx, "executions: the result of an attempt could not be written", err)
		r.finish()
		return
	}
	written, err := r.write(ctx, true, func(record *Record) {
		if progress != nil {
			record.Progress = progress
		}
		now := e.now()
		if answered {
			record.Waiting = nil
		}
		switch {
		case (cancelled || record.Cancel) && (failed != nil || paused):
			record.State = Cancelled
		case paused && waiting != nil:
			record.State, record.Due, record.Waiting, record.Lost = Paused, waiting.Until, waiting, 0
		case paused:
			record.Due, record.Lost = e.soon(record), 0
			if again {
				record.Due = record.Due.Add(time.Second)
			} else if due.After(now) {
				record.Due = due
			}
		case failed != nil && !failed.Final && record.Repeats < r.operation.Retry:
			record.Repeats++
			record.State, record.Due, record.Lost = Retrying, e.soon(record).Add(e.o.Backoff(record.Repeats)), 0
		case failed != nil:
			e.fail(record, failed)
		default:
			record.State, record.Result, record.ResultAside = Completed, inside, aside
		}
		if record.State.Terminal() {
			record.Worker, record.Finished, record.Warnings = "", now, warnings
		} else if !record.Attached {
			record.Worker = ""
		}
		if _, err := e.encode(record); err != nil { // what it came to matters more than what is said of it
			e.warn(ctx, "executions: the end of an attempt is written without its details", err)
			record.Progress = nil
			if failure := record.Failure; failure != nil {
				record.Failure = &Failure{Code: failure.Code, Message: failure.Message, Final: failure.Final}
			}
		}
	})
	if err != nil {
		if !errors.Is(err, ErrLost) {
			e.warn(ctx, "executions: the end of an attempt could not be written", err)
		}
		return
	}
	lost = false
	if err := r.keepResultAgain(aside, result, since); err != nil {
		e.warn(ctx, "executions: a result could not be written again, and expires before its execution", err)
	}
	settled = e.settle(ctx, r, written)
}

// finish makes the attempt write nothing any more.
func (r *Run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

func (r *Run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// settle does what follows from the record that the end of an attempt has written, and removes the worker's entry last:
// until then that makes sure that it is done. It returns true where the process stays busy with the execution.
func (e *Engine) settle(ctx context.Context, r *Run, record *Record) bool {
	switch {
	case record.State.Terminal():
		if err := e.retire(ctx, record); err != nil {
			e.warn(ctx, "executions: cleaning up failed", err)
			return false
		}
	case record.Attached:
		copied := *record
		next := e.newRun(r.session, &copied)
		next.params = r.params
		e.carryOutHere(next, record.Due.Sub(e.now()))
		e.lookNow(ctx, record)
		return true
	default:
		if _, err := e.enqueue(ctx, record); err != nil {
			e.warn(ctx, "executions: queueing one failed", err)
			return false
		}
		e.announce(ctx)
		e.lookNow(ctx, record)
	}
	if err := e.drop(ctx, e.workKey(r.worker, record.ID)); err != nil {
		e.warn(ctx, "executions: cleaning up failed", err)
	}
	return false
}

// withdraw lets go of what an attempt that was lost or given up has asked after its execution had ended. If it cannot,
// the question expires.
func (r *Run) withdraw() {
	if r.operation.Decided == nil {
		return
	}
	ctx, done := context.WithTimeout(context.Background(), storeTimeout)
	defer done()
	e := r.engine
	now, err := e.read(ctx, r.ID())
	switch {
	case err != nil || now != nil && !now.State.Terminal():
		return
	case now == nil: // its time is over
		begun := *r.begun
		begun.Finished, now = e.now(), &begun
	case now.over(): // nobody needs what was asked since
		now.Finished = e.now()
	}
	_ = e.ended(ctx, now)
}
