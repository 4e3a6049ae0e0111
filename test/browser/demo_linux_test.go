package browser

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/identity"
)

// build builds a command of the example, and returns the path of the program.
func build(ctx context.Context, t *testing.T, program, command string) string {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	compiler := exec.CommandContext(ctx, "go", "build", "-o", program, command)
	compiler.Dir = filepath.Join(root, example)
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// What make console starts: an agent asks for a deletion, a person decides in the browser, and the agent goes on. The
// documentation has a picture of the person's page.
func TestDemoOfTheConsole(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), longest)
	defer stop()
	adapter := build(ctx, t, filepath.Join(dir, "todo"), ".")
	demo := build(ctx, t, filepath.Join(dir, "demo"), "./demo")
	choose(ctx, t, dir, "./todo operator passphrase -state state.db")
	for _, tt := range []struct{ answer, shown, told string }{
		{"approve", "delete_todo is approved.", "It goes on. The todo is gone."},
		{"deny", "delete_todo is denied.", "It goes on without the deletion."},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			b := open(t)
			run := exec.CommandContext(ctx, demo, "-adapter", adapter, "-dir", dir, "-console", "127.0.0.1:0")
			run.Env = append(run.Environ(), "TZ=UTC")
			stdout, err := run.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			printed := bufio.NewScanner(stdout)
			var at []string
			for at == nil && printed.Scan() {
				at = regexp.MustCompile(`^Decide in a browser, .*: (\S+)$`).FindStringSubmatch(printed.Text())
			}
			if at == nil {
				t.Fatal("the demo does not say where to decide")
			}
			b.visit(at[1])
			b.types("#name", identity.Owner().Subject)
			b.types("#passphrase", secretWord)
			b.click("main button")
			b.waitForText("Delete todo")
			if tt.answer == "approve" {
				holdPictures(b, "demo", `todo_\w{26}`, `\b`+regexp.QuoteMeta(identity.Owner().Subject)+`\b`)
			}
			b.click("button[value=" + tt.answer + "]")
			b.waitForText(tt.shown)
			var rest strings.Builder
			for printed.Scan() {
				rest.WriteString(printed.Text() + "\n")
				if !strings.HasPrefix(printed.Text(), "The console is there until") {
					continue
				}
				b.visit(at[1])
				b.waitForText("delete_todo")
				if err := run.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
			if err := run.Wait(); err != nil || !strings.Contains(rest.String(), tt.told) {
				t.Errorf("%v; then the demo prints\n%s", err, &rest)
			}
		})
	}
}
