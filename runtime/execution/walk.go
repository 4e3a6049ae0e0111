package execution

import (
	"context"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// walkInterval is how often one of all workers looks whether the order of writes has kept what it promises.
const walkInterval = 10 * time.Minute

// walkInTurn walks, if no other worker has just done so.
func (e *Engine) walkInTurn(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	counts, err := e.o.Store.Take(bounded, []store.Claim{{Key: e.root + "walk", N: 1, Limit: 1, Window: walkInterval}})
	if err != nil || counts[0].Refused {
		return
	}
	if n, err := e.Walk(bounded); err != nil {
		e.warn(ctx, "executions: looking for forgotten ones failed", err)
	} else if n > 0 {
		e.o.Logger.Error("executions: some were forgotten and go on now", "number", n)
	}
}

// Walk looks at all executions for some that have not ended and that nobody would go on with, and queues them. There
// are none, unless somebody else has changed the store. It removes what starts and lost attempts have left behind.
func (e *Engine) Walk(ctx context.Context) (repaired int, err error) {
	missing := make(map[string]int)
	var failed error
	err = e.each(ctx, e.root+ownerPart, func(entry store.Entry) bool {
		var r *Record
		id := lastOf(entry.Key)
		if r, failed = e.read(ctx, id); failed != nil {
			return false
		}
		switch {
		case r == nil || r.Buried:
			e.mu.Lock()
			missing[id] = e.lost[id] + 1
			e.mu.Unlock()
			failed = e.forget(ctx, entry, r, missing[id])
		case !r.State.Terminal():
			var done bool
			if done, failed = e.repair(ctx, r); done {
				repaired++
			}
		}
		return failed == nil
	})
	e.mu.Lock()
	e.lost = missing
	e.mu.Unlock()
	if err == nil {
		err = failed
	}
	if err == nil {
		err = e.sweep(ctx)
	}
	return repaired, err
}

// forget removes the entry of an execution that was never made, if it has been so for a walk.
func (e *Engine) forget(ctx context.Context, entry store.Entry, r *Record, seen int) error {
	if seen < 2 {
		return nil
	}
	if r == nil {
		if buried, err := e.bury(ctx, lastOf(entry.Key)); err != nil || !buried {
			return err
		}
	}
	e.discard(ctx, entry)
	return nil
}

// repair queues an execution that has an entry neither in the queue nor of a worker.
func (e *Engine) repair(ctx context.Context, r *Record) (bool, error) {
	key := e.queueKey(r)
	if r.Worker != "" {
		key = e.workKey(r.Worker, r.ID)
	}
	entry, err := e.o.Store.Get(ctx, key)
	if err != nil || entry.Exists() {
		return false, err
	}
	now, err := e.read(ctx, r.ID)
	if err != nil || now == nil || now.version != r.version { // it goes on
		return false, err
	}
	if r.Worker == "" && e.taken(ctx, r.ID) {
		return false, nil
	}
	return true, e.put(ctx, key, nil, 0) // of a worker: whoever looks after those finds it
}

// taken reports whether a worker has an entry of an execution.
func (e *Engine) taken(ctx context.Context, id string) bool {
	found := false
	err := e.each(ctx, e.root+workPart, func(entry store.Entry) bool {
		found = strings.HasSuffix(entry.Key, "/"+id)
		return !found
	})
	return found || err != nil
}

// sweep removes steps whose execution is gone, or has ended for good: an attempt that was lost may have written them
// afterwards.
func (e *Engine) sweep(ctx context.Context) error {
	prefix := e.root + stepPart
	for after := ""; ; {
		entries, err := e.o.Store.List(ctx, prefix, after, 1)
		if err != nil || len(entries) == 0 {
			return err
		}
		id, _, _ := strings.Cut(entries[0].Key[len(prefix):], "/")
		after = prefix + id + "/\xff"
		r, err := e.read(ctx, id)
		if err != nil {
			return err
		}
		if r != nil && (!r.State.Terminal() || e.canRetry(r)) {
			continue
		}
		var failed error
		err = e.each(ctx, prefix+id+"/", func(entry store.Entry) bool {
			failed = e.drop(ctx, entry.Key)
			return failed == nil
		})
		if err != nil || failed != nil {
			return failed
		}
	}
}
