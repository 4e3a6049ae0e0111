// Package bench measures aql-tag and the alternatives that a user has, in the same run. Machines are noisy, so read the
// ratios.
package bench

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aqltag/aqltag/bench/service"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	createParams = `{"title":"Write the quarterly report","notes":"Ask Ada for the numbers first","priority":"high",` +
		`"due_at":"2026-03-01T09:00:00Z","tags":["work","finance"],` +
		`"metadata":{"color":"red","estimate_minutes":90,"labels":{"team":"core"}}}`
	createRequest = `{"operation":"create_todo","params":` + createParams + `}`
	updateInput   = `{"title":"Write the annual report",` +
		`"metadata":{"estimate_minutes":120,"labels":{"team":null,"year":"2026"}},"tags":["work"]}`
	updateRequest     = `{"operation":"update_todo","params":{"todo_id":"todo_1","input":` + updateInput + `}}`
	introspectRequest = `{"operation":"introspect","params":{"query":"operations"}}`
)

func newService() *service.Service {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &service.Service{Stored: service.Todo{
		TodoID: "todo_1", Title: "Write the quarterly report", Notes: "Ask Ada", Priority: service.High,
		Tags:      []string{"work", "finance"},
		Metadata:  service.Metadata{Color: "red", EstimateMinutes: 90, Labels: map[string]string{"team": "core"}},
		CreatedAt: at,
	}}
}

func newAdapter(tb testing.TB) *aql.Adapter {
	tb.Helper()
	adapter, err := aql.New(service.NewRegistry(newService()), aql.Options{Name: "bench", Version: "1.0.0"})
	if err != nil {
		tb.Fatal(err)
	}
	return adapter
}

// BenchmarkCall measures Session.Call, from the bytes of the request to those of the response, with the handler.
func BenchmarkCall(b *testing.B) {
	for _, bb := range []struct{ name, tool, request string }{
		{"create_todo", "mcp_aql_create", createRequest},
		{"update_todo", "mcp_aql_update", updateRequest},
		{"introspect", "mcp_aql_read", introspectRequest},
	} {
		b.Run(bb.name+"/aql", func(b *testing.B) {
			session := newAdapter(b).NewSession()
			request := []byte(bb.request)
			b.ReportAllocs()
			for b.Loop() {
				if reply := session.Call(b.Context(), bb.tool, request); reply.IsError || reply.JSON[11] != 't' {
					b.Fatalf("%s", reply.JSON)
				}
			}
		})
	}
	b.Run("create_todo/sdk_generic", func(b *testing.B) { benchmarkGeneric(b, "create_todo", createParams) })
	b.Run("update_todo/sdk_generic", func(b *testing.B) {
		benchmarkGeneric(b, "update_todo", `{"todo_id":"todo_1","input":`+updateInput+`}`)
	})
}

// benchmarkGeneric measures the SDK's generic tools with the same handler, without a transport, which costs many
// times as much: see BenchmarkTransport.
func benchmarkGeneric(b *testing.B, tool, arguments string) {
	call := genericTool(b, tool)
	request := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: tool, Arguments: json.RawMessage(arguments)}}
	b.ReportAllocs()
	for b.Loop() {
		result, err := call(b.Context(), "tools/call", request)
		if err != nil {
			b.Fatal(err)
		}
		if result.(*mcp.CallToolResult).IsError {
			b.Fatalf("%v", result.(*mcp.CallToolResult).Content[0])
		}
	}
}

// genericTool returns the method handler of a server, as a middleware receives it.
func genericTool(b *testing.B, tool string) mcp.MethodHandler {
	server := newGenericServer()
	var handler mcp.MethodHandler
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handler = next
		return next
	})
	client := connect(b, func(ctx context.Context, t mcp.Transport) error { return server.Run(ctx, t) })
	// The handler needs a request that belongs to a session: that of a first call through the client.
	var first mcp.Request
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				first = r
			}
			return next(ctx, method, r)
		}
	})
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{}`)}
	if _, err := client.CallTool(b.Context(), params); err != nil {
		b.Log(err)
	}
	if first == nil {
		b.Fatal("no request reached the server")
	}
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		request := *first.(*mcp.CallToolRequest)
		request.Params = r.(*mcp.CallToolRequest).Params
		return handler(ctx, method, &request)
	}
}

func newGenericServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	svc := newService()
	mcp.AddTool(server, &mcp.Tool{Name: "create_todo", Description: "Adds a todo."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in service.CreateTodoRequest) (*mcp.CallToolResult, any, error) {
			todo, err := svc.CreateTodo(ctx, in)
			return textResult(todo, err)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "update_todo", Description: "Changes a todo."},
		func(_ context.Context, _ *mcp.CallToolRequest, in genericUpdate) (*mcp.CallToolResult, any, error) {
			todo := svc.Stored
			in.Input.apply(&todo)
			return textResult(&todo, nil)
		})
	return server
}

// genericUpdate is an update without a generated merge: its fields are pointers, since absence is not the zero value,
// and apply merges them by hand.
type genericUpdate struct {
	TodoID string        `json:"todo_id" jsonschema:"Which todo"`
	Input  genericChange `json:"input" jsonschema:"What changes"`
}

type genericChange struct {
	Title    *string `json:"title,omitempty" jsonschema:"What has to be done"`
	Notes    *string `json:"notes,omitempty" jsonschema:"Details"`
	Metadata *struct {
		Color           *string            `json:"color,omitempty" jsonschema:"Color of the label"`
		EstimateMinutes *int               `json:"estimate_minutes,omitempty" jsonschema:"How long it takes"`
		Labels          map[string]*string `json:"labels,omitempty" jsonschema:"Free labels"`
	} `json:"metadata,omitempty" jsonschema:"What else is known"`
	Tags []string `json:"tags,omitempty" jsonschema:"Tags"`
}

func (c genericChange) apply(todo *service.Todo) {
	if c.Title != nil {
		todo.Title = *c.Title
	}
	if c.Notes != nil {
		todo.Notes = *c.Notes
	}
	if c.Tags != nil {
		todo.Tags = c.Tags
	}
	if m := c.Metadata; m != nil {
		if m.Color != nil {
			todo.Metadata.Color = *m.Color
		}
		if m.EstimateMinutes != nil {
			todo.Metadata.EstimateMinutes = *m.EstimateMinutes
		}
		for name, value := range m.Labels {
			if value == nil {
				delete(todo.Metadata.Labels, name)
			} else {
				todo.Metadata.Labels[name] = *value
			}
		}
	}
}

func textResult(v any, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(map[string]any{"success": true, "data": v})
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, nil
}

// BenchmarkTransport measures a call of a client over the in-memory transport of the SDK.
func BenchmarkTransport(b *testing.B) {
	b.Run("create_todo/aql", func(b *testing.B) {
		server := mcpserver.New(newAdapter(b), mcpserver.Options{})
		client := connect(b, server.Run)
		benchmarkClient(b, client, "mcp_aql_create", createRequest)
	})
	b.Run("create_todo/sdk_generic", func(b *testing.B) {
		server := newGenericServer()
		client := connect(b, func(ctx context.Context, t mcp.Transport) error { return server.Run(ctx, t) })
		benchmarkClient(b, client, "create_todo", createParams)
	})
}

func benchmarkClient(b *testing.B, client *mcp.ClientSession, tool, arguments string) {
	b.ReportAllocs()
	for b.Loop() {
		result, err := client.CallTool(b.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil || result.IsError {
			b.Fatal(result, err)
		}
	}
}

func connect(tb testing.TB, serve func(context.Context, mcp.Transport) error) *mcp.ClientSession {
	tb.Helper()
	serverSide, clientSide := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	go serve(ctx, serverSide)
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, clientSide, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { session.Close() })
	return session
}
