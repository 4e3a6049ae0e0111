package mcpserver

import (
	"context"
	"fmt"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// onlyVisible lists the tools that the caller sees, as he sees them and as the policy is now, and answers a call of
// another one like a call of a tool that does not exist: see aql.Options.HideDenied.
func (s *Server) onlyVisible(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		calls := method == "tools/call" && s.adapter.HidesDenied()
		if !calls && method != "tools/list" || !s.tooled.Load() {
			return next(ctx, method, request)
		}
		caller, err := s.seer(ctx, request)
		if err != nil {
			return nil, err
		}
		all := toolsByName(s.adapter.Tools())
		visible := toolsByName(s.adapter.ToolsFor(aql.WithCaller(ctx, caller)))
		call, ok := request.(*mcp.CallToolRequest)
		if ok && all[call.Params.Name] != nil && visible[call.Params.Name] == nil {
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
			if mine := visible[tool.Name]; mine != nil {
				seen.Tools = append(seen.Tools, toolOf(mine))
			} else if all[tool.Name] == nil { // one of the service's own
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
