package mcpserver

import (
	"context"
	"net/http"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Hooks are told how a call came, and what its metadata says of traces, on every way that it may take. The SDK tells
// neither the ids of requests nor that a connection is a pipe.
func TestTransportsOfCalls(t *testing.T) {
	const parent, state = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1"
	own := Options{Setup: throughMiddleware}
	for name, tt := range map[string]struct {
		options Options
		version string
		stream  bool
		want    observe.Transport
	}{
		"stdio":                        {Options{}, "2025-06-18", true, observe.Transport{Network: "pipe", RequestID: "2"}},
		"stdio without sessions":       {Options{}, sessionless, true, observe.Transport{Network: "pipe", RequestID: "2"}},
		"HTTP":                         {Options{}, "2025-06-18", false, observe.Transport{Network: "tcp", RequestID: "2"}},
		"HTTP without sessions":        {Options{}, sessionless, false, observe.Transport{Network: "tcp", RequestID: "2"}},
		"stdio, through the SDK":       {own, "2025-06-18", true, observe.Transport{}},
		"HTTP, through the SDK":        {own, "2025-06-18", false, observe.Transport{Network: "tcp"}},
		"no sessions, through the SDK": {own, sessionless, false, observe.Transport{Network: "tcp"}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []observe.Transport
			server := newServerOf(t, aql.Options{Observe: &observe.Hooks{
				Call: func(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
					told = append(told, c.Transport)
					return ctx, nil
				},
			}}, tt.options, nil)
			var session *mcp.ClientSession
			if tt.stream {
				session = stdio(t, server, tt.version, nil)
			} else {
				session = connect(t, &mcp.StreamableClientTransport{Endpoint: httpServer(t, server).URL}, tt.version)
			}
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "mcp_aql_read", Arguments: map[string]any{"operation": "get_thing"},
				Meta: mcp.Meta{"traceparent": parent, "tracestate": state, "baggage": "user=ann"},
			})
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Protocol, tt.want.TraceParent, tt.want.TraceState = tt.version, parent, state
			if diff := cmp.Diff([]observe.Transport{tt.want}, told); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What a client writes at length, or as a version that there is not, is no part of what hooks are told.
func TestTransportsAreBounded(t *testing.T) {
	var told observe.Transport
	server := newServerOf(t, aql.Options{Observe: &observe.Hooks{
		Call: func(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
			told = c.Transport
			return ctx, nil
		},
	}}, Options{}, nil)
	web := httpServer(t, server)
	long := strings.Repeat("x", 513)
	begun := post(t, web.URL, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+long+
		`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, nil)
	session := begun.Header.Get(sessionHeader)
	called := post(t, web.URL, `{"jsonrpc":"2.0","id":"`+long+`","method":"tools/call","params":{"name":"mcp_aql_read",`+
		`"arguments":{"operation":"get_thing"},"_meta":{"traceparent":"`+long+`","tracestate":"`+long+`"}}}`,
		map[string]string{sessionHeader: session})
	if session == "" || called.StatusCode != http.StatusOK {
		t.Fatal(called.Status)
	}
	if diff := cmp.Diff(observe.Transport{Network: "tcp"}, told, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
