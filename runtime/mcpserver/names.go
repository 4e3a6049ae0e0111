package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// checkNames returns an error for each tool of an MCP server that has the name of one of the adapter's: the SDK would
// replace it.
func checkNames(server *mcp.Server, adapter *aql.Adapter) error {
	taken, err := toolNames(server)
	if err != nil {
		return fmt.Errorf("listing the tools that the server has: %w", err)
	}
	var clashes []error
	for _, tool := range adapter.Tools() {
		if taken[tool.Name] {
			clashes = append(clashes,
				fmt.Errorf("tool %s is one of the adapter's, and the server has another tool of this name; rename that one, "+
					"or give the adapter's a prefix", tool.Name))
		}
	}
	return errors.Join(clashes...)
}

// listTimeout bounds how long a server may take to list its tools.
const listTimeout = 10 * time.Second

// toolNames lists the tools of an MCP server. The SDK has no way but a connection.
func toolNames(server *mcp.Server) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	here, there := mcp.NewInMemoryTransports()
	connection, err := server.Connect(ctx, there, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Wait() }() // the client closes it
	client, err := mcp.NewClient(&mcp.Implementation{Name: "start", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	defer func() { _ = client.Close() }() // nothing is under way
	names := make(map[string]bool)
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names[tool.Name] = true
	}
	return names, nil
}
