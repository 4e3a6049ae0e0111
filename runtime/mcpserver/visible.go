package mcpserver

import (
	"context"
	"fmt"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addVisibility adds the middleware that hides tools, where the adapter hides some.
func (s *Server) addVisibility(server *mcp.Server) {
	if s.adapter.HidesDenied() {
		server.AddReceivingMiddleware(s.onlyVisible)
	}
}

// onlyVisible lists the tools that the caller sees, as he sees them, and answers a call of another one like a call of a
// tool that does not exist: see aql.Options.HideDenied.
func (s *Server) onlyVisible(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method != "tools/list" && method != "tools/call" || !s.tooled.Load() {
			return next(ctx, method, request)
		}
		caller, err := s.seer(ctx, request)
		if err != nil {
			return nil, err
		}
		all := s.adapter.Tools()
		visible := toolsByName(s.adapter.ToolsFor(aql.WithCaller(ctx, caller)))
		if call, ok := request.(*mcp.CallToolRequest); ok && isHidden(call.Params.Name, all, visible) {
			message := fmt.Sprintf("unknown tool %q", call.Params.Name)
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
		}
		result, err := next(ctx, method, request)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		seen := *list
		seen.Tools = nil
		for _, tool := range list.Tools {
			switch mine, sees := visible[tool.Name]; {
			case sees:
				seen.Tools = append(seen.Tools, toolOf(mine))
			case !isHidden(tool.Name, all, visible): // one of the service's own
				seen.Tools = append(seen.Tools, tool)
			}
		}
		return &seen, nil
	}
}

func toolsByName(tools []describe.Tool) map[string]*describe.Tool {
	byName := make(map[string]*describe.Tool, len(tools))
	for i := range tools {
		byName[tools[i].Name] = &tools[i]
	}
	return byName
}

// isHidden reports whether the adapter has a tool that is not visible.
func isHidden(name string, all []describe.Tool, visible map[string]*describe.Tool) bool {
	if visible[name] != nil {
		return false
	}
	for i := range all {
		if all[i].Name == name {
			return true
		}
	}
	return false
}
