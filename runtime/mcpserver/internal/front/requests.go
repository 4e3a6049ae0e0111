package front

import (
	"context"
	"sync"
	"time"
)

// Requests are the requests of a client that are not answered yet: those that are answered here, and those of the SDK.
type Requests struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by key of the id; nil: of the SDK's
	open    int                           // those whose response is not written yet
	idle    chan struct{}                 // closed when open is 0; nil: nobody waits
}

// Begin adds a request, whose key must not change until End. It returns false if the id is in use.
func (q *Requests) Begin(key string, cancel context.CancelFunc) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, used := q.cancels[key]; used {
		return false
	}
	if q.cancels == nil {
		q.cancels = make(map[string]context.CancelFunc)
	}
	q.cancels[key] = cancel
	q.open++
	return true
}

// leave makes a request the SDK's.
func (q *Requests) leave(key, sameKey string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.cancels, key)
	q.cancels[sameKey] = nil
}

// End frees the id of a request, whose response is about to be written. It returns false if there is none.
func (q *Requests) End(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok := q.cancels[key]
	delete(q.cancels, key)
	return ok
}

// answered is called when the response of a request that has ended is written.
func (q *Requests) answered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close()
}

// close counts one open request less.
func (q *Requests) close() {
	if q.open--; q.open == 0 && q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// forget ends the requests of the SDK, which answers none of them any more.
func (q *Requests) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, cancel := range q.cancels {
		if cancel == nil {
			delete(q.cancels, key)
			q.close()
		}
	}
}

// Cancel cancels a request that is answered here.
func (q *Requests) Cancel(key string) {
	q.mu.Lock()
	cancel := q.cancels[key]
	q.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// wait waits until all requests are answered, or time is up, or ctx ends.
func (q *Requests) wait(ctx context.Context, timeout time.Duration) {
	q.mu.Lock()
	if q.open == 0 {
		q.mu.Unlock()
		return
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ctx.Done():
	}
}
