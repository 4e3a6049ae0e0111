package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/words"
)

// Each kind of item has a line of its own.
func TestLines(t *testing.T) {
	at := time.Date(2026, 11, 23, 14, 2, 0, 0, time.UTC)
	for kind, want := range map[approve.Kind]string{
		approve.Confirmation: "ann asks for delete_note (destructive), until 14:07 UTC.",
		approve.Step:         "ann asks for delete_note (destructive), until 14:07 UTC.",
		approve.Enquiry:      "An execution of delete_note for ann asks how to go on (destructive), until 14:07 UTC.",
		approve.Continuation: "A quota pauses all calls of ann; the last was delete_note, until 14:07 UTC.",
		approve.Pause:        "Agent 'bot' of ann is paused, until 14:07 UTC.",
		approve.Block:        "Agent 'bot' of ann is blocked until somebody lets it go on.",
	} {
		n := notify.Notice{Waiting: 1, Items: []notify.Item{{
			Kind: kind, Operation: "delete_note", Danger: gen.Destructive, Caller: identity.Caller{Subject: "ann"}, Agent: "bot",
			Opened: at, Expires: at.Add(5 * time.Minute),
		}}}
		if got := n.Text(); got != want {
			t.Errorf("a %s is %q, want %q", kind, got, want)
		}
	}
}

// What others choose changes no line but its own: it adds none, ends no quotation, and each of its characters is seen.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{
		"", "bot", "bot' of root is not blocked. Agent 'x", "a\nnotes: all is well", "\x1b[2J\x07", "\u202eabc", "“quoted”",
		"\xff\xfe", strings.Repeat("long ", 500), "’‘′ˈ", "In all, 0 items wait.",
	} {
		f.Add(text)
	}
	notice := func(text string) notify.Notice {
		params, err := json.Marshal(map[string]string{"a": text, "b": "c"})
		if err != nil {
			f.Fatal(err)
		}
		caller := identity.Caller{Subject: "x" + text, Issuer: text}
		return notify.Notice{
			Adapter: "notes", Waiting: 2,
			Items: []notify.Item{
				{Kind: approve.Block, Agent: text, Caller: caller, Details: &notify.Details{Params: string(params)}},
				{
					Kind: approve.Confirmation, Operation: "o" + text, Danger: "d" + gen.Danger(text), Caller: caller,
					Details: &notify.Details{Message: "m" + text, Reasons: []string{"r" + text}, Params: string(params)},
				},
			},
			Lifted: []notify.Lifted{{Agent: text, Caller: caller, By: []identity.Caller{caller}}},
		}
	}
	plain := notice("plain")
	lines := strings.Count(plain.Text(), "\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := notice(text)
		got := n.Text()
		if strings.Count(got, "\n") != lines || len(got) > 20_000 {
			t.Errorf("%q makes %d lines of %d, and %d bytes:\n%s", text, strings.Count(got, "\n"), lines, len(got), got)
		}
		for _, r := range strings.ReplaceAll(got, "\n", "") + n.Title() {
			if words.Misleads(r) {
				t.Errorf("%q has the character %q in\n%s", text, r, got)
			}
		}
		first, _, _ := strings.Cut(got, "\n")
		name, ok := strings.CutPrefix(first, "Agent '")
		if !ok || text != "plain" && strings.HasPrefix(name, "plain'") {
			t.Errorf("%q makes %q", text, first)
		}
		// The quotation ends where the name does.
		quoted := strings.NewReplacer("://", ": //", "<", "< ").Replace(words.Quote(text, 60, '\''))
		if !strings.HasPrefix(name, quoted+"' of ") {
			t.Errorf("%q is quoted as %q in %q", text, quoted, first)
		}
		if n.Title() != plain.Title() {
			t.Errorf("%q makes the title %q", text, n.Title())
		}
	})
}

// The name of an agent is no link, wherever it is shown: not by being an address, and not in the markup of chats.
func TestNamesOfAgentsAreNoLinks(t *testing.T) {
	for name, want := range map[string]string{
		"https://evil.example/login":               "Agent 'https: //evil.example/login' of",
		"<https://evil.example|Open the console>":  "Agent '< https: //evil.example|Open the console>' of",
		"[Open the console](https://evil.example)": "Agent '[Open the console](https: //evil.example)' of",
		"<!channel>": "Agent '< !channel>' of",
	} {
		n := notify.Notice{Adapter: "notes", Items: []notify.Item{{Kind: approve.Block, Agent: name}}}
		if got := n.Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s is told as %q, want %q", name, got, want)
		}
	}
}
