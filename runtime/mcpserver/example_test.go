package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

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

// A service with an HTTP server of its own mounts the handler.
func ExampleServer_Handler() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Name: "notes"})
	if err != nil {
		log.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	defer server.Close()
	handler, err := server.Handler()
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/mcp", handler)
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}
