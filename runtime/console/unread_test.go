package console

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// once is a listener that accepts one connection.
type once struct {
	conns  chan net.Conn
	closed context.Context
}

func (l once) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed.Done():
		return nil, net.ErrClosed
	}
}

func (once) Close() error { return nil }

func (once) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9090} }

// Programs that ask for a page and read nothing of it do not keep their connections. Who reads events or records, which
// end later, does.
func TestWhatNobodyReads(t *testing.T) {
	part := strings.Repeat(".", 64<<10)
	for name, tt := range map[string]struct {
		reads bool
		by    func(http.ResponseWriter, *http.Request) func() error // returns what sends a part
		want  int                                                   // how many bytes arrive at least
	}{
		"who reads nothing": {by: func(w http.ResponseWriter, _ *http.Request) func() error {
			return func() error { _, err := io.WriteString(w, part); return err }
		}},
		"who reads events": {true, func(w http.ResponseWriter, r *http.Request) func() error {
			events := stream{w: w, control: http.NewResponseController(w), r: r}
			return func() error { time.Sleep(longestAnswer); return events.send(part) }
		}, 3 * len(part)},
		"who reads records": {true, func(w http.ResponseWriter, _ *http.Request) func() error {
			records := &sending{w: w, control: http.NewResponseController(w)}
			return func() error { time.Sleep(longestAnswer); _, err := io.WriteString(records, part); return err }
		}, 3 * len(part)},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			browser, served := net.Pipe()
			conns := make(chan net.Conn, 1)
			conns <- served
			s := &server{o: Options{Logger: slog.New(slog.DiscardHandler)}}
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				send := tt.by(w, r)
				for range 3 {
					if err := send(); err != nil && tt.reads {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
			s.serve(ctx, once{conns, ctx}, handler)
			if _, err := io.WriteString(browser, "GET / HTTP/1.0\r\nHost: console\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if !tt.reads {
				time.Sleep(longestAnswer + time.Second)
			}
			answer, err := io.ReadAll(browser)
			if err != nil || len(answer) < tt.want || tt.want == 0 && len(answer) > 0 {
				t.Errorf("%s: %d bytes arrive, %v", name, len(answer), err)
			}
			cancel()
			if err := s.web.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
