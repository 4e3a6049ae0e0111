package mcpserver

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
		{"HTTP, by the SDK", "", Options{Setup: throughMiddleware}, overHTTP},
		{"in memory", "", Options{}, inMemory},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := newServerOf(t, aql.Options{Intercept: []aql.Interceptor{exits}}, tt.options, nil)
			session := tt.open(t, server, tt.version)
			for range 3 {
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
