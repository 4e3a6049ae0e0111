//go:build unix

package pages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

// The set-up of the dongle on the page about the safety loop: the command in the settings of the client refuses what
// the page says, and lets pass what a person has approved of.
func TestSafety(t *testing.T) {
	const page = "docs/safety.md"
	r := newModule(t)
	if _, err := r.shell.run("export GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE)\n" +
		"export HOME=$PWD GOBIN=$PWD/bin PATH=$PWD/bin:$PATH"); err != nil {
		t.Fatal(err)
	}
	blocks := read(t, page)
	install := slices.IndexFunc(blocks, func(b Block) bool { return strings.Contains(b.Text, "go install") })
	blocks = blocks[install:]
	connect := slices.IndexFunc(blocks, func(b Block) bool { return strings.Contains(b.Text, "claude mcp add") })
	settings := slices.IndexFunc(blocks, func(b Block) bool { return strings.Contains(b.Text, "PreToolUse") })
	r.follow(page, slices.Delete(slices.Clone(blocks[:connect+1]), settings, settings+1))

	var configured struct {
		Hooks struct {
			PreToolUse []struct{ Hooks []struct{ Command string } }
		}
	}
	if err := json.Unmarshal([]byte(blocks[settings].Text), &configured); err != nil {
		t.Fatal(err)
	}
	command := configured.Hooks.PreToolUse[0].Hooks[0].Command
	hook := func(tool, input string) string {
		t.Helper()
		message := `{"hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `}`
		if err := os.WriteFile(filepath.Join(r.dir, "message.json"), []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		printed, err := r.shell.run("(" + command + ") < message.json || echo exit code $?")
		if err != nil {
			t.Fatal(err)
		}
		return printed
	}
	state, err := sqlite.Open(t.Context(), filepath.Join(r.dir, ".aql-dongle", "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	inbox := approve.New(state)
	items, err := inbox.List(t.Context())
	if err != nil || len(items) != 1 {
		t.Fatalf("%v, %v", items, err)
	}
	vote := func(id string, approves bool) {
		t.Helper()
		_, err := inbox.Vote(t.Context(), id, approve.Vote{
			By: identity.Caller{Subject: "olga"}, Channel: "test", Approve: approves, At: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	vote(items[0].ID, true)
	for _, input := range []string{`{"file_path":"/etc/hosts"}`, `{"file_path":"a.go"}`} {
		if printed := hook("Read", input); printed != "{}\n" {
			t.Errorf("reading %s does not pass: %s", input, printed)
		}
	}
	for _, tt := range []struct{ tool, input string }{
		{"Read", `{"file_path":"/home/ann/.ssh/id_ed25519"}`}, {"Read", `{"file_path":"/srv/app/.env.production"}`},
		{"Bash", `{"command":"git --no-pager push"}`}, {"Bash", `{"command":"cd x && git -c a=b push origin"}`},
	} {
		printed := hook(tt.tool, tt.input)
		if !strings.Contains(printed, "a person has to approve of it first") {
			t.Fatalf("%s %s: %s", tt.tool, tt.input, printed)
		}
		vote(regexp.MustCompile(`ask_[A-Z2-7]+`).FindString(printed), false)
	}
	for _, tt := range []struct{ tool, input, want string }{
		{"Edit", `{"file_path":"/home/ann/.claude/settings.json","new_string":""}`, "a person has to approve of it first"},
		{"Bash", `{"command":"ls"}`, "something else waits for a person first"},
	} {
		printed := hook(tt.tool, tt.input)
		if !strings.Contains(printed, tt.want) || !strings.HasSuffix(printed, "exit code 2\n") {
			t.Errorf("%s %s: %s", tt.tool, tt.input, printed)
		}
	}
}
