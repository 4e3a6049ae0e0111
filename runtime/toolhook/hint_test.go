package toolhook

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// The hints of the messages that clients send, with the fields that their documentation has.
func TestHints(t *testing.T) {
	for name, tt := range map[string]struct{ message, hint, id string }{
		"Claude Code, a command": {
			`{"session_id":"abc123","transcript_path":"/home/ann/.claude/projects/x.jsonl","cwd":"/home/ann",
			"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{
			"command":"npm test -- --watch=false","description":"Run the tests","timeout":120000},"tool_use_id":"toolu_01A"}`,
			"Bash command: npm test -- --watch=false description: Run the tests timeout: 120000", "toolu_01A",
		},
		"Claude Code, a file": {
			`{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a.go","content":"package a\n"}}`,
			"Write content: package a\n file_path: /a.go", "",
		},
		"Claude Code, another server": {
			`{"hook_event_name":"PreToolUse","tool_name":"mcp__github__create_issue","tool_input":{"title":"é <b>","labels":[]},
			"tool_use_id":null}`,
			"mcp__github__create_issue labels: [] title: é <b>", "",
		},
		"Claude Code, an agent of the agent": {
			`{"hook_event_name":"PreToolUse","tool_name":"Task","tool_input":{"prompt":"look"},"agent_id":"a1",
			"agent_type":"Explore"}`,
			"Task prompt: look", "",
		},
		"Codex": {
			`{"session_id":"s","turn_id":"t","cwd":"/","model":"m","permission_mode":"default","hook_event_name":"PreToolUse",
			"tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"ls"}}`,
			"Bash command: ls", "call_1",
		},
		"Gemini CLI": {
			`{"session_id":"s","transcript_path":"/x","cwd":"/","hook_event_name":"BeforeTool",
			"timestamp":"2026-11-23T10:00:00Z",
			"tool_name":"run_shell_command","tool_input":{"command":"ls"}}`,
			"run_shell_command command: ls", "",
		},
		"no arguments": {`{"hook_event_name":"BeforeTool","tool_name":"list","tool_input":{}}`, "list", ""},
		"arguments within others": {
			`{"hook_event_name":"BeforeTool","tool_name":"edit","tool_input":{
			"edits":[{"old":"a","new":"b"},1],"x":{"y":null}}}`,
			"edit edits: [{new: b old: a}, 1] x: {y: null} (sha256 )", "",
		},
		"a text that reads like an argument": {
			`{"hook_event_name":"BeforeTool","tool_name":"say","tool_input":{"text":"a to: all"}}`,
			"say text: a to: all (sha256 )", "",
		},
		"a text that reads like a number": {
			`{"hook_event_name":"BeforeTool","tool_name":"say","tool_input":{"text":"1"}}`, "say text: 1 (sha256 )", "",
		},
		"no object": {`{"hook_event_name":"BeforeTool","tool_name":"say","tool_input":"hi"}`, "say hi (sha256 )", ""},
		"an odd tool": {
			`{"hook_event_name":"BeforeTool","tool_name":"Read file_path:","tool_input":{}}`, "Read file_path: (sha256 )", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := parse(tt.message)
			if err != nil {
				t.Fatal(err)
			}
			hint := u.hint(u.text())
			words, digest, _ := strings.Cut(hint, mark)
			want, _, marked := strings.Cut(tt.hint, mark)
			if words != want || (digest != "") != marked || u.id != tt.id {
				t.Errorf("%q, %q", hint, u.id)
			}
		})
	}
}

// Two tool uses have the same hint only if they are the same, also where an argument is the hint of another one, or has
// what hints have.
func TestHintsTellToolUsesApart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const digest = "0123456789abcdef0123456789abcdef"
	words := []string{
		"a", "b", "", " b: a", "1", "true", "{}", "a:", " (sha256 x)", " … ", ", sha256",
		" (9 characters, sha256 " + digest + ")",
		strings.Repeat("a", longestHint), strings.Repeat("é ", longestHint), strings.Repeat(" b: ", longestHint),
	}
	names := []string{"a", "b", "a: a b", "sha256"}
	word := func() string { return words[random.IntN(len(words))] }
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.IntN(10); {
		case n < 5:
			return word() + []string{"", word()}[random.IntN(2)]
		case n == 5:
			return []any{1.0, true, nil, false, 10.5}[random.IntN(5)]
		case n < 8 && depth > 0:
			object := map[string]any{}
			for range random.IntN(3) {
				object[names[random.IntN(len(names))]] = value(depth - 1)
			}
			return object
		case depth > 0:
			list := []any{}
			for range random.IntN(3) {
				list = append(list, value(depth-1))
			}
			return list
		}
		return word()
	}
	seen := make(map[string]string)
	plain, cut := 0, 0
	see := func(tool string, input any) (hint string) {
		u := useOf(t, tool, input)
		text := u.text()
		hint = u.hint(text)
		of := fmt.Sprintf("%q %s", u.tool, u.canonical)
		if other, taken := seen[hint]; taken && other != of {
			t.Fatalf("%s and %s have the hint %q", other, of, hint)
		}
		seen[hint] = of
		if !strings.HasSuffix(hint, ")") {
			plain++
		}
		if hint != text {
			cut++
		}
		return hint
	}
	for range 30_000 {
		input := map[string]any{}
		for range random.IntN(3) {
			input[names[random.IntN(len(names))]] = value(1)
		}
		hint := see("t"+[]string{"", " a: a"}[random.IntN(2)], input)
		if random.IntN(2) == 0 { // what has the words of the hint itself
			see("t", map[string]any{"a": strings.TrimPrefix(hint, "t a: ")})
			see("t", map[string]any{"a": strings.TrimPrefix(strings.TrimSuffix(hint, ")"), "t a: "), "b": ")"})
		}
	}
	if plain < 1000 || cut < 1000 {
		t.Errorf("only %d tool uses are told by their words alone, and %d cut", plain, cut)
	}
}

// A message is refused or read. What is read has a hint that fits.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"1"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":[{"a":[]},null,1e3]}`, `{}`, `[`, "\xff",
		`{"a":"\ud800"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{"a":"` + strings.Repeat("a ", 2000) + `"}}`,
		`{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{"a":"1"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		u, err := parse(message)
		if err != nil {
			return
		}
		hint := u.hint(u.text())
		n := utf8.RuneCountInString(hint)
		if n > longestHint || n == 0 || !utf8.ValidString(hint) || strings.Contains(hint, "\x00") {
			t.Errorf("the hint is %q", hint)
		}
		if words, ok := strings.CutPrefix(hint, u.tool+" a: "); ok { // another one that has these words
			other := useOf(t, u.tool, map[string]any{"a": words})
			if other.hint(other.text()) == hint && string(other.canonical) != string(u.canonical) {
				t.Errorf("%s and %s have the hint %q", u.canonical, other.canonical, hint)
			}
		}
		again, err := parse(message)
		if err != nil || again.text() != u.text() {
			t.Errorf("the second time it is %v, %v", again, err)
		}
	})
}
