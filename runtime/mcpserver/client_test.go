package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client is asked with a form, and only one that shows forms can be.
func TestClientsWithoutFormsAreNotAsked(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{}`:                                   false,
		`{"elicitation":{}}`:                   true,
		`{"elicitation":{"form":{}}}`:          true,
		`{"elicitation":{"form":{},"url":{}}}`: true,
		`{"elicitation":{"url":{}}}`:           false,
	} {
		var declared mcp.ClientCapabilities
		if err := json.Unmarshal([]byte(capabilities), &declared); err != nil {
			t.Fatal(err)
		}
		if got := clientOf(&mcp.InitializeParams{Capabilities: &declared}).elicits; got != want {
			t.Errorf("a session with %s: %v", capabilities, got)
		}
		read := readClient(&rpc.Meta{Version: sessionless, Capabilities: capabilities})
		if read == nil || read.elicits != want {
			t.Errorf("a call with %s: %+v", capabilities, read)
		}
	}
}
