package conform_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// The script "call" in front of the command makes exit codes visible to scripts.
const callScript = "#!/bin/sh\naql-tag call \"$@\"\ncode=$?\necho \"exit code $code\" >&2\n"

// "aql-tag call" as people meet it: each script in testdata/call is a session with the built example, with servers that
// deviate as real ones do, and with hostile ones. A script finds
//
//   - the programs todo, hostile, and call, which says the exit code
//   - the URLs $PEOPLE and $PEOPLE_SESSIONS (both eras), of an adapter that asks people in place of giving tokens
//   - the URLs $TODO, $SINGLE (in single mode), $SESSIONS (before protocol version 2026-07-28), $ELEMENTS, $LEDGER,
//     $PLAIN, $DISCRETE (a tool for each operation), $ELSEWHERE (redirects to another origin) and $GUARDED (wants a
//     token)
func TestCall(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "github.com/aqltag/aqltag/cmd/aql-tag")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hostile := fmt.Sprintf("#!/bin/sh\n%s=\"$1\" exec %q\n", hostileEnv, self)
	for name, text := range map[string]string{"call": callScript, "hostile": hostile} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary(t), filepath.Join(bin, "todo")); err != nil {
		t.Fatal(err)
	}
	todo := serve(t)
	before, sessions := beforeSessionless(t, todo)
	urls := map[string]string{
		"TODO": todo, "SINGLE": serve(t, "-mode", "single"), "SESSIONS": before, "ELEMENTS": overHTTP(t, newElements()),
		"LEDGER": overHTTP(t, newLedger()), "PLAIN": overHTTP(t, newPlain()), "DISCRETE": overHTTP(t, newDiscrete()),
		"GUARDED": guarded(t, todo), "PEOPLE": peopleOnly(t),
	}
	urls["PEOPLE_SESSIONS"], _ = beforeSessionless(t, urls["PEOPLE"])
	urls["ELSEWHERE"] = redirecting(t, urls["GUARDED"])
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 filepath.Join("testdata", "call"),
			RequireExplicitExec: true,
			UpdateScripts:       *update,
			Setup: func(env *testscript.Env) error {
				env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
				for name, address := range urls {
					env.Setenv(name, address)
				}
				return nil
			},
		})
	})
	t.Run("sessions", func(t *testing.T) {
		if sessions.Load() == 0 {
			t.Error("no request had a session, so that no script spoke a version before 2026-07-28")
		}
	})
}

// overHTTP serves an MCP server and returns its endpoint.
func overHTTP(t *testing.T, server *mcp.Server) string {
	t.Helper()
	over := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(over.Close)
	return over.URL
}

// beforeSessionless forwards requests of protocol versions with sessions to an endpoint, refuses others, and counts the
// requests with a session.
func beforeSessionless(t *testing.T, endpoint string) (string, *atomic.Int64) {
	t.Helper()
	var sessions atomic.Int64
	forward := forwardTo(t, endpoint)
	over := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			http.Error(w, "Bad Request: Unsupported protocol version", http.StatusBadRequest)
			return
		}
		if r.Header.Get("Mcp-Session-Id") != "" {
			sessions.Add(1)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(over.Close)
	return over.URL + "/mcp", &sessions
}

// guarded forwards requests with the bearer token "secret" to an endpoint.
func guarded(t *testing.T, endpoint string) string {
	t.Helper()
	forward := forwardTo(t, endpoint)
	over := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(over.Close)
	return over.URL + "/mcp"
}

// peopleOnly serves the example with confirmations that only people give, by MCP elicitation.
func peopleOnly(t *testing.T) string {
	t.Helper()
	service, err := todo.Open(todo.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{
		Name: "todo", Version: "1.0.0", Confirmation: aql.Confirmation{HumanOnly: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{Elicit: true})
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	over := httptest.NewServer(handler)
	t.Cleanup(over.Close)
	return over.URL + "/mcp"
}

// redirecting redirects all requests to another origin.
func redirecting(t *testing.T, endpoint string) string {
	t.Helper()
	over := httptest.NewServer(http.RedirectHandler(endpoint, http.StatusTemporaryRedirect))
	t.Cleanup(over.Close)
	return over.URL + "/mcp"
}

// newDiscrete returns an MCP server without MCP-AQL: a tool for each operation, one that destroys, one that says
// nothing of itself, and one whose description would change what a terminal shows.
func newDiscrete() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "discrete", Version: "7"}, nil)
	tools := []struct {
		name, description string
		annotations       *mcp.ToolAnnotations
		answer            reply
	}{
		{"look", "Looks. It changes nothing.", &mcp.ToolAnnotations{ReadOnlyHint: true},
			reply{texts: []string{`{"z":1,"a":{"n":9007199254740993}}`}}},
		{"say", "Says \x1b[31m\u202ehello.", &mcp.ToolAnnotations{ReadOnlyHint: true},
			reply{texts: []string{"hello\x1b[2J\nworld\n"}}},
		{"wipe", "Wipes.", &mcp.ToolAnnotations{DestructiveHint: new(true)}, reply{texts: []string{"wiped"}}},
		{"touch", "Touches.", nil, reply{texts: []string{"touched"}}},
		{"fail", "Fails.", &mcp.ToolAnnotations{ReadOnlyHint: true},
			reply{isError: true, texts: []string{"it is \x1b[31mbroken"}}},
	}
	for _, tool := range tools {
		s.AddTool(&mcp.Tool{Name: tool.name, Description: tool.description, Annotations: tool.annotations,
			InputSchema: map[string]any{"type": "object", "required": []string{"id"}, "properties": map[string]any{
				"id": map[string]any{"type": "string", "description": "Which one"}, "n": map[string]any{"type": "integer"},
			}}}, answering(tool.answer))
	}
	return s
}

// whenCalled answers introspect with an operation, and hangs or dies when that is called.
func whenCalled(how string, arguments json.RawMessage) string {
	if strings.Contains(string(arguments), `"introspect"`) {
		return `{"success":true,"data":{"operations":[{"name":"wait","semantic_category":"READ"}],` +
			`"operation":{"name":"wait","semantic_category":"READ","parameters":[]}}}`
	}
	if how == "dies when called" {
		fmt.Fprintln(os.Stderr, "panic: out of \x1b[31mluck")
		os.Exit(3)
	}
	select {}
}
