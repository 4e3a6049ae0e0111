package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shared is a store that several processes of a test open; closing it is only counted.
type shared struct {
	store.Memory
	opened, closed atomic.Int32
}

func (s *shared) Close() error { s.closed.Add(1); return nil }

func (s *shared) driver() store.Driver {
	return store.Driver{Scheme: "test", Open: func(context.Context, string) (store.Store, error) {
		s.opened.Add(1)
		return s, nil
	}}
}

// client is an adapter that runs in the test, over a pair of pipes, and a client of it.
type client struct {
	*mcp.ClientSession
	stderr *safeBuffer
	code   chan int
}

func run(t *testing.T, options Options, args ...string) *client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{stderr: new(safeBuffer), code: make(chan int, 1)}
	options.Name = "notes"
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "delete_note", Category: gen.Delete, Danger: gen.Destructive, Returns: "Nothing", Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}})
	env := environment{stdin: fromClient, stdout: toClient, stderr: c.stderr, lookup: lookup(nil)}
	go func() {
		c.code <- env.run(t.Context(), registry, options, args)
		toClient.Close()
	}()
	var err error
	c.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.stderr)
	}
	return c
}

func (c *client) end(t *testing.T) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if code := <-c.code; code != exitOK {
		t.Errorf("exit code %d:\n%s", code, c.stderr)
	}
}

func (c *client) remove(t *testing.T, token string) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "mcp_aql_delete", Arguments: json.RawMessage(`{"operation":"delete_note","_confirmation":"` + token + `"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func tokenIn(t *testing.T, answer string) string {
	t.Helper()
	at := strings.Index(answer, "conf_")
	if at < 0 {
		t.Fatalf("no token in %s", answer)
	}
	return answer[at : at+48]
}

// With a store, a token is valid in the next process, and consumed in all of them.
func TestStateOutlivesTheProcess(t *testing.T) {
	state := new(shared)
	options := Options{Stores: []store.Driver{state.driver()}}
	first := run(t, options, "-state", "test://x")
	token := tokenIn(t, first.remove(t, ""))
	first.end(t)
	second, third := run(t, options, "-state", "test://x"), run(t, options, "-state", "test://x")
	if got := second.remove(t, token); !strings.Contains(got, `"success":true`) {
		t.Errorf("in the next process: %s", got)
	}
	if got := third.remove(t, token); !strings.Contains(got, "TOKEN_ALREADY_USED") {
		t.Errorf("in another one: %s", got)
	}
	second.end(t)
	third.end(t)
	if state.opened.Load() != 3 || state.closed.Load() != 3 {
		t.Errorf("opened %d times, closed %d times", state.opened.Load(), state.closed.Load())
	}
}

// C9: processes that share a state key, an old one too, share confirmations. To one that has another key, or none, the
// state says nothing that allows.
func TestStateKeys(t *testing.T) {
	state := new(shared)
	options := Options{Stores: []store.Driver{state.driver()}}
	dir := t.TempDir()
	key := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat(name, 32)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := key("a"), key("b")
	first := run(t, options, "-state", "test://x", "-state-key", a)
	token := tokenIn(t, first.remove(t, ""))
	first.end(t)
	for _, keys := range []string{"", b} {
		other := run(t, options, "-state", "test://x", "-state-key", keys)
		if got := other.remove(t, token); !strings.Contains(got, "state is unavailable, so the operation was not run") {
			t.Errorf("with the keys %q: %s", keys, got)
		}
		other.end(t)
	}
	rotated := run(t, options, "-state", "test://x", "-state-key", b+", "+a)
	if got := rotated.remove(t, token); !strings.Contains(got, `"success":true`) {
		t.Errorf("with the old key after the new one: %s", got)
	}
	rotated.end(t)
}

// What is wrong with the files of -state-key is said, and nothing is served.
func TestStateKeyFiles(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		"nowhere": "-state-key: reading the key file nowhere: ", short: "it does not have from 32 to 4096 bytes",
		short + ",": "it does not have from", ",": "-state-key: a comma has no file before or behind it",
	} {
		options := Options{}
		_, _, err := settings{state: memory, stateKey: given}.prepare(t.Context(), &options, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// hangUp sends this process the signal with which its adapters read their policies again.
func hangUp(t *testing.T) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A policy is read again when it changes, or on SIGHUP; one with mistakes changes nothing and is logged.
func TestPolicyIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("version: 1\nrules:\n  - {name: stop, effect: deny, operations: [delete_note], reason: Not on Sundays}\n")
	c := run(t, Options{}, "-policy", path)
	defer c.end(t)
	becomes := func(want, logged string) {
		t.Helper()
		for !strings.Contains(c.remove(t, ""), want) || !strings.Contains(c.stderr.String(), logged) {
			time.Sleep(5 * time.Millisecond)
		}
	}
	becomes("Not on Sundays", "")
	write("version: 1\ndefault: allow\n")
	becomes("CONFIRMATION_REQUIRED", "the policy was reloaded") // by looking at the file
	write("version: 1\nrules:\n  - {name: stop, effect: deny, operations: [delete_notes]}\n")
	hangUp(t)
	becomes("CONFIRMATION_REQUIRED", "the one before it stays in force")
	write("version: 1\nrules:\n  - {name: stop, effect: deny, operations: [delete_note], reason: Not today}\n")
	hangUp(t)
	becomes("Not today", "")
}

// A rule that needs two people is warned of where the state is a file, which one user writes.
func TestRulesForSeveralPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		state string
		count int
		warns bool
	}{
		"a file":                  {"state.db", 2, true},
		"a file, and one person":  {"state.db", 1, false},
		"a server":                {"postgres://db.example/notes", 2, false},
		"memory, with no command": {memory, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			settings{state: tt.state}.warnOfOnePerson(&policy.Policy{Rules: []policy.Rule{
				{Name: "free", Effect: policy.Allow},
				{Name: "two", Effect: policy.Confirm, Approvers: &policy.Approvers{Count: tt.count}},
			}}, slog.New(slog.NewTextHandler(&logged, nil)))
			if got := strings.Contains(logged.String(), "rule=two people=2"); got != tt.warns {
				t.Errorf("warned: %v, want %v: %s", got, tt.warns, &logged)
			}
		})
	}
}

// REQ-AU-06: what happened is in the file, in a chain that holds over several processes.
func TestAuditFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	for range 2 {
		c := run(t, Options{}, "-audit", path)
		token := tokenIn(t, c.remove(t, ""))
		c.remove(t, token)
		c.remove(t, token)
		c.end(t)
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), token) {
			t.Errorf("the record holds a token, or nothing: %v", err)
		}
	}
	summary, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Asked and issued; validated, granted and finished; denied and rejected.
	if summary.Records != 2*7 {
		text, _ := os.ReadFile(path)
		t.Errorf("%d records:\n%s", summary.Records, text)
	}
}

// A flag overrides the service's own default, also -state memory.
func TestStateInMemoryWins(t *testing.T) {
	for given, kept := range map[bool]bool{true: false, false: true} {
		options := Options{Adapter: aql.Options{State: new(store.Memory)}}
		s := settings{state: memory, given: map[string]bool{"state": given}}
		if _, _, err := s.prepare(t.Context(), &options, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		if (options.Adapter.State != nil) != kept {
			t.Errorf("-state memory given: %v; the service's own store is in use: %v", given, options.Adapter.State != nil)
		}
	}
}

// C11: with -audit-key the chain has a key, so that who can write the file cannot write a chain that verifies. The file
// is rotated, and what is wrong with the key is said.
func TestAuditKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	keyed := func(text string) []byte { return []byte(strings.TrimSpace(text)) }
	a, b := strings.Repeat("a", 32)+"\n", strings.Repeat("b", 64)
	keyFile, other := file("a.key", a), file("b.key", b)
	for range 2 {
		c := run(t, Options{AuditSize: 2000, AuditKey: keyed(b)}, "-audit", path, "-audit-key", keyFile)
		c.remove(t, tokenIn(t, c.remove(t, "")))
		c.end(t)
	}
	summary, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: keyed(a)})
	if err != nil || summary.Records < 2*5 || summary.Files < 2 {
		t.Errorf("%+v, %v", summary, err)
	}
	for _, key := range [][]byte{nil, keyed(b)} {
		if _, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: key}); err == nil {
			t.Errorf("it verifies with the key %q", key)
		}
	}
	byOption := filepath.Join(dir, "option.log")
	c := run(t, Options{AuditKey: keyed(b)}, "-audit", byOption)
	c.remove(t, "")
	c.end(t)
	if _, err := audit.VerifyFile(t.Context(), byOption, audit.VerifyOptions{Key: keyed(b)}); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-audit", path}, "-audit: opening the audit file " + path + ": its last record: it was written with a key"},
		{[]string{"-audit", path, "-audit-key", other}, "written with another key"},
		{[]string{"-audit", path, "-audit-key", "nowhere"}, "-audit-key: reading the key file nowhere: "},
		{[]string{"-audit", path, "-audit-key", file("short", "short")}, "it does not have from 32 to 4096 bytes"},
		{[]string{"-audit-key", keyFile}, "-audit-key: there is no -audit"},
	} {
		var stderr safeBuffer
		env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr, lookup: lookup(nil)}
		if code := env.run(t.Context(), gen.NewRegistry(nil, nil), Options{Name: "notes"}, tt.args); code != exitUsage ||
			!strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%v: exit code %d, %s", tt.args, code, stderr.String())
		}
	}
}
