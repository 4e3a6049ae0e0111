package serve

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/observe"
)

// What agents ask for stands in the console, with who has asked and what came of it, and without parameters.
func TestTheConsoleShowsCalls(t *testing.T) {
	options, _ := withConsole(t)
	c := run(t, options, "-state", "test://", "-console", "127.0.0.1:0")
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(c.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
	}
	c.remove(t, "")
	page := get(t, logIn(t, at[1]), at[1]+"calls")
	for _, want := range []string{"delete_note", "(stdio)", `<b class="warn">held</b>`, "CONFIRMATION_REQUIRED"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
}

// A process whose console is elsewhere serves none, and what it is asked for stands in the console of another process
// that has its state. So does the process itself, among the replicas.
func TestTheConsoleShowsCallsOfOtherProcesses(t *testing.T) {
	options, state := withConsole(t)
	serves := run(t, options, "-state", "test://", "-console", "127.0.0.1:0")
	defer serves.end(t)
	c := run(t, options, "-state", "test://", "-console", setup.Elsewhere)
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(serves.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", serves.stderr.String())
	}
	if of := consoleInLog.FindString(c.stderr.String()); of != "" {
		t.Errorf("the other process serves one, too: %s", of)
	}
	if all, err := setup.Places(t.Context(), &state.shared); err != nil || !slices.Equal(all, at[1:]) {
		t.Errorf("the state says that consoles are at %q, %v", all, err)
	}
	c.remove(t, "")
	browser := logIn(t, at[1])
	for !strings.Contains(get(t, browser, at[1]+"calls"), "delete_note") { // it asks at intervals whether somebody looks
		select {
		case <-t.Context().Done():
			t.Fatal("the call is not there")
		case <-time.After(100 * time.Millisecond):
		}
	}
	if page := get(t, browser, at[1]+"health"); strings.Count(page, "this one") != 1 ||
		strings.Count(page, " "+strconv.Itoa(os.Getpid())+"<") != 1 {
		t.Errorf("the replicas are not this one and another:\n%s", page)
	}
}

// The console's hooks are called beside those of the service, and only where it is on: without -console the adapter has
// the hooks that the service has given it, or none, and nothing is allocated for a call.
func TestCallsAreSeenWhereTheConsoleIsOn(t *testing.T) {
	given := &observe.Hooks{}
	for _, of := range []*observe.Hooks{nil, given} {
		options := Options{Adapter: aql.Options{Observe: of}, Console: nothingServed}
		if seen := new(settings).sight(&options); seen != nil || options.Adapter.Observe != of {
			t.Errorf("without a console, %v sees calls, and the hooks are %v", seen, options.Adapter.Observe)
		}
	}
	per := make(map[string]float64)
	for _, at := range []string{"", "127.0.0.1:9090"} {
		options := Options{Name: "notes", Console: nothingServed}
		(&settings{console: at}).sight(&options).show(new(setup.Options))
		per[at] = allocations(t, options.Adapter)
	}
	if bare := allocations(t, aql.Options{}); per[""] != bare {
		t.Errorf("%v allocations without a console, want %v", per[""], bare)
	}
}

func nothingServed(context.Context, string, setup.Options) (func() string, func(), error) {
	return func() string { return "" }, func() {}, nil
}

// allocations returns how many times a call allocates memory.
func allocations(t *testing.T, o aql.Options) float64 {
	t.Helper()
	o.Name = "notes"
	adapter, err := aql.New(registry(nil, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	session, request := adapter.NewSession(), []byte(`{"operation":"look"}`)
	least := math.Inf(1) // other goroutines allocate, too
	for range 20 {
		least = min(least, testing.AllocsPerRun(1, func() { session.Call(t.Context(), "mcp_aql_read", request) }))
	}
	return least
}

// Where the console is off, no goroutine is of it.
func TestAConsoleThatIsOffHasNoGoroutine(t *testing.T) {
	for _, on := range []bool{false, true} {
		options, _ := withConsole(t)
		flags := []string{"-state", "test://"}
		if on {
			flags = append(flags, "-console", "127.0.0.1:0")
		}
		c := run(t, options, flags...)
		c.remove(t, "")
		var stacks strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(stacks.String(), "/runtime/console."); has != on {
			t.Errorf("the console is on: %t, and has a goroutine: %t", on, has)
		}
		c.end(t)
	}
}

// The console tells how the adapter is, by the checks of /readyz.
func TestTheConsoleShowsHealth(t *testing.T) {
	options, _ := withConsole(t)
	options.Version = "v1.4.2"
	rules := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(rules, []byte("version: 1\nrules: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := run(t, options, "-state", "test://", "-human-only", "-console", "127.0.0.1:0", "-policy", rules)
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(c.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
	}
	c.remove(t, "")
	page := get(t, logIn(t, at[1]), at[1]+"health")
	for _, want := range []string{
		"This process is ready for calls.", "v1.4.2", "sha256:", "1 item waits for people.",
		"There is none: nothing is on record.", "The policy in force is that of the file.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
}
