package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// once is what an entry of a key has: an execution, and the mark of its parameters.
type once struct {
	ID, Params string
	Seen       bool `json:",omitempty"` // by a walk, without its execution
}

// canonical returns what starts with one key must have in common.
func (s *Start) canonical() string {
	if s.Canonical != nil {
		return string(s.Canonical)
	}
	return string(s.Params)
}

// markParams is by what the parameters of an execution are recognized. It is for one key and one execution: equal
// parameters of others have other marks.
func (e *Engine) markParams(key, id, params string) string { return e.mark("params", key, id, params) }

// claimKey makes the entry of a key for an execution and returns its version, or returns the execution that has it.
func (e *Engine) claimKey(ctx context.Context, r *Record, params string) (*Record, store.Version, error) {
	key := e.root + oncePart + r.Once
	mine, err := json.Marshal(once{ID: r.ID, Params: e.markParams(r.Once, r.ID, params)})
	if err != nil {
		return nil, 0, err
	}
	for pause := time.Millisecond; ; pause *= 2 {
		version, err := e.o.Store.Put(ctx, key, mine, 0, 0)
		if !errors.Is(err, store.ErrConflict) {
			return nil, version, err
		}
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil {
			return nil, 0, err
		}
		if !entry.Exists() {
			continue
		}
		id, known, err := e.holder(ctx, entry, r.Once, params)
		switch {
		case err != nil:
			return nil, 0, err
		case known != nil && !known.Buried:
			return known, 0, nil
		case known == nil && pause < mostPatient:
			if err := sleep(ctx, pause); err != nil {
				return nil, 0, err
			}
			continue
		}
		// Its maker is dead, or slow between two writes. If it is slow it must find out that the key is another one's.
		if known == nil {
			buried, err := e.bury(ctx, id)
			if err != nil {
				return nil, 0, err
			}
			if !buried {
				continue
			}
		}
		version, err = e.o.Store.Put(ctx, key, mine, entry.Version, 0)
		return nil, version, err // a conflict begins anew
	}
}

// holder returns the id of the execution that has the entry of a key, and its record; nil: it has none yet. It fails
// with an *OnceError where the parameters of the execution are others.
func (e *Engine) holder(ctx context.Context, entry store.Entry, key, params string) (string, *Record, error) {
	var theirs once
	if err := json.Unmarshal(entry.Value, &theirs); err != nil {
		return "", nil, fmt.Errorf("reading the key of an execution: %w", err)
	}
	known, err := e.read(ctx, theirs.ID)
	if err == nil && known != nil && !known.Buried && theirs.Params != e.markParams(key, theirs.ID, params) {
		err = &OnceError{theirs.ID}
	}
	return theirs.ID, known, err
}

// Find returns the execution that Start would return instead of making one; nil: there is none. It fails with an
// *OnceError where the parameters of the key are others, or where the store fails.
func (e *Engine) Find(ctx context.Context, s Start) (*Record, error) {
	key, err := e.onceKey(ctx, &s)
	if err != nil || key == "" {
		return nil, err
	}
	entry, err := e.o.Store.Get(ctx, e.root+oncePart+key)
	if err != nil || !entry.Exists() {
		return nil, err
	}
	_, known, err := e.holder(ctx, entry, key, s.canonical())
	if err != nil || known == nil || known.Buried || known.CallerKey != s.CallerKey || known.Operation != s.Operation {
		return nil, err
	}
	return known, nil
}

// onceKey returns the mark of the key of a start; empty: it has none.
func (e *Engine) onceKey(ctx context.Context, s *Start) (string, error) {
	if s.Once == "" {
		return "", nil
	}
	if err := e.makeSecret(ctx); err != nil {
		return "", err
	}
	return e.mark("once", s.CallerKey, s.Operation, s.Once), nil
}

// mostPatient is about how long a start waits for another one with its key that has not made its record yet.
const mostPatient = 500 * time.Millisecond

// lookAtKey removes a key whose execution is gone, or was not made within a walk: then it is buried first.
func (e *Engine) lookAtKey(ctx context.Context, entry store.Entry) error {
	var its once
	if json.Unmarshal(entry.Value, &its) != nil || its.ID == "" {
		return nil //nolint:nilerr // a later version of the program has written it, and looks after it
	}
	r, err := e.read(ctx, its.ID)
	switch {
	case errors.Is(err, errFormat):
		return nil
	case err != nil:
		return err
	case r != nil && !r.Buried:
		return nil
	case r == nil && !its.Seen:
		its.Seen = true
		value, err := json.Marshal(its)
		if err != nil {
			return err
		}
		if _, err = e.o.Store.Put(ctx, entry.Key, value, entry.Version, 0); errors.Is(err, store.ErrConflict) {
			return nil // another start has the key now
		}
		return err
	case r == nil:
		if buried, err := e.bury(ctx, its.ID); err != nil || !buried {
			return err
		}
	}
	e.discard(ctx, entry)
	return nil
}
