package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// adapter is a process of the example, with an agent before it.
type adapter struct {
	*exec.Cmd
	t      *testing.T
	ctx    context.Context
	client *mcp.ClientSession

	mu   sync.Mutex
	text strings.Builder // of its log
	more chan struct{}   // receives when the log has more
}

// startAdapter starts the example.
func startAdapter(ctx context.Context, t *testing.T, program string, flags ...string) *adapter {
	t.Helper()
	a := &adapter{t: t, ctx: ctx, Cmd: exec.CommandContext(ctx, program, flags...), more: make(chan struct{}, 1)}
	a.Stderr = a
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	var err error
	if a.client, err = client.Connect(ctx, &mcp.CommandTransport{Command: a.Cmd}, nil); err != nil {
		t.Fatal(err)
	}
	return a
}

// Write receives the log.
func (a *adapter) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text.Write(text)
	select {
	case a.more <- struct{}{}:
	default:
	}
	return len(text), nil
}

// logs waits until the log matches an expression, and returns the group of that.
func (a *adapter) logs(expression string) string {
	a.t.Helper()
	for match := regexp.MustCompile(expression); ; {
		a.mu.Lock()
		text := a.text.String()
		a.mu.Unlock()
		if found := match.FindStringSubmatch(text); found != nil {
			return found[1]
		}
		select {
		case <-a.more:
		case <-a.ctx.Done():
			a.t.Fatalf("the log does not match %s:\n%s", expression, text)
		}
	}
}

// call has the agent call an operation, and returns the answer.
func (a *adapter) call(tool, operation, params string) string {
	a.t.Helper()
	arguments := json.RawMessage(fmt.Sprintf(`{"operation":%q,"params":%s}`, operation, params))
	result, err := a.client.CallTool(a.ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}
