package execution

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"

	"github.com/aqltag/aqltag/runtime/store"
)

// Every execution that is under way has a place of its caller: u/<digest of the caller>/<number>. There are as many
// numbers as the caller may have executions, and the entry of one is <id>/<name of the place>. So a caller never gets
// more than there may be, in how many processes whatsoever, and nobody has to count.
//
// The record is written after the place is taken, and names it. An execution which is started again has another one,
// and what ends it later than that leaves the place of before only. A place is left after the end is in the record. A
// start that dies in between leaves a place that no execution has, which counts until two walks have seen it: the error
// is on the side of fewer executions.

// takePlace gives an execution a new place. It fails with ErrTooMany where its caller has none left.
func (e *Engine) takePlace(ctx context.Context, r *Record) error {
	prefix, name := e.placePrefix(r.CallerKey), rand.Text()
	const tries = 100
	n := mathrand.IntN(e.o.Most)
	for range tries {
		place := placeNumber(n)
		_, err := e.o.Store.Put(ctx, prefix+place, []byte(r.ID+"/"+name), 0, 0)
		if err == nil {
			r.Place = place + "/" + name
			return nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		if n, err = e.freePlace(ctx, prefix, n); err != nil {
			return err
		}
	}
	return fmt.Errorf("taking a place for an execution: %w", store.ErrBusy)
}

// mostPlaces is at how many places a start looks at most.
const mostPlaces = 1000

// freePlace returns a place behind another one that is not taken, or fails with ErrTooMany.
func (e *Engine) freePlace(ctx context.Context, prefix string, n int) (int, error) {
	for looked := 0; looked < min(mostPlaces, e.o.Most); n = n % e.o.Most {
		const page = 100
		after := ""
		if n > 0 {
			after = prefix + placeNumber(n-1)
		}
		taken, err := e.o.Store.List(ctx, prefix, after, page)
		if err != nil {
			return 0, err
		}
		for i := 0; i < page && n < e.o.Most; i, n, looked = i+1, n+1, looked+1 {
			if i == len(taken) || taken[i].Key != prefix+placeNumber(n) {
				return n, nil
			}
		}
	}
	return 0, ErrTooMany
}

// leavePlace gives back the place of an execution. A later one may have it already.
func (e *Engine) leavePlace(ctx context.Context, r *Record) error {
	number, name, _ := strings.Cut(r.Place, "/")
	for r.Place != "" {
		entry, err := e.o.Store.Get(ctx, e.placePrefix(r.CallerKey)+number)
		if err != nil {
			return err
		}
		if id, its := placeOf(entry); id != r.ID || its != name {
			return nil
		}
		if err := e.remove(ctx, entry); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}

func (e *Engine) placePrefix(callerKey string) string {
	return e.root + placePart + digest(callerKey) + "/"
}

// placeNumber is a number whose texts are in its order.
func placeNumber(n int) string { return fmt.Sprintf("%016x", n) }

// placeOf returns whose place an entry is, and the name of that; empty: nobody's.
func placeOf(entry store.Entry) (id, name string) {
	id, name, _ = strings.Cut(string(unmarked(entry.Value)), "/")
	return id, name
}

// lookAtPlace removes a place that no execution has. A start, or one that starts an execution again, may be about to
// write the record with it: where that is so, the record is changed first, so that it fails.
func (e *Engine) lookAtPlace(ctx context.Context, entry store.Entry) error {
	id, name := placeOf(entry)
	var r *Record
	if id != "" {
		var err error
		r, err = e.read(ctx, id)
		switch {
		case errors.Is(err, errFormat):
			return nil
		case err != nil:
			return err
		case r != nil && r.Place == lastOf(entry.Key)+"/"+name && !r.State.Terminal():
			return nil
		}
	}
	if known, err := e.wasSeen(ctx, entry); err != nil || !known {
		return err
	}
	switch {
	case id == "":
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
