package execution

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// longestID bounds the identifiers that are looked up, in bytes.
const longestID = 100

// Get returns an execution of a caller.
func (e *Engine) Get(ctx context.Context, callerKey, id string) (*Record, error) {
	if len(id) > longestID {
		return nil, ErrNotFound
	}
	r, err := e.read(ctx, id)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Buried || r.CallerKey != callerKey {
		return nil, ErrNotFound
	}
	if r, err = e.heard(ctx, r); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, ErrNotFound
	}
	return r, nil
}

// waiting returns a channel that receives when this process has changed an execution.
func (e *Engine) waiting(id string) (changed chan struct{}, done func()) {
	changed = make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiters[id] == nil {
		e.waiters[id] = make(map[chan struct{}]bool)
	}
	e.waiters[id][changed] = true
	return changed, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if delete(e.waiters[id], changed); len(e.waiters[id]) == 0 {
			delete(e.waiters, id)
		}
	}
}

// notify tells those who wait in this process that an execution has changed.
func (e *Engine) notify(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for changed := range e.waiters[id] {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// Cancel ends an execution of a caller. One that runs is asked to end, and its record says so until it has; that may
// also complete meanwhile. It fails with a *StateError where the execution has ended.
func (e *Engine) Cancel(ctx context.Context, callerKey, id, reason string) (*Record, error) {
	for {
		r, err := e.Get(ctx, callerKey, id)
		if err != nil {
			return nil, err
		}
		if r.State.Terminal() {
			return r, &StateError{Record: r}
		}
		due, worker := e.queueKey(r), r.Worker
		runs := worker != "" && r.State == Running
		if runs && r.Cancel {
			return r, e.askToEnd(ctx, worker, id)
		}
		if r.Cancel, r.Reason = true, reason; !runs {
			r.State, r.Finished, r.Worker = Cancelled, e.now(), ""
		}
		write := e.save
		if worker == "" {
			write = e.conclude
		}
		if err := write(ctx, r); errors.Is(err, store.ErrConflict) {
			continue
		} else if err != nil {
			return nil, err
		}
		if runs {
			return r, e.askToEnd(ctx, worker, id)
		}
		e.wakeUp(id)
		if worker != "" { // it is attached, and waits to go on
			_ = e.askToLook(ctx, worker, id) // else it looks later
			_ = e.ended(ctx, r)              // now, and again when it is cleaned up
		}
		if worker == "" {
			_ = e.drop(ctx, due) // else whoever finds the entry does it
		}
		return r, nil
	}
}

// conclude writes that an execution has ended that no worker has, and does what follows from that. An entry of a worker
// makes sure that this is done to the end, once it has begun.
func (e *Engine) conclude(ctx context.Context, r *Record) error {
	work := e.workKey(newID("r"), r.ID)
	if err := e.put(ctx, work, nil, 0); err != nil {
		return err
	}
	r.Finished = e.now() // not before: that may have taken long
	err := e.save(ctx, r)
	if errors.Is(err, store.ErrConflict) {
		return errors.Join(err, e.drop(ctx, work))
	}
	if err == nil && e.retire(ctx, r) == nil { // else whoever finds the entry does it
		_ = e.drop(ctx, work)
	}
	return err
}

// askToEnd tells the worker of an execution that its cancellation was asked for.
func (e *Engine) askToEnd(ctx context.Context, worker, id string) error {
	e.wakeUp(id)
	defer e.tell(ctx, queuePart)
	return e.put(ctx, e.root+askedPart+worker+"/"+id, nil, time.Hour)
}

// askToLook tells the worker of an attached execution that waits to go on to look what has become of it.
func (e *Engine) askToLook(ctx context.Context, worker, id string) error {
	defer e.tell(ctx, queuePart)
	return e.put(ctx, e.lookKey(worker, id), nil, time.Hour)
}

func (e *Engine) lookKey(worker, id string) string {
	return e.root + askedPart + worker + "/look/" + id
}

// wakeUp ends an attempt in this process, or the wait for it.
func (e *Engine) wakeUp(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if run := e.runs[id]; run != nil {
		run.cancel(ErrCancelled)
	}
}

// CanRetry reports whether Retry would start an execution again.
func (e *Engine) CanRetry(r *Record) bool { return e.canRetry(r) }

// Retry starts an execution of a caller again that has failed. What its steps have returned is kept. It fails with a
// *StateError where the execution has not failed, or cannot be started again.
func (e *Engine) Retry(ctx context.Context, callerKey, id string) (*Record, error) {
	for {
		r, err := e.Get(ctx, callerKey, id)
		if err != nil {
			return nil, err
		}
		if !e.canRetry(r) {
			return r, &StateError{Record: r, Retry: true}
		}
		again, err := e.retry(ctx, r)
		if !errors.Is(err, store.ErrConflict) {
			return again, err
		}
	}
}

// retry queues a failed execution. An entry of a worker makes sure that this is done to the end, once it has begun.
func (e *Engine) retry(ctx context.Context, r *Record) (*Record, error) {
	work := e.workKey(newID("r"), r.ID)
	if err := e.put(ctx, work, nil, 0); err != nil {
		return nil, err
	}
	again := *r
	if err := e.takePlace(ctx, &again); err != nil {
		return nil, errors.Join(err, e.drop(ctx, work))
	}
	err := e.keepBelongings(ctx, r, 0) // which may be about to expire
	if err == nil {
		again.State, again.Due, again.Finished, again.Failure = Retrying, e.soon(r), time.Time{}, nil
		again.Again, again.Repeats, again.Lost, again.Cancel, again.Warnings = r.Again+1, 0, 0, false, ""
		if w := r.Waiting; w != nil && w.Answer == nil { // else the next attempt takes the answer, if none has yet
			again.Waiting = nil
		}
		err = e.save(ctx, &again)
	}
	if errors.Is(err, store.ErrConflict) {
		// Whoever finds the entry of a worker retires the execution, if it has not gone on.
		err = errors.Join(err, e.leavePlace(ctx, &again))
	}
	if err != nil {
		return nil, err
	}
	if err := e.persist(ctx, &again); errors.Is(err, store.ErrConflict) {
		return &again, e.drop(ctx, work) // others have done the rest, and it has ended again
	} else if err != nil {
		return nil, err
	}
	if _, err := e.enqueue(ctx, &again); err != nil {
		return nil, err
	}
	e.announce(ctx)
	return &again, e.drop(ctx, work)
}
