package front

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
)

// Requests are the requests of a client that run: those that are answered here, and those of the SDK.
type Requests struct {
	mu      sync.Mutex
	running map[string]request // by key of the id
	ended   bool               // no more may begin
}

// request is one that runs.
type request struct {
	cancel  context.CancelFunc // nil: the SDK answers the request
	endless bool               // nobody waits for its response
}

var errInUse = errors.New("the id is in use")

// Begin adds a request that is answered here, whose key must not change until End. It returns false if the id is in
// use.
func (q *Requests) Begin(key string, cancel context.CancelFunc) bool {
	return q.begin(key, request{cancel: cancel}) == nil
}

// begin adds a request. Its error is errInUse, or io.EOF after forget.
func (q *Requests) begin(key string, r request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return io.EOF
	}
	if _, used := q.running[key]; used {
		return errInUse
	}
	if q.running == nil {
		q.running = make(map[string]request)
	}
	q.running[key] = r
	return nil
}

// End frees the id of a request that is answered here, and whose response is about to be written.
func (q *Requests) End(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[key].cancel != nil {
		delete(q.running, key)
	}
}

// endOfSDK is End for a response of the SDK. It reports whether somebody waits for that.
func (q *Requests) endOfSDK(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	r, ok := q.running[key]
	if !ok || r.cancel != nil {
		return false
	}
	delete(q.running, key)
	return !r.endless
}

// Cancel cancels the request that a message says, if it is a cancellation, and the request is answered here. A
// cancellation whose params the SDK cannot read cancels nothing.
func (q *Requests) Cancel(m *rpc.Message) {
	if m.Method != "notifications/cancelled" || m.Key != "" || m.Call.RequestID == "" {
		return
	}
	q.mu.Lock()
	cancel := q.running[m.Call.RequestID].cancel
	q.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// hand makes a request the SDK's, unless that answers none any more. Its key may change from then on.
func (q *Requests) hand(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, key)
	if !q.ended {
		q.running[strings.Clone(key)] = request{}
	}
	return !q.ended
}

// forget ends the requests of the SDK, which answers none of them any more, and returns how many responses nobody has
// to wait for. No further request begins.
func (q *Requests) forget() (responses int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	for key, r := range q.running {
		if r.cancel != nil {
			continue
		}
		delete(q.running, key)
		if !r.endless {
			responses++
		}
	}
	return responses
}

// count is the number of requests whose responses are not written yet.
type count struct {
	mu   sync.Mutex
	open int
	none chan struct{} // closed when open is 0; nil: nobody waits
}

func (c *count) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open += n; c.open == 0 && c.none != nil {
		close(c.none)
		c.none = nil
	}
}

// wait waits until all responses are written, or the time to drain is over, or ctx ends.
func (c *count) wait(ctx context.Context, expired <-chan struct{}) {
	c.mu.Lock()
	if c.open == 0 {
		c.mu.Unlock()
		return
	}
	if c.none == nil {
		c.none = make(chan struct{})
	}
	none := c.none
	c.mu.Unlock()
	select {
	case <-none:
	case <-expired:
	case <-ctx.Done():
	}
}
