package console

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// pipes is a listener without a network.
type pipes struct {
	*port
	calls chan net.Conn
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case call := <-p.calls:
		return call, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// call connects with the console.
func (p *pipes) call() net.Conn {
	near, far := net.Pipe()
	p.calls <- far
	return near
}

// Who sends slowly, or receives nothing, has a connection for seconds: many of them keep nobody else away, and take
// nothing for long.
func TestSlowConnections(t *testing.T) {
	const head = "POST /login HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nSec-Fetch-Site: same-origin\r\n" +
		"Content-Type: application/x-www-form-urlencoded\r\n"
	for name, tt := range map[string]struct {
		begins string
		every  string // second, sent on
		most   time.Duration
	}{
		"nothing comes":             {"", "", 10 * time.Second},
		"half a line":               {"GET / HT", "", 10 * time.Second},
		"headers without end":       {"GET / HTTP/1.1\r\nHost: 127.0.0.1:9090\r\n", "X-Slow: 1\r\n", 10 * time.Second},
		"half a form":               {head + "Content-Length: 100\r\n\r\nname=eve", "", 10 * time.Second},
		"a form, byte by byte":      {head + "Content-Length: 30000\r\n\r\n", "x", 10 * time.Second},
		"a form, chunk by chunk":    {head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 10 * time.Second},
		"a page, and nothing after": {"GET /login HTTP/1.1\r\nHost: 127.0.0.1:9090\r\n\r\n", "", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := servedByPipes(t, new(store.Memory))
				began := time.Now()
				call := at.call()
				call.SetDeadline(began.Add(tt.most + time.Second)) //nolint:errcheck // a pipe has deadlines
				var sending sync.WaitGroup
				sending.Go(func() {
					_, err := io.WriteString(call, tt.begins)
					for err == nil && tt.every != "" {
						time.Sleep(time.Second)
						_, err = io.WriteString(call, tt.every)
					}
				})
				if _, err := io.Copy(io.Discard, call); err != nil {
					t.Errorf("after %v the connection lasts: %v", time.Since(began), err)
				}
				call.Close()
				sending.Wait()
			})
		})
	}
}

// A page that follows and receives nothing has its connection until something is to be told.
func TestStreamsThatReceiveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		at := servedByPipes(t, state)
		c, err := newConsole(Options{Name: "notes", Store: state, Hosts: []string{shared}})
		if err != nil {
			t.Fatal(err)
		}
		who := identity.User("eve")
		if err := c.book.Choose(t.Context(), who, 0, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
		version, err := c.book.Version(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := c.begin(t.Context(), session{Who: who, Passphrase: version})
		if err != nil {
			t.Fatal(err)
		}
		call := at.call()
		defer call.Close()
		_, err = io.WriteString(call, "GET /events HTTP/1.1\r\nHost: "+shared+"\r\nCookie: "+c.cookie(secret).Name+"="+
			secret+"\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(call), nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		defer answer.Body.Close()
		time.Sleep(beatEvery + longestWrite + 2*time.Second)
		call.SetDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // a pipe has deadlines
		if _, err := io.ReadAll(answer.Body); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("the stream goes on: %v", err)
		}
	})
}

// servedByPipes serves a console until the test ends.
func servedByPipes(t *testing.T, state store.Store) *pipes {
	t.Helper()
	on := new(machine)
	at := &pipes{&port{on: on, address: shared, closed: make(chan struct{})}, make(chan net.Conn)}
	ctx, stop := context.WithCancel(t.Context())
	s := &server{
		o: Options{Name: "notes", Store: state, Logger: slog.New(slog.DiscardHandler)}, address: shared,
		listen: func(context.Context, string, string) (net.Listener, error) { return at, nil },
	}
	if err := s.begin(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return at
}
