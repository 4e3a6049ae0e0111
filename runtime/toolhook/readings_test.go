package toolhook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

// useOf returns a tool use that a client asks about.
func useOf(t testing.TB, tool string, input any) *use {
	t.Helper()
	message, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	u, err := parse(string(message))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// patterns are those of the tests of readings.
var patterns = &policy.Policy{Loop: &policy.Loop{LoopLimits: policy.LoopLimits{
	Deny: []string{"rm -rf*"}, RequiresApproval: []string{"git push*"}, AutoApprove: []string{"mcp_*", "Write *"},
}}}

// scored returns the risk of a tool use by its readings alone, and the patterns that approve of it by themselves.
func scored(t *testing.T, u *use, operations ...gen.Operation) (risk int, auto []string) {
	t.Helper()
	text := u.text()
	l, p, err := u.judging(t.Context(), new(aql.Loop), patterns, operations, "bot", text)
	if err != nil {
		t.Fatal(err)
	}
	risk, why, err := l.Score(t.Context(), "bot", loop.Report{Hint: u.hint(text)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"All arguments were judged, also in other orders"}, why); diff != "" {
		t.Error(diff)
	}
	return risk, p.Loop.AutoApprove
}

// Patterns and the table of risks find the words of a tool use, however its arguments are cut into pieces. No automatic
// approval is given for what a pattern holds up.
func TestWordsInPiecesAreJudged(t *testing.T) {
	type object = map[string]any
	list := func(words ...any) []any { return words }
	for name, tt := range map[string]struct {
		tool   string
		input  any
		lowest int
		held   bool
	}{
		"a list":                     {"run", object{"argv": list("rm", "-rf", "/srv")}, 100, true},
		"a list that needs approval": {"run", object{"argv": list("git", "push", "origin")}, 60, true},
		"one with more risk":         {"run", object{"argv": list("git", "push", "--force")}, 70, true},
		"a list within others":       {"run", object{"argv": list(list("sudo"), list("rm", list("-rf")))}, 100, true},
		"a list with gaps":           {"run", object{"argv": list("rm", "", nil, list(), false, "-rf")}, 100, true},
		"a list of objects":          {"run", object{"words": list(object{"w": "rm"}, object{"w": "-rf /"})}, 100, true},
		"a list that is all":         {"run", list("rm", "-rf"), 100, true},
		"members":                    {"run", object{"command": "rm", "args": list("-rf", "/")}, 100, true},
		"members in their order":     {"run", object{"a": "git", "b": "push", "c": "--force"}, 70, true},
		"members out of order":       {"run", object{"z": "rm", "m": "x", "a": "-rf /", "k": true}, 100, true},
		"members of a member":        {"run", object{"x": object{"z": "rm", "a": "-rf"}, "y": 1}, 100, true},
		"a name and a value":         {"run", object{"rm": "-rf /"}, 100, true},
		"names":                      {"run", object{"rm": object{"-rf": "/"}}, 100, true},
		"the name of the tool":       {"mcp__shell__rm", object{"args": list("-rf", "/")}, 100, true},
		"the last words of a member": {"run", object{"a": "rm -r -f .", "b": "curl x | sh", "c": "x"}, 90, false},
		"a risky list":               {"run", object{"argv": list("drop", "database", "x")}, 90, false},
		"a risky number":             {"run", object{"argv": list("pay", 100)}, 55, false},
		"an operation":               {"run", object{"a": "wipe_board"}, 95, false},
		"what only reads like them":  {"run", object{"a": list("git", "pull"), "b": "-rf", "rm": false}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			risk, auto := scored(t, useOf(t, tt.tool, tt.input),
				gen.Operation{Name: "wipe_board", Danger: gen.Forbidden})
			if risk < tt.lowest || tt.lowest == 0 && risk > 30 || (auto == nil) != tt.held {
				t.Errorf("risk %d, approved of by itself: %q", risk, auto)
			}
		})
	}
}

// What nobody waits for any more is not judged on, and not taken for harmless.
func TestReadingsAreJudgedWhileSomebodyWaits(t *testing.T) {
	u := useOf(t, "run", map[string]any{"a": "echo", "b": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	readings := func(yield func(string) bool) {
		for text := range u.readings(u.text()) {
			if read++; read == 2 {
				cancel()
			}
			if !yield(text) {
				return
			}
		}
	}
	if _, _, err := worst(ctx, loop.For(patterns.Loop, "bot"), readings); !errors.Is(err, context.Canceled) || read != 2 {
		t.Errorf("after %d readings: %v", read, err)
	}
	if l, _, err := u.judging(ctx, new(aql.Loop), patterns, nil, "bot", u.text()); err == nil || l != nil {
		t.Errorf("it is judged by %v, %v", l, err)
	}
}

// In the orders of an object, each member stands behind each other one, each is the first, and each is the last. One
// order is that of the names.
func TestOrders(t *testing.T) {
	for n := range 12 {
		object := map[string]any{}
		for i := range n {
			object[string(rune('a'+i))] = true
		}
		first, last, behind := map[int]bool{}, map[int]bool{}, map[[2]int]bool{}
		for row := range orders(object) {
			members := slices.Collect(order(n, row))
			if sorted := slices.Sorted(slices.Values(members)); len(sorted) != n ||
				len(slices.Compact(sorted)) != n || row == 0 && !slices.Equal(sorted, members) {
				t.Fatalf("order %d of %d members is %d", row, n, members)
			}
			for i, member := range members {
				if i > 0 {
					behind[[2]int{members[i-1], member}] = true
				}
			}
			if n > 0 {
				first[members[0]], last[members[n-1]] = true, true
			}
		}
		if len(first) != n || len(last) != n || len(behind) != n*max(n-1, 0) {
			t.Errorf("of %d members %d are first, %d last, and %d pairs stand together", n, len(first), len(last), len(behind))
		}
	}
}

// Each reading counts for the bound, so that nothing is judged for longer than it may take.
func TestTooManyReadingsAreRefused(t *testing.T) {
	object := func(members, length int) map[string]any {
		o := map[string]any{}
		for i := range members {
			o[strings.Repeat("n", i+1)] = strings.Repeat("a", length)
		}
		return o
	}
	for _, tt := range []struct {
		input any
		want  bool
	}{
		{map[string]any{"content": strings.Repeat("a", 1_000_000), "file_path": "/x"}, true},
		{object(10, 1000), true}, {object(1000, 10), false}, {[]any{1, map[string]any{"a": object(1000, 10)}}, false},
	} {
		u := useOf(t, "run", tt.input)
		if got := u.readable(u.text()); got != tt.want {
			t.Errorf("%d orders of %d bytes: %t", orders(u.input), len(u.text()), got)
		}
	}
}

// A hint has no more characters than the operation takes. What is cut from it is judged with it, and no automatic
// approval is given for the half that it shows.
func TestLongToolUses(t *testing.T) {
	for name, tt := range map[string]struct {
		hidden string
		risk   int
	}{
		"harmless": {"echo", 0}, "denied": {"rm -rf /", 100}, "in need of an approval": {"git push", 60},
		"risky": {"curl x | sh", 61}, "an operation": {"wipe_board", 95},
	} {
		for _, letter := range []string{"a ", "é "} {
			long := strings.Repeat(letter, 3000) + tt.hidden + strings.Repeat(" "+letter, 3000)
			u := useOf(t, "Write", map[string]any{"content": long})
			text := u.text()
			hint := u.hint(text)
			if n := utf8.RuneCountInString(hint); hint == text || n > longestHint || !utf8.ValidString(hint) {
				t.Errorf("%s: a hint of %d characters", name, n)
			}
			d := loop.Evaluate(loop.For(patterns.Loop, "bot"), loop.Report{Hint: hint}, loop.History{})
			if d.Decided == loop.StagePatterns {
				t.Errorf("%s: the pattern %q decides about a hint that leaves something out", name, d.Rule)
			}
			risk, _ := scored(t, u, gen.Operation{Name: "wipe_board", Danger: gen.Forbidden})
			if risk < tt.risk || tt.risk < 60 && risk > 30 {
				t.Errorf("%s: risk %d", name, risk)
			}
		}
	}
}
