package aql

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

const (
	// largeRequest is the size in bytes from which on a request waits for its turn.
	largeRequest = 64 * kib
	// inFlightRequests is how many requests of the largest size are processed at the same time, by default.
	inFlightRequests = 8
)

// inFlight bounds the bytes of large requests that are processed at the same time, from reading to answering. What an
// attacker's requests hold is bounded with it, whatever their number; small requests never wait.
type inFlight struct {
	bytes   *semaphore.Weighted
	largest int // what is larger is refused at once
}

func newInFlight(bytes int, limits Limits) (inFlight, error) {
	switch {
	case bytes == 0:
		bytes = inFlightRequests * limits.RequestSize
	case bytes < limits.RequestSize:
		return inFlight{}, fmt.Errorf("MaxInFlightBytes is %d; a single request may have %d bytes", bytes, limits.RequestSize)
	}
	return inFlight{semaphore.NewWeighted(int64(bytes)), limits.RequestSize}, nil
}

// enter waits for the turn of a request of so many bytes. Unless it returns an error, which is that of ctx, leave has
// to be called with the same number when the request is answered.
func (f inFlight) enter(ctx context.Context, bytes int) error {
	if !f.counts(bytes) {
		return nil
	}
	return f.bytes.Acquire(ctx, int64(bytes))
}

func (f inFlight) leave(bytes int) {
	if f.counts(bytes) {
		f.bytes.Release(int64(bytes))
	}
}

func (f inFlight) counts(bytes int) bool { return bytes >= largeRequest && bytes <= f.largest }
