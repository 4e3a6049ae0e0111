package redis

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
)

// errNotServed is the error of a connection that the server has closed before it served anything on it, as it does
// where it has reached its maxclients. Its own message is lost where it closes the connection first, and over TLS it
// has none.
var errNotServed = errors.New("the server has closed a new connection at once: it may have reached its maxclients")

// tooMany begins the answer of a server that has reached its maxclients.
var tooMany = []byte("-ERR max number of clients")

// dialer returns what makes connections to servers, in place of the client's own. The client must have its options.
func dialer(o *goredis.Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := goredis.NewDialer(o)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, notServed(err)
		}
		if raw, ok := c.(syscall.Conn); ok {
			return &rawConn{conn{Conn: c}, raw}, nil
		}
		return &conn{Conn: c}, nil
	}
}

// notServed returns errNotServed for the error of a connection that was made and then closed.
func notServed(err error) error {
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, closed) {
			return errNotServed
		}
	}
	return err
}

// conn is a connection that knows whether the server has served anything on it.
type conn struct {
	net.Conn
	served atomic.Bool
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.served.Load() {
		return n, err
	}
	switch {
	case bytes.HasPrefix(p[:n], tooMany):
		return 0, errNotServed
	case n > 0:
		c.served.Store(true)
		return n, err
	}
	return n, notServed(err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && !c.served.Load() {
		err = notServed(err)
	}
	return n, err
}

// rawConn is a connection of which the client can find out whether the server has closed it.
type rawConn struct {
	conn
	raw syscall.Conn
}

func (c *rawConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
