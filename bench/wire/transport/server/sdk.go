package main

import (
	"context"
	"net/http"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newSDK returns a server of the SDK with a tool for each operation of the service. They have the parameters of the
// tools of our discrete mode; a change is a whole resource, since the SDK has no patches.
func newSDK() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	addTool[service.CreateTodoRequest](s, "create_todo")
	addTool[service.CreateNoteRequest](s, "create_note")
	addTool[service.ImportItemsRequest](s, "import_items")
	addTool[struct {
		Fields []string `json:"fields,omitempty"`
		Preset string   `json:"preset,omitempty"`
	}](s, "list_todos")
	addTool[struct {
		ID    string       `json:"note_id"`
		Input service.Note `json:"input"`
	}](s, "update_note")
	addTool[struct {
		ID    string        `json:"shelf_id"`
		Input service.Shelf `json:"input"`
	}](s, "update_shelf")
	addTool[struct {
		ID    string       `json:"todo_id"`
		Input service.Todo `json:"input"`
	}](s, "update_todo")
	return s
}

// addTool adds a tool that does nothing.
func addTool[Request any](s *mcp.Server, name string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Does nothing."},
		func(context.Context, *mcp.CallToolRequest, Request) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil, nil
		})
}

// sdkHandler serves both eras of the protocol, as our server does.
func sdkHandler(s *mcp.Server) http.Handler {
	find := func(*http.Request) *mcp.Server { return s }
	stateful := mcp.NewStreamableHTTPHandler(find, nil)
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	})
}
