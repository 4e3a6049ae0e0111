package aql_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/verify"
)

// keyed begins the adapter anew with state keys, each of which is one letter, and its people with it.
func (a *agents) keyed(letters ...string) {
	a.t.Helper()
	keys := make([][]byte, len(letters))
	for i, letter := range letters {
		keys[i] = []byte(strings.Repeat(letter, gate.ShortestKey))
	}
	a.options.StateKey, a.options.OldStateKeys = keys[0], keys[1:]
	a.restart()
	sealed, err := gate.SealedStore(a.state, keys...)
	if err != nil {
		a.t.Fatal(err)
	}
	box, err := verify.New(verify.Options{Store: sealed, Adapter: "shop", Now: func() time.Time { return a.now }})
	if err != nil {
		a.t.Fatal(err)
	}
	a.inbox = box.Inbox(approve.New(sealed))
}

// A block holds, and can be lifted, when the state key that it was made with has gone, as docs/operators.md has keys
// replaced. The process with both keys need not hear of the caller.
func TestBlocksOutliveStateKeys(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.keyed("a")
	a.start("ann", "bot")
	a.report("ann", "bot", "rm -rf /")
	a.keyed("b", "a")
	a.now = a.now.Add(3 * time.Hour)
	a.keyed("b")
	a.fails("it starts anew", "PERMISSION_DENIED", a.call("ann", gen.ExecuteAgent, `{"element_name":"bot","goal":"g"}`))
	a.lift(approve.Block)
	a.start("ann", "bot")
	a.goesOn("when it was lifted", a.report("ann", "bot", "look at it"))
}

// Notifications, and what is left of agents that have ended, keep nobody from starting agents when the key has gone
// that they were sealed with.
func TestAgentsStartAfterStateKeyHasGone(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.keyed("a")
	a.start("ann", "bot")
	a.report("ann", "bot", "rm -rf /")
	a.start("bob", "bot")
	a.keyed("b", "a")
	a.now = a.now.Add(3 * time.Hour) // those who are silent have failed
	a.keyed("b")
	a.start("bob", "bot")
	a.goesOn("the first report", a.report("bob", "bot", "look at it"))
	a.start("cleo", "bot")
	a.report("cleo", "bot", "rm -rf /")
	told := a.report("bob", "bot", "look at it").Data.Notifications
	if len(told) != 1 || told[0].Type != "danger_zone" {
		t.Errorf("bob's agent is told %+v", told)
	}
}

// What does not expire and opens with no key is logged at the start, with what to do.
func TestLostStateKeysAreLogged(t *testing.T) {
	var log bytes.Buffer
	a := newAgents(t, strict(), nil)
	a.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	a.keyed("a")
	a.start("ann", "bot")
	a.report("ann", "bot", "rm -rf /")
	const warning = "open with none of the state keys"
	a.keyed("b", "a")
	a.keyed("b")
	if strings.Contains(log.String(), warning) {
		t.Errorf("after a replacement: %s", &log)
	}
	a.keyed("c")
	if !strings.Contains(log.String(), warning) {
		t.Errorf("after a key that the one before does not know: %s", &log)
	}
	a.fails("the agent", "INTERNAL_ERROR", a.call("ann", gen.ExecuteAgent, `{"element_name":"bot","goal":"g"}`))
}

// With a state key who writes the state makes no agent, and gives none the approval, the steps or the place of another.
func TestWritersOfTheStateMakeNoAgents(t *testing.T) {
	for name, write := range map[string]func(own, other []byte) []byte{
		"in the clear":    func([]byte, []byte) []byte { return []byte(`1{"execution":"%","approved":true,"steps":0}`) },
		"of another":      func(_, other []byte) []byte { return other },
		"with other bits": func(own, _ []byte) []byte { own[len(own)/2] ^= 1; return own },
		"cut":             func(own, _ []byte) []byte { return own[:len(own)-1] },
	} {
		a := newAgents(t, strict(), nil)
		a.keyed("a")
		ids := map[string]string{"ann": a.start("ann", "bot"), "bob": a.start("bob", "bot")}
		entries, err := a.state.List(t.Context(), "loop/shop/s/", "", 10)
		if err != nil || len(entries) != 2 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		own, other := entries[0], entries[1]
		if strings.HasSuffix(other.Key, ids["ann"]) {
			own, other = other, own
		}
		forged := strings.Replace(string(write(own.Value, other.Value)), "%", ids["ann"], 1)
		if _, err := a.state.Put(t.Context(), own.Key, []byte(forged), own.Version, time.Hour); err != nil {
			t.Fatal(err)
		}
		a.fails(name, "INTERNAL_ERROR", a.report("ann", "bot", "look at it"))
		a.goesOn(name+", the other agent", a.report("bob", "bot", "look at it"))
	}
}
