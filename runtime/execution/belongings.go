package execution

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Beside its record an execution has steps, parameters, the entry of its caller, and that of its key. They last as long
// as it is under way, and expire with its record after it has ended. Whoever writes that it ends, or that it is started
// again, changes them afterwards, and whoever finds the entry of a worker that has died meanwhile does the rest.
//
// One that was frozen may come back while the execution has gone on. So each of them is read first, then the record,
// and then it is written at the version that was read, and only if the record is as it was left: started as often, and
// ended or not. A change of the record that is not seen there is made later, and what follows from that writes each of
// them again: before the late write, which then fails, or after it.

// retire makes what belongs to an execution that has ended expire with its record, or removes it. It may be done again.
// Where the execution was started again meanwhile, nothing is left to do.
func (e *Engine) retire(ctx context.Context, r *Record) error {
	err := e.keepBelongings(ctx, r, e.keep(r))
	if err == nil {
		err = e.endPause(ctx, r)
	}
	if err == nil {
		err = e.ended(ctx, r)
	}
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	return e.leavePlace(ctx, r)
}

// persist makes what belongs to an execution that was started again last until it ends. It may be done again.
func (e *Engine) persist(ctx context.Context, r *Record) error {
	if r.Again == 0 { // it has not ended before
		return nil
	}
	return e.keepBelongings(ctx, r, 0)
}

// keepBelongings makes what belongs to an execution expire after a while, or last; zero: last. The result is left as it
// is, and of one that cannot be started again, steps and parameters are removed. It fails with ErrConflict where the
// execution has gone on meanwhile.
func (e *Engine) keepBelongings(ctx context.Context, r *Record, ttl time.Duration) error {
	keep := func(entry store.Entry) error {
		_, err := e.o.Store.Put(ctx, entry.Key, entry.Value, entry.Version, ttl)
		return err
	}
	beside := keep
	if r.over() {
		beside = func(entry store.Entry) error { return e.remove(ctx, entry) }
	}
	const page = 500
	for after, prefix := "", e.root+stepPart+r.ID+"/"; ; {
		entries, last := 0, ""
		err := e.rewrite(ctx, r, func() ([]store.Entry, error) {
			found, err := e.o.Store.List(ctx, prefix, after, page)
			if entries = len(found); entries > 0 {
				last = found[entries-1].Key
			}
			return found, err
		}, func(entry store.Entry) error {
			if lastOf(entry.Key) == r.ResultAside {
				return nil
			}
			return beside(entry)
		})
		if err != nil {
			return err
		}
		if entries < page {
			break
		}
		after = last
	}
	if r.Once != "" {
		err := e.rewriteOne(ctx, r, e.root+oncePart+r.Once, func(entry store.Entry) error {
			var its once
			if json.Unmarshal(entry.Value, &its) == nil && its.ID != r.ID { // the key was forgotten, and used again
				return nil
			}
			return keep(entry)
		})
		if err != nil {
			return err
		}
	}
	return e.rewriteOne(ctx, r, e.ownerKey(r), func(entry store.Entry) error {
		entry.Value = ownedBy(r)
		return keep(entry)
	})
}

// rewriteOne is rewrite for one entry, if there is one.
func (e *Engine) rewriteOne(ctx context.Context, r *Record, key string, write func(store.Entry) error) error {
	return e.rewrite(ctx, r, func() ([]store.Entry, error) {
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil || !entry.Exists() {
			return nil, err
		}
		return []store.Entry{entry}, nil
	}, write)
}

// remove deletes an entry at the version that was read.
func (e *Engine) remove(ctx context.Context, entry store.Entry) error {
	return e.o.Store.Delete(ctx, entry.Key, entry.Version)
}

// rewrite writes entries that belong to an execution, each at the version that was read. It fails with ErrConflict
// where the execution has gone on meanwhile.
func (e *Engine) rewrite(
	ctx context.Context, r *Record, read func() ([]store.Entry, error), write func(store.Entry) error,
) error {
	for again := true; again; {
		entries, err := read()
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := e.stays(ctx, r); err != nil {
			return err
		}
		again = false
		for _, entry := range entries {
			if err := write(entry); errors.Is(err, store.ErrConflict) {
				again = true
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// stays fails with ErrConflict where an execution was started again, or has ended, since a record was written.
func (e *Engine) stays(ctx context.Context, r *Record) error {
	if r.over() {
		return nil
	}
	now, err := e.read(ctx, r.ID)
	switch {
	case err != nil:
		return err
	case now == nil && r.State.Terminal(), // its time is over
		now != nil && now.Again == r.Again && now.State.Terminal() == r.State.Terminal():
		return nil
	}
	return store.ErrConflict
}
