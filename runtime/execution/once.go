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
type once struct{ ID, Params string }

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
	mine, err := json.Marshal(once{r.ID, e.markParams(r.Once, r.ID, params)})
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
		var theirs once
		if err := json.Unmarshal(entry.Value, &theirs); err != nil {
			return nil, 0, fmt.Errorf("reading the key of an execution: %w", err)
		}
		known, err := e.read(ctx, theirs.ID)
		switch {
		case err != nil:
			return nil, 0, err
		case known != nil && !known.Buried && theirs.Params != e.markParams(r.Once, theirs.ID, params):
			return nil, 0, &OnceError{theirs.ID}
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
			buried, err := e.bury(ctx, theirs.ID)
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

// mostPatient is about how long a start waits for another one with its key that has not made its record yet.
const mostPatient = 500 * time.Millisecond
