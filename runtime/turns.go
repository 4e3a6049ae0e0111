package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/gen"
	"golang.org/x/sync/semaphore"
)

// turns lets operations run at the same time, or one after the other, as the concurrency model promises. A turn ends
// with the handler, also with one that was given up: no other one runs beside it that must not.
type turns struct {
	concurrency Concurrency
	places      *semaphore.Weighted // nil: the model lets all run at the same time
}

// allPlaces are those that an operation needs that runs alone.
const allPlaces = 1 << 30

func newTurns(concurrency Concurrency) turns {
	t := turns{concurrency: concurrency}
	if concurrency == Serialized || concurrency == ReadConcurrent {
		t.places = semaphore.NewWeighted(allPlaces)
	}
	return t
}

// enter waits until an operation of this category may run. Unless it returns an error, which is that of ctx, leave has
// to be called when its handler has ended.
func (t *turns) enter(ctx context.Context, category gen.Category) error {
	if t.places == nil {
		return nil
	}
	return t.places.Acquire(ctx, t.needs(category))
}

func (t *turns) leave(category gen.Category) {
	if t.places != nil {
		t.places.Release(t.needs(category))
	}
}

func (t *turns) needs(category gen.Category) int64 {
	if t.concurrency == ReadConcurrent && category == gen.Read {
		return 1
	}
	return allPlaces
}
