package aql

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

const (
	// largeRequest is the size in bytes from which on a request waits for its turn.
	largeRequest = 64 * kib
	// inWork is how many requests of the largest size are in work at the same time, if the options say nothing else.
	inWork = 8
)

// admission bounds the bytes of large requests that are in work at the same time, from reading to answering. What an
// attacker's requests hold is bounded with it, whatever their number; small requests never wait.
type admission struct {
	room    *semaphore.Weighted
	largest int // what is larger is refused at once
}

func newAdmission(bytes int, limits Limits) (admission, error) {
	switch {
	case bytes == 0:
		bytes = inWork * limits.RequestSize
	case bytes < limits.RequestSize:
		return admission{}, fmt.Errorf("InWork is %d; a single request may have %d bytes", bytes, limits.RequestSize)
	}
	return admission{semaphore.NewWeighted(int64(bytes)), limits.RequestSize}, nil
}

// enter waits for the turn of a request of so many bytes. Unless it returns an error, which is that of ctx, leave has to be
// called with the same number when the request is answered.
func (a admission) enter(ctx context.Context, bytes int) error {
	if !a.counts(bytes) {
		return nil
	}
	return a.room.Acquire(ctx, int64(bytes))
}

func (a admission) leave(bytes int) {
	if a.counts(bytes) {
		a.room.Release(int64(bytes))
	}
}

func (a admission) counts(bytes int) bool { return bytes >= largeRequest && bytes <= a.largest }
