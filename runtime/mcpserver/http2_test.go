package mcpserver

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// deadlined is a response that knows its deadline for writes.
type deadlined struct {
	http.ResponseWriter
	ends *atomic.Pointer[time.Time]
}

func (d deadlined) SetWriteDeadline(t time.Time) error {
	d.ends.Store(&t)
	return http.NewResponseController(d.ResponseWriter).SetWriteDeadline(t)
}

func (d deadlined) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// C1, REQ-MT-05: over HTTP/2, where a deadline ends a response also while nothing is written, a stream that waits for
// its next event has none.
func TestEventStreamsOverHTTP2(t *testing.T) {
	for _, tt := range []struct {
		name, method, meta string
		setup              bool
	}{
		{"a stream of the SDK", http.MethodGet, "", false},
		{"a call with progress", http.MethodPost, `,"_meta":{"progressToken":1}`, false},
		{"a call of the SDK with progress", http.MethodPost, `,"_meta":{"progressToken":1}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proceed := make(chan struct{})
			reports := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				aql.ReportProgress(ctx, 1, 2, "half")
				<-proceed
				return next(ctx)
			}
			options := Options{}
			if tt.setup {
				options.Setup = throughMiddleware
			}
			server := newServerOf(t, aql.Options{Intercept: []aql.Interceptor{reports}}, options, nil)
			handler, err := server.Handler()
			if err != nil {
				t.Fatal(err)
			}
			ends := new(atomic.Pointer[time.Time])
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(deadlined{w, ends}, r)
			}))
			web.EnableHTTP2 = true
			web.StartTLS()
			defer web.Close()
			do := func(method, body, session string) *http.Response {
				request, err := http.NewRequestWithContext(t.Context(), method, web.URL, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept", "application/json, text/event-stream")
				if session != "" {
					request.Header.Set("Mcp-Session-Id", session)
				}
				response, err := web.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { response.Body.Close() })
				return response
			}
			session := do(http.MethodPost, initialize, "").Header.Get("Mcp-Session-Id")
			ends.Store(nil)
			response := do(tt.method, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_read",`+
				`"arguments":{"operation":"get_thing","params":{"id":"a"}}`+tt.meta+`}}`, session)
			if response.ProtoMajor != 2 {
				t.Fatal(response.Proto)
			}
			events := bufio.NewReader(response.Body)
			if _, err := events.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			eventually(func() bool { end := ends.Load(); return end != nil && end.IsZero() })
			close(proceed)
			for tt.method == http.MethodPost {
				line, err := events.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(line, "got a") {
					break
				}
			}
			response.Body.Close()
		})
	}
}
