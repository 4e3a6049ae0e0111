package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// adapter is the built example in a process of its own, with a client.
type adapter struct {
	*mcp.ClientSession
	command *exec.Cmd
}

func start(t *testing.T, binary string, args ...string) *adapter {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, append([]string{"-log-level", "warn"}, args...)...)
	command.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &adapter{session, command}
}

func (a *adapter) call(t *testing.T, tool, request string) (answer struct {
	Success bool
	Data    struct {
		TodoID string `json:"todo_id"`
	}
	Error struct {
		Code, Message string
		Details       struct {
			Token string `json:"confirmation_token"`
		}
	}
}) {
	t.Helper()
	result, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(request)})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// An adapter that is killed while somebody thinks about a confirmation goes on where it was: the token is good once,
// what was decided is on record, and the policy holds. What docs/security.md says can be done with the commands, is.
func TestStatePolicyAndAudit(t *testing.T) {
	if _, err := scratch.Root(); err != nil { // the programs below are built from it
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	binary := path("todo")
	run(t, "go", "build", "-o", binary, ".")
	policy := "version: 1\nrules:\n  - name: nobody-purges\n    effect: deny\n    operations: [purge_completed]\n    " +
		"reason: Completed todos are kept\n"
	if err := os.WriteFile(path("policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-db", path("todo.db"), "-state", path("state.db"), "-policy", path("policy.yaml"), "-audit",
		path("audit.log")}

	first := start(t, binary, flags...)
	id := first.call(t, "mcp_aql_create", `{"operation":"create_todo","params":{"title":"Buy milk"}}`).Data.TodoID
	remove := `{"operation":"delete_todo","params":{"todo_id":"` + id + `"}`
	token := first.call(t, "mcp_aql_delete", remove+`}`).Error.Details.Token
	purge := `{"operation":"purge_completed","params":{"older_than_days":0}}`
	denied := first.call(t, "mcp_aql_delete", purge)
	if denied.Error.Message != "Permission denied: 'Completed todos are kept'" {
		t.Errorf("%+v", denied)
	}
	if err := first.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	second := start(t, binary, flags...)
	if done := second.call(t, "mcp_aql_delete", remove+`,"_confirmation":"`+token+`"}`); !done.Success {
		t.Errorf("after the kill: %+v", done)
	}
	if again := second.call(t, "mcp_aql_delete",
		remove+`,"_confirmation":"`+token+`"}`); again.Error.Code != "TOKEN_ALREADY_USED" {
		t.Errorf("twice: %+v", again)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}

	if out := run(t, "go", "tool", "aql-tag", "audit", "verify", path("audit.log")); !strings.Contains(out, "records") {
		t.Errorf("audit verify: %s", out)
	}
	if out := run(t, "go", "tool", "aql-tag", "policy", "check", "-policy", path("policy.yaml"),
		"./todo"); strings.Contains(out, "error") {
		t.Errorf("policy check: %s", out)
	}
	if out := run(t, "go", "tool", "aql-tag", "policy", "explain", "-policy", path("policy.yaml"), "purge_completed",
		"./todo"); !strings.Contains(out, "nobody-purges") || !strings.Contains(out, "deny") {
		t.Errorf("policy explain: %s", out)
	}
	for _, name := range []string{"state.db", "audit.log"} {
		info, err := os.Stat(path(name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if text, err := os.ReadFile(path(name)); err != nil || strings.Contains(string(text), token) {
			t.Errorf("%s holds a token, or cannot be read: %v", name, err)
		}
	}
}
