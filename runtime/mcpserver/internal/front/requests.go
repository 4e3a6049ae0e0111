package front

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Requests are the requests of a client that run: those that are answered here, and those of the SDK.
type Requests struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by key of the id; nil: the SDK answers the request
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
	return true
}

// End frees the id of a request, whose response is about to be written. It returns false if there is none.
func (q *Requests) End(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok := q.cancels[key]
	delete(q.cancels, key)
	return ok
}

// Cancel cancels the request that a message says, if it is a cancellation, and the request is answered here. A
// cancellation whose params the SDK cannot read cancels nothing.
func (q *Requests) Cancel(m *rpc.Message) {
	if m.Method != "notifications/cancelled" || m.Key != "" ||
		json.Unmarshal([]byte(m.Params), new(mcp.CancelledParams)) != nil {
		return
	}
	q.mu.Lock()
	cancel := q.cancels[m.Call.RequestID]
	q.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// hand makes a request the SDK's. Its key may change from then on.
func (q *Requests) hand(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.cancels, key)
	q.cancels[strings.Clone(key)] = nil
}

// forget ends the requests of the SDK, which answers none of them any more, and returns their number.
func (q *Requests) forget() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := len(q.cancels)
	for key, cancel := range q.cancels {
		if cancel == nil {
			delete(q.cancels, key)
		}
	}
	return before - len(q.cancels)
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

// wait waits until all responses are written, or time is up, or ctx ends.
func (c *count) wait(ctx context.Context, timeout time.Duration) {
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
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-ctx.Done():
	}
}
