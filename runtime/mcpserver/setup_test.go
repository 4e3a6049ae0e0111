package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var anyObject = json.RawMessage(`{"type":"object"}`)

func says(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// own adds a tool of each kind, a prompt and a resource, as a service may.
func own(server *mcp.Server) {
	tool := func(name string, handler mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: anyObject}, handler)
	}
	tool("echo", func(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says("%s", request.Params.Arguments), nil
	})
	tool("who", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says("%q", aql.CallerOf(ctx).Subject), nil
	})
	tool("panic", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret") })
	tool("ask", func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := request.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "Sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		})
		if err != nil {
			return nil, err
		}
		return says("%s", answer.Action), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "summary"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "Sums up"}, nil
		})
	server.AddResource(&mcp.Resource{URI: "things://all", Name: "all"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			contents := []*mcp.ResourceContents{{URI: request.Params.URI, Text: "all things"}}
			return &mcp.ReadResourceResult{Contents: contents}, nil
		})
}

// stdio connects a client to the server over two pipes.
func stdio(t *testing.T, server *Server, version string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := server.RunStdio(t.Context(), in, out)
		out.Close()
		done <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		toServer.Close()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return session
}

// What Options.Setup adds is served beside the adapter's tools on every transport and in both eras of the protocol.
func TestSetup(t *testing.T) {
	verify := func(_ context.Context, token string) (aql.Caller, time.Time, error) {
		return aql.Caller{Subject: token}, time.Now().Add(time.Hour), nil
	}
	server := newServer(t, Options{Setup: own}, nil)
	bearer := newServer(t, Options{Setup: own, Bearer: &Bearer{Verify: verify}}, nil)
	overHTTP := func(server *Server, version, token string) func(t *testing.T) *mcp.ClientSession {
		return func(t *testing.T) *mcp.ClientSession {
			transport := &mcp.StreamableClientTransport{Endpoint: httpServer(t, server).URL}
			if token != "" {
				transport.HTTPClient = &http.Client{Transport: withToken(token)}
			}
			return connect(t, transport, version)
		}
	}
	for _, tt := range []struct {
		name  string
		open  func(t *testing.T) *mcp.ClientSession
		owner string
	}{
		{
			"stdio", func(t *testing.T) *mcp.ClientSession { return stdio(t, server, "", nil) },
			server.sessions.owner.Subject,
		},
		{
			"stdio, older protocol", func(t *testing.T) *mcp.ClientSession { return stdio(t, server, "2025-06-18", nil) },
			server.sessions.owner.Subject,
		},
		{
			"in memory", func(t *testing.T) *mcp.ClientSession { return inMemory(t, server, "") },
			server.sessions.owner.Subject,
		},
		{"HTTP", overHTTP(server, "", ""), ""},
		{"HTTP, older protocol", overHTTP(server, "2025-11-25", ""), ""},
		{"HTTP with a token", overHTTP(bearer, "", "alice"), "alice"},
		{"HTTP with a token, older protocol", overHTTP(bearer, "2025-06-18", "alice"), "alice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := tt.open(t)
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 7 {
				t.Errorf("%d tools, %v; want three of the adapter and four more", len(tools.Tools), err)
			}
			for _, want := range []struct{ tool, arguments, text string }{
				{"mcp_aql_read", `{"operation":"get_thing","params":{"id":"a"}}`, `{"success":true,"data":"got a"}`},
				{"mcp_aql_read", `{"operation":"who_thing"}`, `{"success":true,"data":"` + tt.owner + `"}`},
				{"echo", `{"a":1}`, `{"a":1}`},
				{"who", `{}`, `"` + tt.owner + `"`},
			} {
				if got, _ := call(t, session, want.tool, want.arguments); got != want.text {
					t.Errorf("%s %s: %s, want %s", want.tool, want.arguments, got, want.text)
				}
			}
			_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "panic", Arguments: anyObject})
			if err == nil || !strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "secret") {
				t.Errorf("a panic: %v", err)
			}
			prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summary"})
			if err != nil || prompt.Description != "Sums up" {
				t.Errorf("prompt: %v, %v", prompt, err)
			}
			resource, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "things://all"})
			if err != nil || resource.Contents[0].Text != "all things" {
				t.Errorf("resource: %v, %v", resource, err)
			}
		})
	}
}

// The bound on calls counts those of all tools.
func TestSetupInFlight(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	server := newServer(t, Options{MaxInFlight: 1, Setup: func(server *mcp.Server) {
		server.AddTool(&mcp.Tool{Name: "wait", InputSchema: anyObject},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				close(entered)
				<-leave
				return says("waited"), nil
			})
	}}, nil)
	session := inMemory(t, server, "")
	done := make(chan string)
	go func() {
		text, _ := call(t, session, "wait", `{}`)
		done <- text
	}()
	<-entered
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "mcp_aql_read", Arguments: json.RawMessage(`{"operation":"get_thing"}`),
	})
	if err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a call beyond the bound: %v", err)
	}
	close(leave)
	if got := <-done; got != "waited" {
		t.Error(got)
	}
}

// The recovery is around middleware of the service's own, too.
func TestSetupMiddleware(t *testing.T) {
	server := newServer(t, Options{Setup: func(server *mcp.Server) {
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
				if method == "tools/call" {
					panic("secret")
				}
				return next(ctx, method, request)
			}
		})
	}}, nil)
	session := inMemory(t, server, "")
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "mcp_aql_read", Arguments: anyObject})
	if err == nil || !strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// A tool with the name of one of the adapter's would be replaced without a word. The server serves nothing then.
func TestSetupClash(t *testing.T) {
	server := newServer(t, Options{Setup: func(server *mcp.Server) {
		for _, name := range []string{"mcp_aql_delete", "mcp_aql_delete_all"} {
			server.AddTool(&mcp.Tool{Name: name, InputSchema: anyObject}, nil)
		}
	}}, nil)
	const want = "tool mcp_aql_delete is one of the adapter's, and the server has another tool of this name; " +
		"rename that one, or give the adapter's a prefix"
	_, err := server.Handler()
	here, there := mcp.NewInMemoryTransports()
	defer here.Connect(t.Context())
	for name, err := range map[string]error{
		"Err": server.Err(), "Handler": err, "Run": server.Run(t.Context(), there),
		"RunStdio": server.RunStdio(t.Context(), strings.NewReader(""), io.Discard),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A request that the server sends to its client on stdio is no answer that the end of the input waits for.
func TestStdioWaitsForAnswersOnly(t *testing.T) {
	block, ended := make(chan struct{}), make(chan struct{})
	server := newServer(t, Options{Setup: own}, block)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() {
		server.RunStdio(t.Context(), in, out)
		out.Close()
		close(ended)
	}()
	send := func(message string) { io.WriteString(toServer, message+"\n") }
	answers := json.NewDecoder(fromServer)
	receive := func() (message struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
	}) {
		if err := answers.Decode(&message); err != nil {
			t.Fatal(err)
		}
		return message
	}
	go send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`)
	receive()
	go func() {
		send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{}}}`)
	}()
	question := receive()
	if question.Method != "elicitation/create" {
		t.Fatalf("%+v", question)
	}
	go send(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"decline"}}`)
	if answer := receive(); !strings.Contains(string(answer.Result), "decline") {
		t.Fatalf("%s", answer.Result)
	}
	send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mcp_aql_execute",` +
		`"arguments":{"operation":"wait_thing"}}}`)
	toServer.Close()
	for server.inFlight.taken.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(block)
	if answer := receive(); !strings.Contains(string(answer.Result), "waited") {
		t.Errorf("%s", answer.Result)
	}
	<-ended
}
