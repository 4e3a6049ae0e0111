package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/notes"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client in the same process calls the adapter over the SDK's transport in memory.
func ExampleServer_Run() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Name: "notes", Mode: aql.ModeSingle})
	if err != nil {
		log.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	here, there := mcp.NewInMemoryTransports()
	go server.Run(ctx, there) //nolint:errcheck // the client sees it

	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.CallTool(ctx, &mcp.CallToolParams{
		Name:      "mcp_aql",
		Arguments: map[string]any{"operation": "get_note", "params": map[string]any{"note_id": "n1"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: {"success":true,"data":{"id":"n1","title":"Buy milk","labels":{"shop":"corner","when":"today"}}}
}

// A service with an HTTP server of its own mounts the handler beside its other routes. At shutdown it closes the
// sessions, whose event streams would otherwise stay open until the deadline.
func ExampleServer_Handler() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Name: "notes"})
	if err != nil {
		log.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	handler, err := server.Handler()
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/agents/mcp", handler)
	mux.HandleFunc("GET /notes/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "the page of note", r.PathValue("id"))
	})
	web := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	web.RegisterOnShutdown(server.Close)
	log.Fatal(web.ListenAndServe())
}

// Tools, prompts and resources of the service's own stand beside the adapter's tools.
func ExampleOptions_setup() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Name: "notes", Mode: aql.ModeSingle})
	if err != nil {
		log.Fatal(err)
	}
	type question struct {
		Topic string `json:"topic"`
	}
	server := mcpserver.New(adapter, mcpserver.Options{Setup: func(server *mcp.Server) {
		mcp.AddTool(server, &mcp.Tool{Name: "ask_expert", Description: "Ask a person who knows."},
			func(ctx context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
				answer := fmt.Sprintf("%s: nobody is there", q.Topic)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil, nil
			})
	}})
	defer server.Close()
	if err := server.Err(); err != nil { // a tool with the name of one of the adapter's
		log.Fatal(err)
	}
	printTools(server.Run)
	// Output:
	// ask_expert
	// mcp_aql
}

// A service that serves MCP already adds the adapter's tools to its server.
func ExampleAttach() {
	server := mcp.NewServer(&mcp.Implementation{Name: "office", Version: "3"}, nil)
	server.AddTool(&mcp.Tool{Name: "open_door", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)

	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{
		Name: "notes", Prefix: "notes_", Mode: aql.ModeSingle,
	})
	if err != nil {
		log.Fatal(err)
	}
	attachment, err := mcpserver.Attach(server, adapter, mcpserver.AttachOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer attachment.Close()
	printTools(server.Run)
	// Output:
	// notes_mcp_aql
	// open_door
}

// printTools prints the names of the tools that a client sees over a connection in memory.
func printTools(run func(context.Context, mcp.Transport) error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	here, there := mcp.NewInMemoryTransports()
	go run(ctx, there) //nolint:errcheck // the client sees it
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name)
	}
}
