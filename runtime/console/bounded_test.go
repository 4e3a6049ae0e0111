package console

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
)

// held is a connection of a program that does not read what it is answered.
func held(t *testing.T, address, sends string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_, err = io.WriteString(conn, sends)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A console has so many connections open and no more. The one that has waited for its browser longest gives way.
func TestConnectionsAreBounded(t *testing.T) {
	at, end, err := Serve(t.Context(), "127.0.0.1:0", Options{Name: "notes", Store: new(store.Memory), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	u, err := url.Parse(at())
	if err != nil {
		t.Fatal(err)
	}
	request := "HEAD /assets/console.css HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"
	answered := func(conn net.Conn) error {
		answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodHead})
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	const more = 3
	var open []net.Conn
	for i := range mostConnections {
		conn := held(t, u.Host, request)
		if err := answered(conn); err != nil {
			t.Fatalf("connection %d is not served: %v", i, err)
		}
		open = append(open, conn)
	}
	// A connection begins to wait a moment after its answer was read. So all but the first ones ask again: they wait anew
	// long after these have begun to.
	for i, conn := range open[more:] {
		_, err := io.WriteString(conn, request)
		if err == nil {
			err = answered(conn)
		}
		if err != nil {
			t.Fatalf("connection %d is not served again: %v", more+i, err)
		}
	}
	for range more {
		if err := answered(held(t, u.Host, request)); err != nil {
			t.Fatalf("a connection too many is not served: %v", err)
		}
	}
	for i, conn := range open[:more] {
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("connection %d: %v", i, err)
		}
	}
	if _, err := io.WriteString(open[more], request); err != nil {
		t.Fatal(err)
	}
	if err := answered(open[more]); err != nil {
		t.Errorf("the one after those that gave way: %v", err)
	}
}

// Programs that hold connections, over HTTP or HTTPS, keep nobody out.
func TestProgramsThatHoldConnections(t *testing.T) {
	files := newFiles(t)
	pool := files.write(t, "127.0.0.1")
	for name, o := range map[string]Options{
		"HTTP": {}, "HTTPS": {Certificate: files.cert, Key: files.key},
	} {
		t.Run(name, func(t *testing.T) {
			o.Name, o.Store, o.Logger = "notes", new(store.Memory), quiet
			at, end, err := Serve(t.Context(), "127.0.0.1:0", o)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			u, err := url.Parse(at())
			if err != nil {
				t.Fatal(err)
			}
			for _, sends := range []string{
				"", "GET / HT", "\x16\x03\x01", "POST /login HTTP/1.1\r\nHost: " + u.Host + "\r\nContent-Length: 100\r\n\r\nn",
			} {
				var open []net.Conn
				for range mostConnections {
					open = append(open, held(t, u.Host, sends))
				}
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at()+"login", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := trusting(t, pool).Do(request)
				if err != nil {
					t.Fatalf("while others send %q: %v", sends, err)
				}
				if answer.Body.Close(); answer.StatusCode != http.StatusOK {
					t.Errorf("while others send %q: %s", sends, answer.Status)
				}
				for _, conn := range open {
					conn.Close()
				}
			}
		})
	}
}
