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
		if !e.claimOne(bounded, worker, entry, skip) {
			<-e.slots
		}
		return ctx.Err() == nil
	})
	return next, err
}

// claimOne takes the execution of an entry of the queue, for which a slot is held. It returns false where it did not.
func (e *Engine) claimOne(ctx context.Context, worker string, entry store.Entry, skip *others) bool {
	id := lastOf(entry.Key)
	r, err := e.read(ctx, id)
	if err != nil {
		if errors.Is(err, errFormat) {
			skip.add(entry.Key)
		} else {
			e.warn(ctx, "executions: reading one failed", err)
		}
		return false
	}
	if r == nil {
		e.reap(ctx, entry)
		return false
	}
	e.mu.Lock()
	delete(e.orphans, id)
	e.mu.Unlock()
	switch {
	case r.queued() && e.queueKey(r) != entry.Key, r.Worker != "": // it is queued elsewhere, or with a worker
		e.discard(ctx, entry)
		return false
	case r.State.Terminal():
		if r.Buried || e.retire(ctx, r) == nil {
			e.discard(ctx, entry)
		}
		return false
	case e.operation(r).Do == nil:
		skip.add(entry.Key)
		return false
	}
	if !e.take(ctx, worker, r) {
		return false
	}
	e.discard(ctx, entry)
	return true
}

// discard deletes an entry at the version that was read. It does not matter if that fails: it is found again.
func (e *Engine) discard(ctx context.Context, entry store.Entry) {
	_ = e.o.Store.Delete(ctx, entry.Key, entry.Version)
}

// reap removes an entry of the queue whose record does not exist for so long that its maker must have died.
func (e *Engine) reap(ctx context.Context, entry store.Entry) {
	id := lastOf(entry.Key)
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

// take makes an execution the worker's, and begins an attempt. A slot is held.
func (e *Engine) take(ctx context.Context, worker string, r *Record) bool {
	if !e.activate(r.ID) {
		return false
	}
	key := e.workKey(worker, r.ID)
	if err := e.put(ctx, key, nil, 0); err != nil {
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
	run := e.newRun(r)
	e.spawn(func() {
		defer func() { <-e.slots; e.nudge() }()
		run.carryOut()
	})
	return true
}
