package execution

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// walkInterval is how often one of all workers looks whether the order of writes has kept what it promises.
const walkInterval = 10 * time.Minute

// longestWalk is how long a walk may take. The next one goes on where it has ended.
const longestWalk = time.Minute

// walks walks in turn with other workers until ctx ends.
func (e *Engine) walks(ctx context.Context) {
	for { // at the beginning, too: a process may end soon
		e.walkInTurn(ctx)
		if sleep(ctx, walkInterval) != nil {
			return
		}
	}
}

// walkInTurn walks for a while, if no other worker has just done so.
func (e *Engine) walkInTurn(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, longestWalk)
	defer cancel()
	counts, err := e.o.Store.Take(bounded, []store.Claim{{Key: e.root + "walk", N: 1, Limit: 1, Window: walkInterval}})
	if err != nil || counts[0].Refused {
		return
	}
	e.walking.Lock()
	defer e.walking.Unlock()
	n, err := e.walkOn(bounded)
	if err != nil && bounded.Err() == nil {
		e.warn(ctx, "executions: looking for forgotten ones failed", err)
	}
	if n > 0 {
		e.o.Logger.Error("executions: some were forgotten and go on now", "number", n)
	}
}

// Walk looks at all executions for some that have not ended and that nobody would go on with, and queues them. There
// are none, unless somebody else has changed the store. It removes what starts and lost attempts have left behind.
func (e *Engine) Walk(ctx context.Context) (repaired int, err error) {
	e.walking.Lock()
	defer e.walking.Unlock()
	e.walked = ""
	return e.walkOn(ctx)
}

// walkOn goes on behind the key at which the last walk has ended. It looks at the executions of all callers first, then
// at the queue, at places and at keys, and at steps at last. An execution that cannot be read is left behind until the
// walk begins anew.
func (e *Engine) walkOn(ctx context.Context) (repaired int, err error) {
	for _, part := range []struct {
		name, next string
		look       func(context.Context, store.Entry) error
	}{
		{ownerPart, queuePart, func(ctx context.Context, entry store.Entry) error {
			done, err := e.look(ctx, entry)
			if done {
				repaired++
			}
			return err
		}},
		{queuePart, placePart, e.lookAtQueued},
		{placePart, oncePart, e.lookAtPlace},
		{oncePart, stepPart, e.lookAtKey},
	} {
		if e.walked == "" {
			e.walked = e.root + part.name
		}
		if !strings.HasPrefix(e.walked, e.root+part.name) {
			continue
		}
		if err := e.walkOver(ctx, e.root+part.name, part.look); err != nil {
			return repaired, err
		}
		e.walked = e.root + part.next
	}
	if err = e.sweep(ctx); err == nil {
		e.walked = ""
	}
	return repaired, err
}

// walkOver looks at the entries that have a prefix, from the one on at which the last walk has ended.
func (e *Engine) walkOver(ctx context.Context, prefix string, look func(context.Context, store.Entry) error) error {
	var failed error
	err := e.eachAfter(ctx, prefix, e.walked, func(entry store.Entry) bool {
		if failed = context.Cause(ctx); failed != nil {
			return false
		}
		failed = look(ctx, entry)
		if ctx.Err() == nil {
			e.walked = entry.Key
		}
		return failed == nil
	})
	return cmp.Or(err, failed)
}

// look looks at the execution of an entry of its caller. It returns true where it has queued one that was forgotten.
func (e *Engine) look(ctx context.Context, entry store.Entry) (bool, error) {
	id := lastOf(entry.Key)
	r, err := e.read(ctx, id)
	if err == nil {
		r, err = e.heard(ctx, r)
	}
	switch {
	case errors.Is(err, errFormat): // who has written it looks after it
		return false, nil
	case err != nil:
		return false, err
	case r == nil || r.Buried:
		return false, e.forget(ctx, entry, r)
	case r.Outside: // nobody here goes on with it
	case !r.State.Terminal():
		if w := r.Waiting; r.State == Paused && w != nil && w.From == FromPerson {
			left, err := e.isLeft(ctx, r, e.pauseKey(id, w))
			if left {
				err = e.put(ctx, e.pauseKey(id, w), []byte(e.refMark(w.Ref)), 0)
			}
			if err != nil {
				return false, err
			}
		}
		return e.repair(ctx, r)
	}
	return false, nil
}

// forget removes an entry of an execution that was never made, if it has been so for a walk.
func (e *Engine) forget(ctx context.Context, entry store.Entry, r *Record) error {
	if known, err := e.wasSeen(ctx, entry); err != nil || !known {
		return err
	}
	if r == nil {
		if buried, err := e.bury(ctx, lastOf(entry.Key)); err != nil || !buried {
			return err
		}
	}
	e.discard(ctx, entry)
	return nil
}

// seenMark is at the end of an entry that a walk has found without its execution. It is in the entry because no process
// may live until the next walk.
const seenMark = " seen"

// wasSeen reports whether a walk before has found an entry without its execution. Otherwise it notes that this one has.
func (e *Engine) wasSeen(ctx context.Context, entry store.Entry) (bool, error) {
	if bytes.HasSuffix(entry.Value, []byte(seenMark)) {
		return true, nil
	}
	_, err := e.o.Store.Put(ctx, entry.Key, append(entry.Value, seenMark...), entry.Version, 0)
	if errors.Is(err, store.ErrConflict) { // somebody is about to use it
		err = nil
	}
	return false, err
}

// unmarked is the value of an entry, whether a walk has marked it or not.
func unmarked(value []byte) []byte { return bytes.TrimSuffix(value, []byte(seenMark)) }

// lookAtQueued removes an entry of the queue whose execution has ended, is elsewhere, or was never made: a worker may
// have come back after a while, and have queued what others have ended. It may not be due for a long time.
func (e *Engine) lookAtQueued(ctx context.Context, entry store.Entry) error {
	r, err := e.read(ctx, lastOf(entry.Key))
	switch {
	case errors.Is(err, errFormat):
		return nil
	case err != nil:
		return err
	case r == nil:
		return e.forget(ctx, entry, nil)
	case !r.queued() || e.queueKey(r) != entry.Key:
		e.discard(ctx, entry)
	}
	return nil
}

// repair queues an execution that has an entry neither in the queue nor of a worker.
func (e *Engine) repair(ctx context.Context, r *Record) (bool, error) {
	key := e.queueKey(r)
	if r.Worker != "" {
		key = e.workKey(r.Worker, r.ID)
	}
	if left, err := e.isLeft(ctx, r, key); err != nil || !left {
		return false, err
	}
	if r.Worker != "" {
		return true, e.put(ctx, key, nil, 0) // whoever looks after the entries of workers finds it
	}
	// Whoever has written the record may be about to queue it, and has the entry of a worker until then.
	if e.taken(ctx, r.ID) {
		return false, nil
	}
	if e.o.Dispatcher != nil {
		if added, err := e.enqueue(ctx, r); err != nil || !added {
			return false, err
		}
		return e.isLeft(ctx, r, key) // else it has gone on before it was queued
	}
	if left, err := e.isLeft(ctx, r, key); err != nil || !left {
		return false, err
	}
	return true, e.put(ctx, key, nil, 0)
}

// isLeft reports whether an execution lacks the entry of a key, and is as it was read.
func (e *Engine) isLeft(ctx context.Context, r *Record, key string) (bool, error) {
	entry, err := e.o.Store.Get(ctx, key)
	if err != nil || entry.Exists() {
		return false, err
	}
	now, err := e.read(ctx, r.ID)
	return err == nil && now != nil && now.version == r.version, err
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

// sweep removes steps, and what is beside records, whose execution is gone or has ended for good: an attempt that was
// lost may have written them afterwards.
func (e *Engine) sweep(ctx context.Context) error {
	prefix := e.root + stepPart
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after := e.walked
		if len(after) <= len(prefix) {
			after = ""
		}
		entries, err := e.o.Store.List(ctx, prefix, after, 1)
		if err != nil || len(entries) == 0 {
			return err
		}
		id, _, _ := strings.Cut(entries[0].Key[len(prefix):], "/")
		r, err := e.read(ctx, id)
		if ctx.Err() == nil {
			e.walked = prefix + id + "/\xff"
		}
		if errors.Is(err, errFormat) {
			continue
		}
		if err != nil {
			return err
		}
		if r != nil && !r.over() {
			continue
		}
		if r == nil && lastOf(entries[0].Key) == paramsEntry { // of a start, which may write the record now
			if buried, err := e.bury(ctx, id); err != nil {
				return err
			} else if !buried {
				continue
			}
		}
		if err := e.clear(ctx, id, r); err != nil {
			return err
		}
	}
}

// clear removes what is left of an execution that has ended for good, or has no record.
func (e *Engine) clear(ctx context.Context, id string, r *Record) error {
	result := ""
	if r != nil {
		result = r.ResultAside
	}
	var failed error
	err := e.each(ctx, e.root+stepPart+id+"/", func(entry store.Entry) bool {
		if lastOf(entry.Key) != result {
			failed = e.drop(ctx, entry.Key)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}
