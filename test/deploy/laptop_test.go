//go:build unix

package deploy

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The page about a laptop: what connect prints starts the adapter, and what an agent asks for then waits for a person.
func TestLaptopPage(t *testing.T) {
	const page = "docs/deploy-laptop.md"
	if testing.Short() {
		t.Skip("builds the example")
	}
	need(t, "sqlite3", "sqlite3")
	m := newMachine(t, nil)
	m.work = filepath.Join(repository(t), "examples", "todo")
	m.places = append(m.places, "127.0.0.1:9090", "127.0.0.1:0") // whose port may belong to another program
	before, rest := split(t, blocks(t, page), "operator list")
	printed := m.do(page, before...)
	var configured struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	_, text, _ := strings.Cut(printed, "{") // the log of the adapter that is asked for its name is before it
	text = "{" + text[:strings.LastIndex(text, "}")+1]
	if err := json.Unmarshal([]byte(text), &configured); err != nil || configured.Servers["todo"].Command == "" {
		t.Fatalf("%v:\n%s", err, printed)
	}
	server := configured.Servers["todo"]
	conversation := talk(t, server.Command, server.Args,
		`{"operation":"create_todo","params":{"title":"Pay the rent"}}`,
		`{"operation":"purge_completed","params":{"older_than_days":1}}`)
	if !strings.Contains(conversation, "CONFIRMATION_REQUIRED") {
		t.Errorf("nothing waits for a person:\n%s", conversation)
	}
	printed = m.do(page, rest...)
	for _, want := range []string{"purge_completed", "ok, "} {
		if !strings.Contains(printed, want) {
			t.Errorf("the page does not show %q:\n%s", want, printed)
		}
	}
	if _, err := os.Stat(filepath.Join(m.home(), "todo-backup.db")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(m.home(), ".todo")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others can look into the folder: %v, %v", info, err)
	}
}

// talk starts an adapter on stdio, calls operations, and returns what it answers.
func talk(t *testing.T, program string, arguments []string, requests ...string) (answers string) {
	t.Helper()
	arguments = append(arguments, "-mode", "single")
	command := exec.CommandContext(t.Context(), program, arguments...)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	messages := []string{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"page","version":"1"}}}`}
	for _, request := range requests {
		messages = append(messages,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql","arguments":`+request+`}}`)
	}
	lines := bufio.NewScanner(out)
	for _, message := range messages {
		if _, err := in.Write([]byte(message + "\n")); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer to %s: %v", message, lines.Err())
		}
		answers += lines.Text() + "\n"
	}
	in.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	return answers
}
