package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// declared returns the capabilities of a server without Options.Setup. Clients are not told of changes of its tools,
// which a new policy may describe otherwise, nor of its resources.
func declared() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}}
}

// onlyDeclared refuses the methods of capabilities that the server does not declare: the SDK would answer some of them,
// with an empty list or with nothing. Prompts come from Options.Setup alone, which may add them at any time.
func (s *Server) onlyDeclared(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		switch family, _, _ := strings.Cut(method, "/"); family {
		case "completion", "logging":
			return nil, unsupported(method)
		case "prompts":
			if s.options.Setup == nil {
				return nil, unsupported(method)
			}
			result, err := next(ctx, method, request)
			if list, ok := result.(*mcp.ListPromptsResult); ok && err == nil && len(list.Prompts) == 0 {
				return nil, unsupported(method)
			}
			return result, err
		default:
			return next(ctx, method, request)
		}
	}
}

func unsupported(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method '" + method + "' is not supported"}
}
