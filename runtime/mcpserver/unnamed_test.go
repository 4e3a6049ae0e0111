package mcpserver

import (
	"strings"
	"testing"
)

// A call that names no tool is answered as other calls whose params are not valid. (Without a session, the transport
// demands the name in a header first.)
func TestUnnamedTool(t *testing.T) {
	url := httpServer(t, newServer(t, Options{}, nil)).URL
	headers := map[string]string{"Mcp-Session-Id": begin(t, url, nil)}
	for params, want := range map[string]string{
		`{"arguments":{}}`:           unnamedTool,
		`{"name":"","arguments":{}}`: unnamedTool,
		`{"name":[]}`:                "params of 'tools/call' are not valid",
		`{"name":"nothing"}`:         `unknown tool \"nothing\"`,
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
		status, message := answered(t, post(t, url, body, headers))
		if !strings.Contains(message, want) || !strings.Contains(message, `"code":-32602`) {
			t.Errorf("%s: %d %s", params, status, message)
		}
	}
}
