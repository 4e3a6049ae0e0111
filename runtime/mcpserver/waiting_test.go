package mcpserver

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newLongServer returns a server whose operation ends when end is closed.
func newLongServer(t *testing.T, options Options, end <-chan struct{}) *Server {
	t.Helper()
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
		Name: "build", Category: gen.Execute, Danger: gen.Safe, Request: (*thing)(nil),
		Execution: &gen.Execution{Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
			run.Progress(1, 2, "Building")
			select {
			case <-end:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		})},
	}}, nil), aql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = adapter.Work(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return New(adapter, options)
}

// A call that waits for its execution takes up no place of the calls that run, on every transport, and is told the
// progress of the execution if it asks for that.
func TestWaitingTakesUpNoPlace(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, server *Server, o *mcp.ClientOptions) *mcp.ClientSession{
		"stdio": func(t *testing.T, server *Server, o *mcp.ClientOptions) *mcp.ClientSession {
			return stdio(t, server, "", o)
		},
		"stdio, older protocol": func(t *testing.T, server *Server, o *mcp.ClientOptions) *mcp.ClientSession {
			return stdio(t, server, "2025-06-18", o)
		},
		"HTTP": func(t *testing.T, server *Server, o *mcp.ClientOptions) *mcp.ClientSession {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
			session, err := client.Connect(t.Context(),
				&mcp.StreamableClientTransport{Endpoint: httpServer(t, server).URL}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { session.Close() })
			return session
		},
	} {
		t.Run(name, func(t *testing.T) {
			end, told := make(chan struct{}), make(chan string, 10)
			server := newLongServer(t, Options{MaxInFlight: 1}, end)
			session := open(t, server, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					told <- r.Params.Message
				},
			})
			done := make(chan string, 1)
			go func() {
				params := &mcp.CallToolParams{
					Name: "mcp_aql_execute", Arguments: json.RawMessage(`{"operation":"build","_wait":30000}`),
				}
				params.SetProgressToken("p")
				result, err := session.CallTool(t.Context(), params)
				if err != nil {
					done <- err.Error()
					return
				}
				done <- result.Content[0].(*mcp.TextContent).Text
			}()
			if message := <-told; message != "Building" { // it waits
				t.Errorf("told %q", message)
			}
			text, _ := call(t, session, "mcp_aql_read", `{"operation":"list_executions"}`)
			if !strings.Contains(text, `"running"`) {
				t.Errorf("beside the call that waits: %s", text)
			}
			close(end)
			if text := <-done; !strings.Contains(text, `"completed"`) {
				t.Errorf("the call that has waited: %s", text)
			}
			for server.inFlight.taken.Load() != 0 { // the call leaves after its answer
				runtime.Gosched()
			}
		})
	}
}
