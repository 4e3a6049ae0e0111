// Package connections keeps the connections of a listener few, so that those who hold some keep nobody out: of each
// server of a program, for clients of MCP, for who reads metrics, and for browsers.
//
//	web := &http.Server{
//		Handler:   connections.Track(mux),
//		ConnState: connections.Changed, ConnContext: connections.Context, …
//	}
//	err := web.Serve(connections.Limit(listener, 256))
package connections

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// set is a listener that has no more than so many connections open.
type set struct {
	net.Listener
	limit int

	mu   sync.Mutex
	open map[*connection]struct{}
	from map[string]int // connections of each address
}

// Limit returns a listener that has no more than limit connections open. One more closes another: of the address with
// most, first one that waits for its client, then one with an event stream, then one that is served, and of these the
// one that does so for longest. A server that speaks TLS wraps what Accept returns.
func Limit(listener net.Listener, limit int) net.Listener { return newSet(listener, limit) }

func newSet(listener net.Listener, limit int) *set {
	return &set{
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
	set     *set
	address string // without a port; empty: it has none
	phase   atomic.Int32
	since   atomic.Int64 // when the phase began, in nanoseconds
	writing atomic.Int64 // when the write began that the client has not read yet; 0: none
	body    trackedBody  // of the request that is served, over HTTP/1
}

// Accept waits for a connection. It closes another one where there are too many, or the process has no more files.
func (s *set) Accept() (net.Conn, error) {
	for {
		accepted, err := s.Listener.Accept()
		switch {
		case err == nil:
			return s.add(accepted), nil
		case (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && s.evict(nil):
		default:
			return nil, err
		}
	}
}

func (s *set) add(accepted net.Conn) net.Conn {
	added := &connection{Conn: accepted, set: s, address: addressOf(accepted)}
	added.enter(waiting)
	s.mu.Lock()
	s.open[added] = struct{}{}
	s.from[added.address]++
	full := len(s.open) > s.limit
	s.mu.Unlock()
	if full {
		s.evict(added)
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
func (s *set) evict(newest *connection) bool {
	s.mu.Lock()
	var victim *connection
	var phase int32
	var since int64
	for candidate := range s.open {
		if candidate == newest {
			continue
		}
		itsPhase, itsSince := candidate.state()
		more := 0
		if victim != nil {
			more = s.from[candidate.address] - s.from[victim.address]
		}
		if victim == nil || more > 0 ||
			more == 0 && (itsPhase < phase || itsPhase == phase && itsSince < since) {
			victim, phase, since = candidate, itsPhase, itsSince
		}
	}
	s.mu.Unlock()
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

// of returns the connection that a server got from a listener of Limit, also the one below TLS; nil: it got none.
func of(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

// Changed is the hook of net/http for the states of a connection: http.Server.ConnState.
func Changed(conn net.Conn, state http.ConnState) {
	if c := of(conn); c != nil && (state == http.StateActive || state == http.StateIdle) {
		c.enter(waiting)
	}
}

type connectionKey struct{}

// Context is the hook of net/http for the context of a connection: http.Server.ConnContext.
func Context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, of(conn))
}

// Track is a handler whose connections are seen to wait, or to be served. Of several requests over one connection, as
// HTTP/2 has them, the last to begin, or to arrive, counts.
func Track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(connectionKey{}).(*connection)
		switch {
		case c == nil:
		case r.ContentLength != 0:
			c.enter(waiting)
			body, followed := r.Body, &c.body
			if r.ProtoMajor > 1 { // others are read at the same time
				followed = new(trackedBody)
			}
			defer func() { r.Body = body }() // net/http looks at it when it writes the header of a short response
			*followed = trackedBody{ReadCloser: body, connection: c}
			r.Body = followed
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
