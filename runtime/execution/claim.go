package execution

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// others are the entries of the queue that this process cannot run, because it does not have their operation or their
// form. They are looked at again after a while: what has ended elsewhere is removed then.
type others struct {
	since time.Time
	keys  map[string]bool
}

// othersInterval is how often executions are looked at that this process cannot run.
const othersInterval = time.Minute

func (o *others) add(key string) { o.keys[key] = true }

// has reports whether there is an entry among them.
func (o *others) has(key string) bool {
	if time.Since(o.since) >= othersInterval {
		o.since, o.keys = time.Now(), make(map[string]bool)
	}
	return o.keys[key]
}

// claim takes executions that are due while there is room. It returns in how long the next one is due; zero: nobody
// knows.
func (e *Engine) claim(ctx context.Context, skip *others) (next time.Duration, err error) {
	worker := e.name()
	if worker == "" {
		return 0, nil
	}
	prefix := e.root + queuePart
	err = e.each(ctx, prefix, func(entry store.Entry) bool {
		if due, ok := e.dueOf(entry.Key); ok && due.After(e.now()) {
			next = due.Sub(e.now())
			return false
		}
		if skip.has(entry.Key) {
			return ctx.Err() == nil
		}
		select {
		case e.slots <- struct{}{}:
		default:
			return false
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		switch e.attempt(bounded, worker, entry.Key, func() { e.nudge() }) {
		case begun:
			e.discard(bounded, entry)
			return ctx.Err() == nil
		case settled:
			e.discard(bounded, entry)
		case elsewhere:
			skip.add(entry.Key)
		}
		<-e.slots
		return ctx.Err() == nil
	})
	return next, err
}

// claimed is what has come of what was to be claimed.
type claimed int

const (
	begun     claimed = iota // an attempt, which has the slot
	settled                  // nothing is to be done for it, or somebody else does it
	elsewhere                // other processes may be able to run it
	undecided                // it is to be tried again
)

// attempt begins an attempt at the execution that was queued with a key. A slot is held. ended is called when the
// attempt has ended and has given back the slot.
func (e *Engine) attempt(ctx context.Context, worker, key string, ended func()) claimed {
	id := lastOf(key)
	r, err := e.read(ctx, id)
	if errors.Is(err, errFormat) {
		return e.leave(key, "")
	}
	if err != nil {
		e.warn(ctx, "executions: reading one failed", err)
		return undecided
	}
	if r == nil {
		e.reap(ctx, id)
		return undecided
	}
	e.mu.Lock()
	delete(e.orphans, id)
	e.mu.Unlock()
	switch {
	case r.queued() && e.queueKey(r) != key, r.Worker != "": // it is queued elsewhere, or with a worker
		return settled
	case r.State.Terminal():
		if r.Buried || e.retire(ctx, r) == nil {
			return settled
		}
		return undecided
	case r.Outside:
		return settled
	case e.operation(r).Do == nil:
		return e.leave(key, r.Operation)
	case e.take(ctx, worker, r, ended):
		return begun
	}
	return undecided
}

// discard deletes an entry at the version that was read. It does not matter if that fails: it is found again.
func (e *Engine) discard(ctx context.Context, entry store.Entry) {
	_ = e.o.Store.Delete(ctx, entry.Key, entry.Version)
}

// reap buries an execution that is queued, and whose record does not exist for so long that its maker must have died.
func (e *Engine) reap(ctx context.Context, id string) {
	e.mu.Lock()
	since, known := e.orphans[id]
	if !known {
		e.orphans[id] = time.Now()
	}
	e.mu.Unlock()
	if !known || time.Since(since) < time.Minute {
		return
	}
	if _, err := e.bury(ctx, id); err != nil { // if its maker is only slow, it finds out
		e.warn(ctx, "executions: removing what a start has left failed", err)
	}
}

// take makes an execution the worker's, and begins an attempt. A slot is held; ended is called when it is given back.
func (e *Engine) take(ctx context.Context, worker string, r *Record, ended func()) bool {
	if !e.activate(r.ID) {
		return false
	}
	// There may be one of an attempt before, which somebody is about to remove who takes the worker for dead.
	key := e.workKey(worker, r.ID)
	if err := e.renew(ctx, key, nil, 0); err != nil {
		e.deactivate(r.ID)
		return false
	}
	r.State, r.Worker = Running, worker
	r.Attempt++
	if r.Started.IsZero() {
		r.Started = e.now()
	}
	if err := e.save(ctx, r); err != nil {
		if errors.Is(err, store.ErrConflict) {
			_ = e.drop(ctx, key) // else whoever looks after the worker's entries does
		} else { // it may be ours: whoever looks next finds out
			e.warn(ctx, "executions: taking one failed", err)
		}
		e.deactivate(r.ID)
		return false
	}
	run := e.newRun(context.Background(), r)
	e.spawn(func() {
		defer func() { <-e.slots; ended() }()
		run.carryOut()
	})
	return true
}
