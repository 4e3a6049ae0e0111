package aql_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// An agent that may be silent for hours goes on after them with what a person has lifted.
func TestLiftedPausesAreRememberedAsLongAsSilence(t *testing.T) {
	p := strict()
	p.Loop.Silence = 2 * time.Hour
	a := newAgents(t, p, nil)
	a.start("ann", "bot")
	a.pauses("an action", "verification", a.report("ann", "bot", "drop table tmp"))
	a.lift(approve.Pause)
	a.now = a.now.Add(119 * time.Minute)
	a.goesOn("the action", a.report("ann", "bot", "drop table tmp"))
	a.pauses("the action once more", "verification", a.report("ann", "bot", "drop table tmp"))
}

// The end of a block is on record, and nobody is told of the block any more, whoever of the agents reports next, and
// when.
func TestLiftedBlocksAreOnRecord(t *testing.T) {
	for name, next := range map[string]string{"its agent": "ann", "another": "bob"} {
		p := strict()
		p.Loop.Silence = 2 * time.Hour
		a := newAgents(t, p, nil)
		a.start("ann", "bot")
		a.start("bob", "bot")
		a.report("ann", "bot", "rm -rf /")
		a.lift(approve.Block)
		a.now = a.now.Add(119 * time.Minute)
		for _, caller := range []string{next, "bob", "ann"} {
			got := a.report(caller, "bot", "look at it")
			a.goesOn(name+" first: "+caller, got)
			for _, n := range got.Data.Notifications {
				if n.Type == "danger_zone" {
					t.Errorf("%s first: %s is told of a block that is over: %+v", name, caller, n)
				}
			}
		}
		unblocked := 0
		for _, record := range a.records.list {
			if record.Event == audit.AgentUnblocked && record.Caller.Subject == "ann" && record.Agent == "bot" {
				unblocked++
			}
		}
		if unblocked != 1 {
			t.Errorf("%s first: %d records say that it is lifted: %v", name, unblocked, a.records.events())
		}
	}
}

// refusing is a sink that refuses an event once.
type refusing struct {
	*recorder
	event audit.Event
}

func (r *refusing) Write(ctx context.Context, records []audit.Record) error {
	if slices.ContainsFunc(records, func(record audit.Record) bool { return record.Event == r.event }) {
		r.event = ""
		return errors.New("the disk is full")
	}
	return r.recorder.Write(ctx, records)
}

// A block whose end could not be recorded is remembered until it is.
func TestLiftedBlocksAreRememberedUntilTheyAreOnRecord(t *testing.T) {
	var sink *refusing
	a := newAgents(t, strict(), func(o *aql.Options) {
		sink = &refusing{new(recorder), audit.AgentUnblocked}
		o.Audit = audit.New(audit.Options{Sinks: []audit.Sink{sink}, Wait: true})
	})
	a.start("ann", "bot")
	a.report("ann", "bot", "rm -rf /")
	a.lift(approve.Block)
	if got := a.report("ann", "bot", "look at it"); got.Success {
		t.Errorf("nothing is on record, and it goes on: %+v", got.Data)
	}
	a.goesOn("then", a.report("ann", "bot", "look at it"))
	if !slices.Contains(sink.events(), "AGENT_UNBLOCKED bot") {
		t.Errorf("its end is not on record: %v", sink.events())
	}
}

// People who are to lift a pause or a block are shown all of the action.
func TestHeldActionsAreShownWhole(t *testing.T) {
	for _, action := range []string{"drop table tmp", "rm -rf /tmp"} {
		a := newAgents(t, strict(), nil)
		a.start("ann", "bot")
		hint := action + " " + strings.Repeat("x", 1700) + " and the end"
		a.report("ann", "bot", hint)
		items, err := a.inbox.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(items, func(i approve.Item) bool { return i.Kind == approve.Pause || i.Kind == approve.Block })
		if i < 0 {
			t.Fatalf("%s: nothing is held: %+v", action, items)
		}
		var shown map[string]string
		if err := json.Unmarshal([]byte(items[i].Params), &shown); err != nil {
			t.Fatal(err)
		}
		whole := ""
		for _, part := range slices.Sorted(maps.Keys(shown)) {
			whole += shown[part]
		}
		if whole != hint {
			t.Errorf("%s: people see %q", action, items[i].Params)
		}
	}
}

// The case of its name gives an agent no other limits, and a block holds it under each. Spaces at an end of a name are
// refused.
func TestNamesOfAgents(t *testing.T) {
	p := strict()
	p.Loop.Block = policy.BlockAgent
	p.Loop.Agents = []policy.LoopAgent{{Name: "bot", LoopLimits: policy.LoopLimits{Deny: []string{"look*"}}}}
	a := newAgents(t, p, nil)
	for _, name := range []string{"bot ", " bot", "bot\t"} {
		params, err := json.Marshal(map[string]string{"element_name": name})
		if err != nil {
			t.Fatal(err)
		}
		a.fails("starting "+name, "VALIDATION_PATTERN_MISMATCH", a.call("ann", gen.ExecuteAgent, string(params)))
	}
	a.start("ann", "BOT")
	a.start("ann", "Bot")
	if got := a.report("ann", "Bot", "look at it"); !got.Data.Stopped {
		t.Errorf("it has the limits of none: %+v", got.Data)
	}
	a.fails("a report in another case", "PERMISSION_DENIED", a.report("ann", "BOT", "read_file x"))
	a.fails("a start in another case", "PERMISSION_DENIED", a.call("ann", gen.ExecuteAgent, `{"element_name":"bOT"}`))
}

// A block is one of a caller and a name. Its caller starts no agent, under whatever name, and those that run already
// under other names go on (T-97, docs/safety.md).
func TestBlocksOfOtherNames(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.start("ann", "other")
	a.report("ann", "bot", "rm -rf /")
	for _, name := range []string{"bot", "other", "third"} {
		a.fails("starting "+name, "PERMISSION_DENIED",
			a.call("ann", gen.ExecuteAgent, `{"element_name":"`+name+`","goal":"g"}`))
	}
	a.fails("a report of it", "PERMISSION_DENIED", a.report("ann", "bot", "look at it"))
	a.goesOn("a report of the one that runs", a.report("ann", "other", "look at it"))
	a.start("bob", "third")
}

// A block waits until a person lifts it. That says nothing of how long requests wait.
func TestBlocksAreNotTheOldestThatWaits(t *testing.T) {
	now := time.Now()
	a := newAgents(t, strict(), func(o *aql.Options) { o.Now = func() time.Time { return now } })
	a.start("ann", "bot")
	a.report("ann", "bot", "now rm -rf /srv")
	now = now.Add(3 * time.Hour)
	if b, err := a.adapter.Backlog(t.Context()); err != nil || b.Blocked != 1 || b.OldestApproval != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}
