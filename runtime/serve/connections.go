package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// connections is a listener that has no more than so many connections open. One more closes another, so that those who
// hold connections keep nobody out.
type connections struct {
	net.Listener
	limit int

	mu   sync.Mutex
	open map[*connection]struct{}
	from map[string]int // connections of each address
}

func newConnections(listener net.Listener, limit int) *connections {
	return &connections{
		Listener: listener, limit: limit, open: make(map[*connection]struct{}), from: make(map[string]int),
	}
}

// The phases of a connection, the first to give way first.
const (
	waiting int32 = iota // for a request, or the rest of one
	streaming
	working
)

// connection is one that is open.
type connection struct {
	net.Conn
	set     *connections
	address string // without a port; empty: it has none
	phase   atomic.Int32
	since   atomic.Int64 // when the phase began, in nanoseconds
	writing atomic.Int64 // when the write began that the client has not read yet; 0: none
	body    trackedBody  // of the request that is served
}

// Accept waits for a connection. It closes another one where there are too many, or the process has no more files.
func (c *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := c.Listener.Accept()
		switch {
		case err == nil:
			return c.add(accepted), nil
		case (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && c.evict(nil):
		default:
			return nil, err
		}
	}
}

func (c *connections) add(accepted net.Conn) net.Conn {
	added := &connection{Conn: accepted, set: c, address: addressOf(accepted)}
	added.enter(waiting)
	c.mu.Lock()
	c.open[added] = struct{}{}
	c.from[added.address]++
	full := len(c.open) > c.limit
	c.mu.Unlock()
	if full {
		c.evict(added)
	}
	return added
}

// addressOf returns the address at the other end of a connection, without the port. It is one for each IPv6 network of
// 64 bits, which one customer of a network provider has.
func addressOf(conn net.Conn) string {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	switch {
	case !ok:
		return ""
	case tcp.IP.To4() != nil:
		return tcp.IP.String()
	default:
		return tcp.IP.Mask(net.CIDRMask(64, 128)).String()
	}
}

// evict closes a connection: of the address with most, first one that waits for its client, then one with an event
// stream, then one that is served, and of these the one that does so for longest. It returns false if there is none but
// the newest.
func (c *connections) evict(newest *connection) bool {
	c.mu.Lock()
	var victim *connection
	var phase int32
	var since int64
	for candidate := range c.open {
		if candidate == newest {
			continue
		}
		itsPhase, itsSince := candidate.state()
		more := 0
		if victim != nil {
			more = c.from[candidate.address] - c.from[victim.address]
		}
		if victim == nil || more > 0 ||
			more == 0 && (itsPhase < phase || itsPhase == phase && itsSince < since) {
			victim, phase, since = candidate, itsPhase, itsSince
		}
	}
	c.mu.Unlock()
	if victim == nil {
		return false
	}
	_ = victim.Close() // the client did not read, or did not write
	return true
}

// Close closes the connection.
func (c *connection) Close() error {
	c.set.mu.Lock()
	if _, open := c.set.open[c]; open {
		delete(c.set.open, c)
		if c.set.from[c.address]--; c.set.from[c.address] == 0 {
			delete(c.set.from, c.address)
		}
	}
	c.set.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) Write(p []byte) (int, error) {
	c.writing.Store(time.Now().UnixNano())
	defer c.writing.Store(0)
	return c.Conn.Write(p)
}

func (c *connection) enter(phase int32) {
	c.since.Store(time.Now().UnixNano())
	c.phase.Store(phase)
}

// state returns the phase of a connection, and since when.
func (c *connection) state() (phase int32, since int64) {
	if since = c.writing.Load(); since != 0 {
		return waiting, since
	}
	return c.phase.Load(), c.since.Load()
}

// observe is the hook of net/http for the states of a connection.
func observe(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*connection); ok && (state == http.StateActive || state == http.StateIdle) {
		c.enter(waiting)
	}
}

type connectionKey struct{}

// withConnection is the hook of net/http for the context of a connection.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// bodyTimeout bounds how long the body of a request may take that is not for MCP, and that nobody reads.
const bodyTimeout = 10 * time.Second

// tracked is a handler whose connections are seen to wait, or to be served.
func tracked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && r.URL.Path != mcpPath {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // it has one
		}
		c, ok := r.Context().Value(connectionKey{}).(*connection)
		switch {
		case !ok:
		case r.ContentLength != 0:
			c.enter(waiting)
			body := r.Body
			defer func() { r.Body = body }() // net/http looks at it when it writes the header of a short response
			c.body = trackedBody{ReadCloser: body, connection: c}
			r.Body = &c.body
		case r.Method == http.MethodGet:
			c.enter(streaming)
		default:
			c.enter(working)
		}
		next.ServeHTTP(w, r)
	})
}

// trackedBody is a body after whose end its connection is served.
type trackedBody struct {
	io.ReadCloser
	connection *connection
}

func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.connection.enter(working)
	}
	return n, err
}
