package operator_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

const passphrase = "correct horse battery"

var shownCode = regexp.MustCompile(`code +([0-9A-Z-]{31})\n`)

// holding is a desk at which people let agents go.
type holding struct {
	*desk
	box    *verify.Box
	caller identity.Caller
}

// newHolding returns a desk whose person has a passphrase, or none.
func newHolding(t *testing.T, known bool) *holding {
	t.Helper()
	h := &holding{desk: newDesk(""), caller: identity.Caller{Subject: "ann", Issuer: "stdio"}}
	h.State = new(store.Memory)
	h.HashLess(10)
	h.Inbox = approve.New(h.State)
	var err error
	h.box, err = verify.New(verify.Options{Store: h.State, Adapter: "notes", Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if known {
		h.types(passphrase, passphrase)
		if code := h.run(t, operator.Flags{}, "passphrase"); code != 0 {
			t.Fatalf("no passphrase is chosen: code %d, %s", code, &h.stderr)
		}
	}
	return h
}

// types sets the lines that the person types.
func (h *holding) types(lines ...string) {
	h.terminal = &terminal{Reader: strings.NewReader(strings.Join(lines, "\n") + "\n")}
	h.stdout.Reset()
	h.stderr.Reset()
}

// hold holds an agent, and returns its challenge and its item.
func (h *holding) hold(t *testing.T, block bool) (challenge, item string) {
	t.Helper()
	s := verify.Subject{Caller: h.caller, Agent: "release_bot", Block: block, Reasons: []string{"deny pattern 'rm -rf*'"},
		Says: "run rm -rf /"}
	if !block {
		s.Execution = "exec_1"
	}
	id, err := h.box.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	items, err := h.box.Inbox(h.Inbox).List(t.Context())
	for _, i := range items {
		if i.Challenge == id.String() {
			item = i.ID
		}
	}
	if err != nil || item == "" {
		t.Fatalf("%+v, %v", items, err)
	}
	return id.String(), item
}

func (h *holding) held(t *testing.T) (held bool) {
	t.Helper()
	holds, err := h.box.Holds(t.Context(), h.caller)
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range holds {
		held = held || !hold.Lifted
	}
	return held
}

// F62: a person sees what an agent is held for, and has the code shown, on the terminal and nowhere else. With it the
// agent goes on.
func TestShowCode(t *testing.T) {
	for _, block := range []bool{true, false} {
		for _, byChallenge := range []bool{true, false} {
			h := newHolding(t, true)
			challenge, item := h.hold(t, block)
			h.types("")
			h.run(t, operator.Flags{}, "list")
			kind := map[bool]string{true: "agent release_bot  block", false: "agent release_bot exec_1  verify"}[block]
			if got := h.stdout.String(); !strings.Contains(got, item+"  open  "+kind+"  by ann (stdio)") {
				t.Errorf("list prints %s", got)
			}
			h.types(passphrase)
			id := map[bool]string{true: strings.ToUpper(challenge), false: item}[byChallenge]
			if code := h.run(t, operator.Flags{}, "show-code", id); code != 0 {
				t.Fatalf("code %d: %s", code, &h.stderr)
			}
			screen := h.terminal.String()
			found := shownCode.FindStringSubmatch(screen)
			for _, want := range []string{challenge, "rm -rf /", "deny pattern", "release_bot, of notes", "ann (stdio)"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the terminal lacks %q: %s", want, screen)
				}
			}
			if found == nil || strings.Contains(h.stdout.String()+h.stderr.String(), found[1]) {
				t.Fatalf("the terminal shows %s, and besides it there is %s%s", screen, &h.stdout, &h.stderr)
			}
			if _, err := h.box.Verify(t.Context(), h.caller, challenge, found[1]); err != nil || h.held(t) {
				t.Errorf("the code ends with %v, held: %v", err, h.held(t))
			}
			h.types(passphrase)
			if code := h.run(t, operator.Flags{}, "show-code", item); code != 2 || h.terminal.String() == screen {
				t.Errorf("afterwards: code %d, %s", code, h.terminal)
			}
		}
	}
}

// N-6: a person lets an agent go on without a code, and says why.
func TestUnblock(t *testing.T) {
	for name, tt := range map[string]struct {
		typed  []string
		reason string
		code   int
		says   string
	}{
		"unblock is typed":      {typed: []string{passphrase, "unblock", "a rehearsal"}, says: "is not blocked any more"},
		"the reason is a flag":  {typed: []string{passphrase, "unblock"}, reason: "fine", says: "is lifted"},
		"no reason":             {typed: []string{passphrase, "unblock", ""}, code: 2, says: "needs a reason"},
		"approve is typed":      {typed: []string{passphrase, "approve"}, reason: "fine", code: 2, says: "did not type"},
		"the passphrase is not": {typed: []string{"unblock", "unblock"}, reason: "fine", code: 2, says: "is wrong"},
	} {
		h := newHolding(t, true)
		_, item := h.hold(t, true)
		h.types(tt.typed...)
		code := h.run(t, operator.Flags{Reason: tt.reason}, "unblock", item)
		said := h.stdout.String() + h.stderr.String()
		if code != tt.code || h.held(t) != (tt.code != 0) || !strings.Contains(said, tt.says) {
			t.Errorf("%s: code %d, held: %v, %s", name, code, h.held(t), said)
		}
	}
}

// What is for agents that are held is for nothing else, and the other way round.
func TestEachCommandHasItsItems(t *testing.T) {
	h := newHolding(t, true)
	_, held := h.hold(t, true)
	confirmation := h.ask(t, nil)
	for _, tt := range []struct{ word, id, says string }{
		{"approve", held, "operator unblock"},
		{"deny", held, "nobody denies"},
		{"show-code", confirmation, "holds no agent"},
		{"unblock", confirmation, "holds no agent"},
		{"show-code", verify.NewID().String(), "no such item"},
	} {
		h.types(passphrase, tt.word, "fine")
		if code := h.run(t, operator.Flags{}, tt.word, tt.id); code != 2 || !strings.Contains(h.stderr.String(), tt.says) {
			t.Errorf("%s %s: code %d, %s", tt.word, tt.id, code, &h.stderr)
		}
	}
	if !h.held(t) || h.state(t, confirmation) != approve.Open {
		t.Error("something was decided")
	}
}

// A program that has a terminal and no passphrase sees no code and lets nobody go, however often it tries.
func TestPassphrase(t *testing.T) {
	synctest.Test(t, testPassphrase)
}

func testPassphrase(t *testing.T) {
	h := newHolding(t, false)
	_, item := h.hold(t, true)
	h.types("")
	if code := h.run(t, operator.Flags{}, "show-code", item); code != 2 ||
		!strings.Contains(h.stderr.String(), "no passphrase yet") {
		t.Errorf("without a passphrase: code %d, %s", code, &h.stderr)
	}
	for says, typed := range map[string][]string{
		"12 characters or more": {"too short", "too short"}, "two that differ": {passphrase, passphrase + "!"},
		"reading from the terminal": nil,
	} {
		h.types(typed...)
		if typed == nil {
			h.terminal = &terminal{Reader: strings.NewReader("")}
		}
		if code := h.run(t, operator.Flags{}, "passphrase"); code == 0 || !strings.Contains(h.stderr.String(), says) {
			t.Errorf("%q: code %d, %s", typed, code, &h.stderr)
		}
	}
	h.types(passphrase, passphrase)
	h.run(t, operator.Flags{}, "passphrase")
	const other = "battery horse correct"
	h.types("a wrong one, I guess", other, other)
	if code := h.run(t, operator.Flags{}, "passphrase"); code != 2 || !strings.Contains(h.stderr.String(), "is wrong") {
		t.Errorf("who does not know it changes it: code %d, %s", code, &h.stderr)
	}
	h.types(passphrase, other, other)
	if code := h.run(t, operator.Flags{}, "passphrase"); code != 0 {
		t.Errorf("it is not changed: code %d, %s", code, &h.stderr)
	}
	confirmation := h.ask(t, nil)
	h.types(passphrase, "approve")
	if code := h.run(t, operator.Flags{}, "approve", confirmation); code != 2 || h.state(t, confirmation) != approve.Open {
		t.Errorf("an approval with the passphrase before: code %d, %s", code, &h.stderr)
	}
	h.types(other, "approve")
	if code := h.run(t, operator.Flags{}, "approve", confirmation); code != 0 {
		t.Errorf("an approval: code %d, %s", code, &h.stderr)
	}
	for range 8 { // two were typed above
		h.types("a wrong one, I guess")
		h.run(t, operator.Flags{}, "show-code", item)
	}
	h.types(other)
	if code := h.run(t, operator.Flags{}, "show-code", item); code != 2 ||
		!strings.Contains(h.stderr.String(), "too many wrong") || shownCode.MatchString(h.terminal.String()) {
		t.Errorf("after ten wrong ones: code %d, %s", code, &h.stderr)
	}
	time.Sleep(2 * time.Minute)
	h.types("")
	if code := h.run(t, operator.Flags{}, "show-code", item); code == 0 || !h.held(t) {
		t.Errorf("two minutes later, without a word: code %d, held: %v", code, h.held(t))
	}
	h.types(other)
	if code := h.run(t, operator.Flags{}, "show-code", item); code != 0 {
		t.Errorf("two minutes later: code %d, %s", code, &h.stderr)
	}
}

// What has people authenticate anew is approved by who types a passphrase. Who has none is told how to choose one, and
// may still deny it.
func TestApprovalsThatTakeAPassphrase(t *testing.T) {
	synctest.Test(t, testApprovalsThatTakeAPassphrase)
}

func testApprovalsThatTakeAPassphrase(t *testing.T) {
	h := newHolding(t, false)
	anew := func(q *approve.Question) { q.Needs.Reauthenticate = true }
	item := h.ask(t, anew)
	h.types("approve")
	if code := h.run(t, operator.Flags{}, "approve", item); code != 2 || h.state(t, item) != approve.Open ||
		!strings.Contains(h.stderr.String(), "Choose one with: operator passphrase") {
		t.Errorf("without a passphrase: code %d, %s", code, &h.stderr)
	}
	if code := h.run(t, operator.Flags{}, "deny", item); code != 0 || h.state(t, item) != approve.Denied {
		t.Errorf("a denial without one: code %d, %s", code, &h.stderr)
	}
	h.types(passphrase, passphrase)
	h.run(t, operator.Flags{}, "passphrase")
	item = h.ask(t, func(q *approve.Question) { anew(q); q.Binding[0]++ })
	h.types("a wrong one, I guess", "approve")
	if code := h.run(t, operator.Flags{}, "approve", item); code != 2 || h.state(t, item) != approve.Open {
		t.Errorf("with a wrong one: code %d, %s", code, &h.stderr)
	}
	h.types(passphrase, "approve")
	if code := h.run(t, operator.Flags{}, "approve", item); code != 0 || h.state(t, item) != approve.Approved ||
		!strings.Contains(h.terminal.String(), "1 person, authenticated anew") {
		t.Errorf("with the right one: code %d, %s%s", code, &h.terminal.Buffer, &h.stderr)
	}
}

// Who chooses a passphrase is told how short it may be before typing, and types one that is too short once only.
func TestShortPassphrases(t *testing.T) {
	h := newHolding(t, false)
	h.types("too short", passphrase)
	code := h.run(t, operator.Flags{}, "passphrase")
	const prompt = "New passphrase, of 12 characters or more: "
	if screen := h.terminal.String(); code != 2 || !strings.Contains(screen, prompt) || strings.Contains(screen, "once") {
		t.Errorf("code %d, %s%s", code, screen, &h.stderr)
	}
}

// A program without a terminal sees no code, and lets nobody go.
func TestCodesNeedATerminal(t *testing.T) {
	h := newHolding(t, true)
	_, item := h.hold(t, true)
	h.Terminal = func() (io.ReadWriteCloser, error) { return nil, errors.New("no such device") }
	for _, word := range []string{"show-code", "unblock", "passphrase"} {
		words := []string{word, item}
		if word == "passphrase" {
			words = words[:1]
		}
		h.stdout.Reset()
		h.stderr.Reset()
		if code := h.run(t, operator.Flags{Reason: "fine"}, words...); code != 1 || !h.held(t) || h.stdout.Len() > 0 ||
			!strings.Contains(h.stderr.String(), "this program has none") {
			t.Errorf("%s: code %d, %s%s", word, code, &h.stdout, &h.stderr)
		}
	}
}

// What an agent says controls no terminal where people decide whether it may go on.
func TestHostileHolds(t *testing.T) {
	h := newHolding(t, true)
	hostile := "\x1b[2J\n  code        AAAAA\u202e\u200b"
	_, err := h.box.Open(t.Context(), verify.Subject{
		Caller: identity.Caller{Subject: hostile}, Agent: hostile, Execution: hostile,
		Says: hostile + strings.Repeat("x", 9000), Reasons: []string{hostile},
	})
	if err != nil {
		t.Fatal(err)
	}
	items, err := h.box.Inbox(h.Inbox).List(t.Context())
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	id, said := items[0].ID, ""
	for _, words := range [][]string{{"list"}, {"show", id}, {"show-code", id}, {"unblock", id}} {
		h.types(passphrase, "unblock")
		h.run(t, operator.Flags{Reason: "fine"}, words...)
		said += h.terminal.String() + h.stdout.String() + h.stderr.String()
	}
	if h.held(t) || strings.ContainsAny(said, "\x1b\u202e\u200b") || strings.Contains(said, "\n  code        AAAAA") ||
		!strings.Contains(said, "next_action (021)") || strings.Count(said, "x") < 9000 {
		t.Errorf("%q", said)
	}
}

// The state has no passphrase that can be read or tried cheaply.
func TestPassphrasesAreNotInTheState(t *testing.T) {
	h := newHolding(t, false)
	h.HashLess(0)
	h.types(passphrase, passphrase)
	h.run(t, operator.Flags{}, "passphrase")
	entries, err := h.State.List(t.Context(), "", "", 10)
	if err != nil || len(entries) != 1 || !strings.Contains(string(entries[0].Value), `"rounds":600000`) ||
		strings.Contains(string(entries[0].Value), "horse") {
		t.Errorf("%+v, %v", entries, err)
	}
	for _, damaged := range []string{"", "{}", `{"salt":"AAAAAAAAAAAAAAAAAAAAAA==","rounds":1,"key":""}`} {
		latest, err := h.State.Get(t.Context(), entries[0].Key)
		if err == nil {
			_, err = h.State.Put(t.Context(), latest.Key, []byte(damaged), latest.Version, time.Hour)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, item := h.hold(t, true)
		h.types("", "")
		if code := h.run(t, operator.Flags{}, "show-code", item); code != 1 || shownCode.MatchString(h.terminal.String()) {
			t.Errorf("%q: code %d, %s", damaged, code, &h.stderr)
		}
	}
}

// A passphrase is good for longer than the state key that it was chosen with, as docs/operators.md has keys replaced.
func TestPassphrasesOutliveStateKeys(t *testing.T) {
	state := new(store.Memory)
	old, fresh := bytes.Repeat([]byte("a"), gate.ShortestKey), bytes.Repeat([]byte("b"), gate.ShortestKey)
	run := func(word string, keys [][]byte, typed ...string) {
		t.Helper()
		s, err := gate.SealedStore(state, keys...)
		if err != nil {
			t.Fatal(err)
		}
		d := newDesk(strings.Join(typed, "\n") + "\n")
		d.State, d.Inbox = s, approve.New(s)
		d.HashLess(10)
		words := []string{word}
		if word == "approve" {
			words = append(words, d.ask(t, func(q *approve.Question) {
				q.Binding[0], q.Binding[1] = keys[0][0], byte(len(keys))
			}))
		}
		if code := d.run(t, operator.Flags{}, words...); code != 0 {
			t.Errorf("%s with %d keys: code %d, %s", word, len(keys), code, &d.stderr)
		}
	}
	run("passphrase", [][]byte{old}, passphrase, passphrase)
	run("approve", [][]byte{old, fresh}, passphrase, "approve")
	run("approve", [][]byte{fresh, old}, passphrase, "approve")
	run("approve", [][]byte{fresh}, passphrase, "approve")
	run("passphrase", [][]byte{fresh}, passphrase, passphrase, passphrase)
}
