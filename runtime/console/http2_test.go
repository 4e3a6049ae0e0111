package console

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Over HTTP/2, where a deadline ends what has nothing to write as well, a page is told of changes for as long as it is
// open, and records arrive that take longer than a page.
func TestWhatLastsOverHTTP2(t *testing.T) {
	for name, tt := range map[string]struct {
		by    func(http.ResponseWriter, *http.Request) func(string) error // returns what sends a text
		pause time.Duration                                               // between two texts
	}{
		"events": {func(w http.ResponseWriter, r *http.Request) func(string) error {
			events := stream{w: w, control: http.NewResponseController(w), r: r}
			return events.send
		}, longestAnswer},
		"records": {func(w http.ResponseWriter, _ *http.Request) func(string) error {
			records := &sending{w: w, control: http.NewResponseController(w)}
			return func(text string) error {
				_, err := records.Write([]byte(text))
				return err
			}
		}, longestWrite - time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			browser, served := net.Pipe()
			conns := make(chan net.Conn, 1)
			conns <- served
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			const times = 10
			web := &http.Server{
				WriteTimeout: longestAnswer, Protocols: protocols, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					send := tt.by(w, r)
					for range times {
						if err := send("a line\n"); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						time.Sleep(tt.pause)
					}
				}),
			}
			go func() { _ = web.Serve(once{conns, ctx}) }()
			client := &http.Client{Transport: &http.Transport{
				Protocols:   protocols,
				DialContext: func(context.Context, string, string) (net.Conn, error) { return browser, nil },
			}}
			answer, err := client.Get("http://console/") //nolint:noctx // it ends with the test
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(answer.Body)
			count := 0
			for lines.Scan() {
				count++
			}
			if err := lines.Err(); err != nil || count != times || answer.ProtoMajor != 2 {
				t.Errorf("%s: %d lines arrive over %s, %v", name, count, answer.Proto, err)
			}
			answer.Body.Close()
			cancel()
			client.CloseIdleConnections()
			if err := web.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
