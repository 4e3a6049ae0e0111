package mcpserver

import (
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A task says what its execution waits for, and has a page where there is an item to decide about, and only there.
func TestWhatTasksWaitFor(t *testing.T) {
	s := &Server{options: Options{ApprovalURL: func(id string) string { return "https://example.com/" + id }}}
	opens := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
	for name, tt := range map[string]struct {
		waits   aql.ExecutionWait
		message string
		page    bool
	}{
		"for an operator": {
			aql.ExecutionWait{Name: "q", Operator: true, Message: "May I?", Approval: "ask_1"},
			"An operator was asked: May I?", true,
		},
		"for room in the inbox": {
			aql.ExecutionWait{Name: "q", Operator: true, Message: "May I?"}, "It waits for room to ask an operator", false,
		},
		"for its caller": {
			aql.ExecutionWait{Name: "folder", Type: "object"}, "It waits for folder, which answer_execution answers", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := messageOf(&aql.Execution{WaitsFor: &tt.waits}); got != tt.message {
				t.Errorf("%q, want %q", got, tt.message)
			}
			w := wire.NewWriter(nil)
			s.writeQuestion(w, opens, &tt.waits)
			if got := w.Len() > 0; got != tt.page {
				t.Errorf("%s", w.Bytes())
			}
		})
	}
}
