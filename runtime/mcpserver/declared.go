package mcpserver

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// declared returns the capabilities of a server without Options.Setup. Its tools never change while it runs, other than
// those that a caller sees, of which clients are not told.
func declared() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}}
}

// checkDeclared returns an error for a method of a capability that the server does not declare. The SDK would answer it
// with an empty list.
func (s *Server) checkDeclared(method string) error {
	capabilities := s.declared.Load()
	var has bool
	switch family, _, _ := strings.Cut(method, "/"); family {
	case "prompts":
		has = capabilities.Prompts != nil
	case "resources":
		has = capabilities.Resources != nil
	case "completion":
		has = capabilities.Completions != nil
	case "logging":
		has = capabilities.Logging != nil
	default:
		return nil
	}
	if has {
		return nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method '" + method + "' is not supported"}
}

// noteDeclared remembers what the server declared: Options.Setup may keep the server, and add to it later.
func (s *Server) noteDeclared(result mcp.Result) {
	switch result := result.(type) {
	case *mcp.InitializeResult:
		s.declared.Store(result.Capabilities)
	case *mcp.DiscoverResult:
		s.declared.Store(result.Capabilities)
	}
}
