package browser

import (
	"context"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/runtime/identity"
)

// freeAddress returns an address of this machine on which nobody listens.
func freeAddress(ctx context.Context, t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// wantsDeletion has the agent create a todo, and ask for its deletion. It returns the parameters of that.
func (a *adapter) wantsDeletion() (params string) {
	a.t.Helper()
	created := a.call("mcp_aql_create", "create_todo", `{"title":"Buy milk"}`)
	params = `{"todo_id":"` + regexp.MustCompile(`todo_[a-z2-7]{26}`).FindString(created) + `"}`
	if told := a.call("mcp_aql_delete", "delete_todo", params); !strings.Contains(told, "CONFIRMATION_REQUIRED") {
		a.t.Fatalf("the agent is told %s", told)
	}
	return params
}

// Two processes have one state and one address for the console. The one that serves it is killed while a page is open:
// the other one serves it, and the page, which nobody loads again, shows what waits by then. Its session is good still.
func TestKilledWhileAPageIsOpen(t *testing.T) {
	b, dir := open(t), t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), longest)
	defer stop()
	program := build(ctx, t, filepath.Join(dir, "todo"), ".")
	state, address := filepath.Join(dir, "state.db"), freeAddress(ctx, t)
	choose(ctx, t, dir, "./todo operator passphrase -state state.db")
	begin := func() *adapter {
		return startAdapter(ctx, t, program, "-db", filepath.Join(dir, "todo.db"), "-state", state, "-human-only",
			"-console", address)
	}
	first := begin()
	at := first.logs(`"serving the console" url=(\S+)\n`)
	second := begin()
	if told := second.logs(`"another process serves the console" url=(\S+) `); told != at {
		t.Errorf("the second process says that the console is at %s, and it is at %s", told, at)
	}
	b.visit(at)
	b.types("#name", identity.Owner().Subject)
	b.types("#passphrase", secretWord)
	b.click("main button")
	second.wantsDeletion()
	b.waitForText("1 item at")
	run(b, chromedp.Evaluate[bool](`window.sameAsBefore = true`))

	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	params := second.wantsDeletion()
	if again := second.logs(`"serving the console" url=(\S+)\n`); again != at {
		t.Errorf("then the console is at %s, and was at %s", again, at)
	}
	b.waitForText("2 items at")
	if !run(b, chromedp.Evaluate[bool](`window.sameAsBefore === true`)) {
		t.Error("the page was loaded again")
	}
	b.click("#rows li:last-child h3 a")
	b.waitFor("button[value=approve]")
	b.click("button[value=approve]")
	b.waitForText("delete_todo is approved.")
	if done := second.call("mcp_aql_delete", "delete_todo", params); !strings.Contains(done, `"success":true`) {
		t.Errorf("after the approval the agent is told %s", done)
	}
	if err := second.client.Close(); err != nil {
		t.Error(err)
	}
}
