package mcpserver

import (
	"context"
	"errors"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// D5: what a server does not declare it does not answer, and it declares no notifications that it never sends.
func TestOnlyWhatIsDeclaredIsAnswered(t *testing.T) {
	prompt := func(server *mcp.Server) {
		greet := func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		}
		server.AddPrompt(&mcp.Prompt{Name: "greet"}, greet)
	}
	var kept *mcp.Server
	for _, tt := range []struct {
		name        string
		setup       func(*mcp.Server)
		prompts     bool
		listChanged bool
	}{
		{"the adapter alone", nil, false, false},
		{"tools of the service's own, which may change", func(*mcp.Server) {}, false, true},
		{"prompts of the service's own", prompt, true, true},
		{"prompts that come later", func(server *mcp.Server) { kept = server }, true, true},
	} {
		for _, version := range []string{"", "2025-11-25"} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				kept = nil
				server := newServerOf(t, aql.Options{}, Options{Setup: tt.setup}, nil)
				session := inMemory(t, server, version)
				if kept != nil {
					prompt(kept) // after the client has begun
				}
				capabilities := session.InitializeResult().Capabilities
				if capabilities.Tools == nil || capabilities.Tools.ListChanged != tt.listChanged ||
					(capabilities.Prompts != nil) != (tt.prompts && kept == nil) {
					t.Errorf("capabilities %+v, tools %+v", capabilities, capabilities.Tools)
				}
				_, err := session.ListPrompts(t.Context(), nil)
				if tt.prompts != (err == nil) {
					t.Errorf("listing prompts: %v", err)
				}
				//nolint:staticcheck // deprecated, and still asked for
				if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); !isNotFound(err) {
					t.Errorf("setting the level of logs: %v", err)
				}
				_, err = session.Complete(t.Context(), &mcp.CompleteParams{
					Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "x"},
				})
				if !isNotFound(err) {
					t.Errorf("completing: %v", err)
				}
				if _, err := session.ListTools(t.Context(), nil); err != nil {
					t.Errorf("listing tools: %v", err)
				}
			})
		}
	}
}

func isNotFound(err error) bool {
	var reported *jsonrpc.Error
	return errors.As(err, &reported) && reported.Code == jsonrpc.CodeMethodNotFound
}
