package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// typedHandler returns a function that passes arguments through mcp-go's typed tool handler, which binds them to a
// struct.
func typedHandler[T any](ctx context.Context, arguments []byte) func() (any, error) {
	var last T
	handler := mcp.NewTypedToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in T) (*mcp.CallToolResult, error) {
		last = in
		return &mcp.CallToolResult{}, nil
	})
	request := mcp.CallToolRequest{Params: mcp.CallToolParams{RawArguments: arguments}}
	return func() (any, error) {
		result, err := handler(ctx, request)
		if err != nil {
			return nil, err
		}
		if result.IsError {
			return nil, fmt.Errorf("refused: %v", result.Content)
		}
		return &last, nil
	}
}

// typedServer returns a function that passes a whole message through an mcp-go server with a typed tool, whose schema
// is inferred from T. validated turns on the check of arguments against that schema, which is off by default.
func typedServer[T any](ctx context.Context, operation, arguments string, validated bool) (func() (any, error), error) {
	var options []server.ServerOption
	if validated {
		options = append(options, server.WithInputSchemaValidation())
	}
	s := server.NewMCPServer("bench", "1.0.0", options...)
	s.AddTool(mcp.NewTool(operation, mcp.WithDescription("Does nothing."), mcp.WithInputSchema[T]()),
		mcp.NewTypedToolHandler(func(context.Context, mcp.CallToolRequest, T) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(`{"success":true,"data":null}`), nil
		}))
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": operation, "arguments": json.RawMessage(arguments)},
	})
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		response, ok := s.HandleMessage(ctx, message).(mcp.JSONRPCResponse)
		if !ok {
			return nil, errors.New("mcp-go answered with an error")
		}
		result, ok := response.Result.(*mcp.CallToolResult)
		if !ok {
			return nil, fmt.Errorf("mcp-go answered with a %T", response.Result)
		}
		if result.IsError {
			return nil, fmt.Errorf("refused: %v", result.Content)
		}
		return result, nil
	}, nil
}
