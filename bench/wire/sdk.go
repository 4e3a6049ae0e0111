package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newSDK returns a function that passes arguments through the MCP SDK's generic tools, mcp.AddTool with a Go struct,
// to a handler that does nothing. It calls the server's method handler and leaves out the transport, which costs far
// more. constrained gives the tool a schema with the constraints of our definition, in place of the one that the SDK
// infers.
func newSDK[T any](
	ctx context.Context, operation string, constrained bool,
) (func(arguments []byte) (*T, error), error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	tool := &mcp.Tool{Name: operation, Description: "Does nothing."}
	if constrained {
		var err error
		if tool.InputSchema, err = constrainedSchema[T](operation); err != nil {
			return nil, err
		}
	}
	var last T
	mcp.AddTool(server, tool, func(_ context.Context, _ *mcp.CallToolRequest, in T) (*mcp.CallToolResult, any, error) {
		last = in
		return &mcp.CallToolResult{}, nil, nil
	})
	handler, first, err := methodHandler(ctx, server, operation)
	if err != nil {
		return nil, err
	}
	return func(arguments []byte) (*T, error) {
		request := *first
		request.Params = &mcp.CallToolParamsRaw{Name: operation, Arguments: arguments}
		result, err := handler(ctx, "tools/call", &request)
		if err != nil {
			return nil, err
		}
		if r := result.(*mcp.CallToolResult); r.IsError {
			return nil, fmt.Errorf("refused: %s", r.Content[0].(*mcp.TextContent).Text)
		}
		return &last, nil
	}, nil
}

// methodHandler returns the server's method handler as a middleware receives it, and the request of a first call
// through a client: the handler needs a request that belongs to a session.
func methodHandler(
	ctx context.Context, server *mcp.Server, tool string,
) (mcp.MethodHandler, *mcp.CallToolRequest, error) {
	var handler mcp.MethodHandler
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handler = next
		return next
	})
	requests := make(chan *mcp.CallToolRequest, 1)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if call, ok := r.(*mcp.CallToolRequest); ok {
				requests <- call
			}
			return next(ctx, method, r)
		}
	})
	serverSide, clientSide := mcp.NewInMemoryTransports()
	go server.Run(ctx, serverSide) //nolint:errcheck // ends with ctx
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil).Connect(ctx, clientSide, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the SDK's server: %w", err)
	}
	// The call fails, since its arguments are not valid. That does not matter.
	_, err = client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{}`)})
	select {
	case first := <-requests:
		return handler, first, nil
	default:
		return nil, nil, errors.Join(errors.New("no request reached the SDK's server"), err)
	}
}

// constrainedSchema returns the schema that the SDK infers from T, with the constraints of an operation's definition.
func constrainedSchema[T any](operation string) (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	o, _, err := definition(operation)
	if err != nil {
		return nil, err
	}
	types := map[string][]gen.Param{}
	for _, t := range definitions().Types {
		types[t.Name] = t.Fields
	}
	constrain(schema, o.Params, types)
	return schema, nil
}

// constrain adds the constraints of params to the properties of schema.
func constrain(schema *jsonschema.Schema, params []gen.Param, types map[string][]gen.Param) {
	for _, p := range params {
		s := schema.Properties[p.Name]
		s.Pattern, s.Format = p.Pattern, p.Format
		for _, value := range p.Enum {
			s.Enum = append(s.Enum, value)
		}
		s.Minimum, s.Maximum = number(p.Minimum), number(p.Maximum)
		s.MinLength, s.MaxLength = positive(p.MinLength), positive(p.MaxLength)
		if s.Items != nil {
			s.MaxItems = positive(p.MaxItems)
			if fields, ok := types[p.Items.Type]; ok {
				constrain(s.Items, fields, types)
			}
		} else {
			s.MaxProperties = positive(p.MaxItems)
		}
		if fields := types[p.Type]; len(fields) > 0 {
			constrain(s, fields, types)
		}
	}
}

func number(text string) *float64 {
	if text == "" {
		return nil
	}
	var v float64
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return &v
}

func positive(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
