package execution

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/aqltag/aqltag/runtime/store"
)

// Every execution that is under way has a place among those of its caller: u/<digest of the caller>/<id>/<place>.
//
// A start makes its place first, and then counts all of the caller. Of two starts at the same time, the one that makes
// its place later counts both: together they never get more than there may be, in how many processes whatsoever. Both
// may be refused where one of them had room.
//
// The record is written after that and names its place, so that an execution which is started again has another one,
// and what ends it later than that removes the place of before only. The place is removed after the end is in the
// record. A start that dies in between leaves a place that no execution has, which counts until two walks have seen it:
// the error is on the side of fewer executions.

// takePlace gives an execution a new place. It fails with ErrTooMany where its caller has none left.
func (e *Engine) takePlace(ctx context.Context, r *Record) error {
	r.Place = rand.Text()
	key := e.placeKey(r)
	if err := e.put(ctx, key, nil, 0); err != nil {
		return err
	}
	n := 0
	err := e.each(ctx, e.placePrefix(r.CallerKey), func(store.Entry) bool {
		n++
		return n <= e.o.Most
	})
	if err == nil && n > e.o.Most {
		err = ErrTooMany
	}
	if err != nil {
		e.leavePlace(ctx, r)
	}
	return err
}

// leavePlace gives back the place of an execution that was not started.
func (e *Engine) leavePlace(ctx context.Context, r *Record) { _ = e.drop(ctx, e.placeKey(r)) } // else walks do it

func (e *Engine) placePrefix(callerKey string) string {
	return e.root + placePart + digest(callerKey) + "/"
}

func (e *Engine) placeKey(r *Record) string {
	return e.placePrefix(r.CallerKey) + r.ID + "/" + r.Place
}

// lookAtPlace removes a place that no execution has. A start, or one that starts an execution again, may be about to
// write the record with it: where that is so, the record is changed first, so that it fails.
func (e *Engine) lookAtPlace(ctx context.Context, entry store.Entry) error {
	id, place := lastOf(entry.Key[:max(len(entry.Key)-len(lastOf(entry.Key))-1, 0)]), lastOf(entry.Key)
	r, err := e.read(ctx, id)
	switch {
	case errors.Is(err, errFormat):
		return nil
	case err != nil:
		return err
	case r != nil && r.Place == place && !r.State.Terminal():
		return nil
	}
	e.missing[entry.Key] = e.lost[entry.Key] + 1
	if e.missing[entry.Key] < 2 {
		return nil
	}
	switch {
	case r == nil:
		if buried, err := e.bury(ctx, id); err != nil || !buried {
			return err
		}
	case r.State == Failed:
		if err := e.save(ctx, r); errors.Is(err, store.ErrConflict) {
			return nil
		} else if err != nil {
			return err
		}
	}
	e.discard(ctx, entry)
	return nil
}
