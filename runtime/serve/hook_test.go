package serve

import (
	"bytes"
	"flag"
	"io"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/toolhook"
)

// The subcommand hook has the state and the mode of the adapter, and closes what it has opened. Whatever is wrong with
// its command line refuses the tool use; without the option there is no such subcommand.
func TestHook(t *testing.T) {
	const message = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	state, closed := new(shared), 0
	options := Options{
		Name: "notes", Stores: []store.Driver{state.driver()}, Operator: operator.Command{}, Hook: toolhook.Command{},
		Adapter: aql.Options{Loop: new(aql.Loop)}, Close: func() error { closed++; return nil },
	}
	hook := func(options Options, mode string, args ...string) (code int, printed string) {
		var out bytes.Buffer
		env := environment{
			stdin: strings.NewReader(message), stdout: &out, stderr: &out,
			lookup: lookup([]string{"MCP_AQL_SAFETY_LOOP=" + mode}),
		}
		code = env.run(t.Context(), gen.NewRegistry(nil, nil), options, args)
		return code, out.String()
	}
	where := []string{"hook", "-agent", "bot", "-state", "test://"}
	if code, printed := hook(options, "logging", where...); code != toolhook.Passed || printed != "{}\n" || closed != 1 {
		t.Errorf("code %d, closed %d times: %s", code, closed, printed)
	}
	for name, tt := range map[string]struct {
		mode string
		args []string
		want string
	}{
		"a mode that is none":   {"strict", where, "cannot be asked"},
		"no place for codes":    {"enforcing", where, "cannot be asked"},
		"state in memory":       {"logging", where[:3], "cannot be asked"},
		"a flag that is none":   {"logging", append([]string{"-x"}, where...), "not defined: -x"},
		"one behind it":         {"logging", append(where, "-x"), "the command of the hook is wrong"},
		"a word behind it":      {"logging", append(where, "x"), "unexpected argument"},
		"a word before it":      {"logging", append([]string{"x"}, where...), "unexpected argument"},
		"help, for no tool use": {"logging", []string{"hook", "-h"}, "-agent NAME"},
		"help before it":        {"logging", append([]string{"-help"}, where...), "hook -h"},
		"no word":               {"logging", where[1:], "not defined: -agent"},
		"a misspelt word":       {"logging", append([]string{"Hook"}, where[1:]...), "unexpected argument"},
	} {
		code, printed := hook(options, tt.mode, tt.args...)
		if code != toolhook.Refused || !strings.Contains(printed, tt.want) {
			t.Errorf("%s: code %d, %s", name, code, printed)
		}
	}
	for name, args := range map[string][]string{
		"before it": append([]string{"-version"}, where...), "behind it": append(where, "-version"),
	} {
		if code, printed := hook(options, "strict", args...); code != toolhook.Refused {
			t.Errorf("the version %s: code %d, %s", name, code, printed)
		}
		if code, printed := hook(options, "logging", args...); code != toolhook.Passed || printed != "{}\n" {
			t.Errorf("the version %s: code %d, %s", name, code, printed)
		}
	}
	set := flag.NewFlagSet("notes", flag.ContinueOnError) // of a service that parses its flags itself
	Flags(set)
	if err := set.Parse([]string{"Hook"}); err != nil {
		t.Fatal(err)
	}
	env := environment{stdin: strings.NewReader(message), stdout: io.Discard, stderr: io.Discard, lookup: lookup(nil)}
	if code := env.serve(t.Context(), gen.NewRegistry(nil, nil), options, set); code != toolhook.Refused {
		t.Errorf("a misspelt word, of flags that were parsed: code %d", code)
	}
	for _, asks := range []string{"-help", "-version"} {
		if code, printed := hook(options, "logging", asks); code != exitOK {
			t.Errorf("%s: code %d, %s", asks, code, printed)
		}
	}
	options.Hook = nil
	code, printed := hook(options, "logging", where...)
	if code != exitUsage || !strings.Contains(printed, "unexpected argument") {
		t.Errorf("without the option: code %d, %s", code, printed)
	}
}
