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

// longestWalk is how long a walk may take. The next one goes on where it has ended, in whichever process.
const longestWalk = time.Minute

// noteEvery is after how many executions, or entries, a walk notes how far it is: its process may be killed.
const noteEvery = 100

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
	w := &walk{e: e}
	if err = w.resume(bounded); err != nil {
		e.warn(ctx, "executions: reading where the last walk has ended failed", err)
		return
	}
	n, err := w.on(bounded)
	if err != nil && bounded.Err() == nil && !errors.Is(err, store.ErrConflict) { // another process has walked on
		e.warn(ctx, "executions: looking for forgotten ones failed", err)
	}
	if n > 0 {
		e.o.Logger.Error("executions: some were forgotten and go on now", "number", n)
	}
	noting, noted := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer noted()
	_ = w.note(noting) // else the next one looks at some once more
}

// Walk looks at all executions for some that have not ended and that nobody would go on with, and queues them. There
// are none, unless somebody else has changed the store. It removes what starts and lost attempts have left behind.
func (e *Engine) Walk(ctx context.Context) (repaired int, err error) {
	return (&walk{e: e}).on(ctx)
}

// walk is a look at all executions and what belongs to them, which several processes may share.
type walk struct {
	e      *Engine
	at     string      // where it has ended; empty: it has looked at all
	noted  store.Entry // which says where, without the root; without key: nothing notes it
	looked int         // at how many since then
}

// resume has the walk go on where the last one has ended.
func (w *walk) resume(ctx context.Context) error {
	noted, err := w.e.o.Store.Get(ctx, w.e.root+"walk-at")
	if err != nil {
		return err
	}
	w.noted = noted
	for _, part := range []string{ownerPart, queuePart, placePart, oncePart, stepPart} {
		if strings.HasPrefix(string(noted.Value), part) { // a later version may walk over others
			w.at = w.e.root + string(noted.Value)
		}
	}
	return nil
}

// note writes where the walk is. It fails with store.ErrConflict where another process walks now.
func (w *walk) note(ctx context.Context) (err error) {
	w.looked = 0
	noted := store.Entry{Key: w.noted.Key, Value: []byte(strings.TrimPrefix(w.at, w.e.root))}
	switch {
	case noted.Key == "" || bytes.Equal(noted.Value, w.noted.Value):
		return nil
	case len(noted.Value) == 0:
		err = w.e.o.Store.Delete(ctx, noted.Key, w.noted.Version)
	default:
		noted.Version, err = w.e.o.Store.Put(ctx, noted.Key, noted.Value, w.noted.Version, 0)
	}
	if err == nil {
		w.noted = noted
	}
	return err
}

// to says that the walk has looked at all up to a key.
func (w *walk) to(ctx context.Context, key string) error {
	w.at = key
	if w.looked++; w.looked < noteEvery {
		return nil
	}
	return w.note(ctx)
}

// on goes on behind the key at which the last walk has ended. It looks at the executions of all callers first, then
// at the queue, at places and at keys, and at steps at last. An execution that cannot be read is left behind until the
// walk begins anew.
func (w *walk) on(ctx context.Context) (repaired int, err error) {
	e := w.e
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
		if w.at == "" {
			w.at = e.root + part.name
		}
		if !strings.HasPrefix(w.at, e.root+part.name) {
			continue
		}
		if err := w.over(ctx, e.root+part.name, part.look); err != nil {
			return repaired, err
		}
		w.at = e.root + part.next
	}
	if err = w.sweep(ctx); err == nil {
		w.at = ""
	}
	return repaired, err
}

// over looks at the entries that have a prefix, from the one on at which the last walk has ended.
func (w *walk) over(ctx context.Context, prefix string, look func(context.Context, store.Entry) error) error {
	var failed error
	err := w.e.eachAfter(ctx, prefix, w.at, func(entry store.Entry) bool {
		if failed = context.Cause(ctx); failed != nil {
			return false
		}
		failed = look(ctx, entry)
		if ctx.Err() == nil {
			failed = cmp.Or(failed, w.to(ctx, entry.Key))
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
func (w *walk) sweep(ctx context.Context) error {
	e, prefix := w.e, w.e.root+stepPart
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after := w.at
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
			err = cmp.Or(err, w.to(ctx, prefix+id+"/\xff"))
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
