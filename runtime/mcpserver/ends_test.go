package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// http2Server serves over HTTP/2.
func http2Server(t *testing.T, server *Server) *httptest.Server {
	t.Helper()
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Error(r.Proto)
		}
		handler.ServeHTTP(w, r)
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	t.Cleanup(web.Close)
	return web
}

// C5: a call whose handler ends its goroutine has an answer, whoever answers it, and its place is given back.
func TestACallThatEndsItsGoroutine(t *testing.T) {
	exits := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
		if call.Operation.Name == "fail_thing" {
			runtime.Goexit()
		}
		return next(ctx)
	}
	overHTTP := func(t *testing.T, server *Server, version string) *mcp.ClientSession {
		return connect(t, &mcp.StreamableClientTransport{Endpoint: httpServer(t, server).URL}, version)
	}
	overHTTP2 := func(t *testing.T, server *Server, version string) *mcp.ClientSession {
		web := http2Server(t, server)
		return connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()}, version)
	}
	onStdio := func(t *testing.T, server *Server, version string) *mcp.ClientSession {
		return stdio(t, server, version, nil)
	}
	for _, tt := range []struct {
		name, version string
		options       Options
		open          func(t *testing.T, server *Server, version string) *mcp.ClientSession
	}{
		{"stdio", "", Options{}, onStdio},
		{"stdio, older protocol", "2025-06-18", Options{}, onStdio},
		{"stdio, by the SDK", "", Options{Setup: throughMiddleware}, onStdio},
		{"HTTP", "", Options{}, overHTTP},
		{"HTTP, older protocol", "2025-06-18", Options{}, overHTTP},
		{"HTTP/2", "", Options{}, overHTTP2},
		{"HTTP/2, older protocol", "2025-06-18", Options{}, overHTTP2},
		{"HTTP/2, by the SDK", "", Options{Setup: throughMiddleware}, overHTTP2},
		{"HTTP, by the SDK", "", Options{Setup: throughMiddleware}, overHTTP},
		{"in memory", "", Options{}, inMemory},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := newServerOf(t, aql.Options{Intercept: []aql.Interceptor{exits}}, tt.options, nil)
			session := tt.open(t, server, tt.version)
			for range 20 {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "mcp_aql_execute", Arguments: json.RawMessage(`{"operation":"fail_thing"}`),
				})
				if err == nil || !strings.Contains(err.Error(), internalError) {
					t.Errorf("error %v", err)
				}
			}
			got, _ := call(t, session, "mcp_aql_read", `{"operation":"get_thing","params":{"id":"a"}}`)
			if got != `{"success":true,"data":"got a"}` {
				t.Errorf("the next call: %s", got)
			}
			if taken := server.inFlight.taken.Load(); taken != 0 {
				t.Errorf("%d places are taken", taken)
			}
		})
	}
}

// C5: a call that ends its goroutine after it has reported progress leaves none behind that would send reports.
func TestACallThatEndsItsGoroutineAfterProgress(t *testing.T) {
	exits := func(ctx context.Context, _ aql.Invocation, _ aql.Next) (any, error) {
		aql.ReportProgress(ctx, 1, 2, "half")
		runtime.Goexit()
		return nil, nil
	}
	server := newServerOf(t, aql.Options{Intercept: []aql.Interceptor{exits}}, Options{}, nil)
	web := httpServer(t, server)
	body := strings.TrimSuffix(read("1"), "}}") + `,"_meta":{"progressToken":1}}}`
	response := post(t, web.URL, body, map[string]string{"Mcp-Session-Id": begin(t, web.URL, nil)})
	events, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(events), internalError) {
		t.Errorf("%s, %v", events, err)
	}
	eventually(func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*notifier).run")
	})
}
