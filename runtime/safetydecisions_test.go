package aql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

const failedBefore = `,"outcome":"failure"`

// meanwhile is an adapter with agents where something is done while an action is scored that has a word, until it was.
func meanwhile(t *testing.T, word string, do func(a *agents) (done bool)) *agents {
	t.Helper()
	var a *agents
	done := false
	a = newAgents(t, strict(), func(o *aql.Options) {
		l := *o.Loop.(*aql.Loop)
		l.Score = func(_ context.Context, _ string, r loop.Report) (int, []string, error) {
			if strings.Contains(r.Hint, word) && !done {
				done = do(a)
			}
			return 0, nil, nil
		}
		o.Loop = &l
	})
	return a
}

// lift has a person lift the only hold of a kind, and returns what the person has seen.
func (a *agents) lift(kind approve.Kind) string {
	a.t.Helper()
	items, err := a.inbox.List(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, item := range items {
		if item.Kind == kind && item.StateAt(a.now) == approve.Open {
			a.vote(item.ID, true)
			return item.Params
		}
	}
	a.t.Fatalf("nothing of the kind %s is open", kind)
	return ""
}

// A person who has verified one action has verified no other that was reported at the same time.
func TestVerifyingLetsGoWhatWasShown(t *testing.T) {
	a := meanwhile(t, "users", func(a *agents) bool {
		a.pauses("an action meanwhile", "verification", a.report("ann", "bot", "drop table tmp"))
		return true
	})
	a.start("ann", "bot")
	a.pauses("an action", "", a.report("ann", "bot", "drop table users"))
	if shown := a.lift(approve.Pause); !strings.Contains(shown, "drop table tmp") {
		t.Fatalf("people see %s", shown)
	}
	a.pauses("what nobody has seen", "verification", a.report("ann", "bot", "drop table users"))
	a.lift(approve.Pause)
	a.goesOn("what was seen now", a.report("ann", "bot", "drop table users"))
	a.goesOn("what was seen first", a.report("ann", "bot", "drop table tmp"))
}

// An agent is told whether what waits for a person is the action that it reports, or something else.
func TestDirectivesSayWhatWaits(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	for range 3 {
		a.goesOn("a step", a.report("ann", "bot", "read_file x"))
	}
	waits := func(of, hint string, more ...string) string {
		t.Helper()
		answer := a.report("ann", "bot", hint, more...)
		item := a.pauses(hint, "", answer)
		if answer.Data.ApprovalOf != of || item == "" {
			t.Errorf("%s: item %q is about %q, want %q", hint, item, answer.Data.ApprovalOf, of)
		}
		return item
	}
	waits("steps", "deploy x")
	a.vote(waits("steps", "read_file x"), true)
	push := waits("action", "deploy x")
	for _, other := range []string{"read_file x", "rm -rf /", "deploy y"} {
		if item := waits("other", other); item != push {
			t.Errorf("%s waits for %s, not for %s", other, item, push)
		}
	}
	waits("action", "deploy x")
	a.vote(push, false)
	if refused := a.report("ann", "bot", "deploy x"); refused.Data.ApprovalID != "" || refused.Data.ApprovalOf != "" {
		t.Errorf("what is refused waits: %+v", refused.Data)
	}
	waits("failure", "read_file x", failedBefore)
	waits("failure", "deploy x")
}

// An agent that is blocked while a report of it is evaluated does not go on.
func TestBlockedMeanwhile(t *testing.T) {
	a := meanwhile(t, "users", func(a *agents) bool { return a.report("ann", "bot", "rm -rf /").Data.Stopped })
	a.start("ann", "bot")
	a.fails("the report", "PERMISSION_DENIED", a.report("ann", "bot", "look at users"))
}

// What a person has verified is verified still if another report comes at the same time.
func TestVerifiedMeanwhile(t *testing.T) {
	lifted := false
	a := meanwhile(t, "tmp", func(a *agents) bool {
		if lifted {
			a.goesOn("another action", a.report("ann", "bot", "look around"))
		}
		return lifted
	})
	a.start("ann", "bot")
	a.pauses("an action", "verification", a.report("ann", "bot", "drop table tmp"))
	a.lift(approve.Pause)
	lifted = true
	a.goesOn("the action", a.report("ann", "bot", "drop table tmp"))
	a.pauses("the action once more", "verification", a.report("ann", "bot", "drop table tmp"))
}

// A person approves of an action as it was shown, to the letter.
func TestApprovalsAreOfOneText(t *testing.T) {
	for approved, other := range map[string]string{
		"deploy x # rm y": "deploy x #\nrm y",
		"deploy File":     "deploy file",
		"deploy -r x":     "deploy -R x",
		"deploy v2⁵":      "deploy v25",
		"deploy  x":       "deploy x",
		"drop table -r x": "drop table -R x",
	} {
		a := newAgents(t, strict(), nil)
		a.start("ann", "bot")
		if item := a.pauses("an action", "", a.report("ann", "bot", approved)); item != "" {
			a.vote(item, true)
		} else {
			a.lift(approve.Pause)
		}
		a.pauses(other+", where a person has approved of "+approved, "requires", a.report("ann", "bot", other))
	}
}

// After a failure no agent goes on before a person has let it, whatever it says of the step before.
func TestFailuresStay(t *testing.T) {
	p := strict()
	p.Loop.Silence = 2 * time.Hour
	t.Run("refused", func(t *testing.T) {
		a := newAgents(t, p, nil)
		a.start("ann", "bot")
		a.vote(a.pauses("a failure", "failed", a.report("ann", "bot", "look", failedBefore)), false)
		for _, more := range []string{"", `,"outcome":"success"`, `,"outcome":"skipped"`} {
			a.pauses("refused, and then"+more, "A person has refused", a.report("ann", "bot", "read_file x", more))
		}
		a.now = a.now.Add(31 * time.Minute)
		item := a.pauses("half an hour later", "failed", a.report("ann", "bot", "read_file x"))
		a.vote(item, true)
		a.goesOn("approved", a.report("ann", "bot", "read_file x"))
		a.goesOn("the next step", a.report("ann", "bot", "read_file y"))
	})
	t.Run("not decided", func(t *testing.T) {
		a := newAgents(t, p, nil)
		a.start("ann", "bot")
		first := a.pauses("a failure", "failed", a.report("ann", "bot", "look", failedBefore))
		a.now = a.now.Add(31 * time.Minute)
		second := a.pauses("nobody has decided", "failed", a.report("ann", "bot", "look"))
		if second == first || second == "" {
			t.Errorf("people are asked %q, and then %q", first, second)
		}
	})
	t.Run("while it waits for something else", func(t *testing.T) {
		a := newAgents(t, p, nil)
		a.start("ann", "bot")
		action := a.pauses("an action", "approval", a.report("ann", "bot", "deploy x"))
		a.pauses("a failure", "Waits", a.report("ann", "bot", "deploy x", failedBefore))
		a.vote(action, true)
		a.pauses("the action is approved", "failed", a.report("ann", "bot", "deploy x"))
	})
}

// People are asked once about a failure, and once about the action behind it.
func TestFailuresAreApprovedOnce(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.vote(a.pauses("the failure", "failed", a.report("ann", "bot", "deploy x", failedBefore)), true)
	a.vote(a.pauses("the action", "deploy", a.report("ann", "bot", "deploy x", failedBefore)), true)
	a.goesOn("both are approved", a.report("ann", "bot", "deploy x", failedBefore))
	a.pauses("the next failure", "failed", a.report("ann", "bot", "look", failedBefore))
}

// An agent whose action is refused is not told that it waits for a person.
func TestRefusedActionsDoNotWait(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.vote(a.pauses("an action", "", a.report("ann", "bot", "deploy x")), false)
	for range 2 {
		refused := a.report("ann", "bot", "deploy x")
		a.pauses("it is refused", "A person has refused", refused)
		if n := refused.Data.Notifications; len(n) != 0 {
			t.Errorf("it is told %+v", n)
		}
	}
}

// A denied action is refused for half an hour in whatever execution of the agent, also if it was denied when the one
// that asked had ended. An approval is for the execution that asked.
func TestDenialsOutliveExecutions(t *testing.T) {
	for _, before := range []bool{true, false} {
		a := newAgents(t, strict(), nil)
		a.start("ann", "bot")
		a.start("ann", "other")
		a.start("bob", "bot")
		item := a.pauses("an action", "requires approval", a.report("ann", "bot", "deploy x"))
		if before {
			a.vote(item, false)
		}
		a.call("ann", gen.CompleteExecution, `{"element_name":"bot"}`)
		if !before {
			a.vote(item, false)
		}
		a.now = a.now.Add(29 * time.Minute)
		a.start("ann", "bot")
		for range 2 {
			refused := a.report("ann", "bot", "deploy x")
			if id := a.pauses("a new execution", "A person has refused, because: I looked", refused); id != "" {
				t.Errorf("people are asked again: %s", id)
			}
		}
		for what, answer := range map[string]agentAnswer{
			"another agent": a.report("ann", "other", "deploy x"), "another caller": a.report("bob", "bot", "deploy x"),
		} {
			a.pauses(what, "requires approval", answer)
		}
		a.now = a.now.Add(2 * time.Minute)
		a.pauses("half an hour later", "requires approval", a.report("ann", "bot", "deploy x"))
	}

	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	a.vote(a.pauses("an action", "requires approval", a.report("ann", "bot", "deploy x")), true)
	a.call("ann", gen.CompleteExecution, `{"element_name":"bot"}`)
	a.start("ann", "bot")
	a.pauses("it was approved in an execution before", "requires approval", a.report("ann", "bot", "deploy x"))
}

func (a *agents) repeat(hint string) agentAnswer {
	a.t.Helper()
	return a.send("ann", gen.RecordExecutionStep, `{"operation":"record_execution_step","_request_id":"r1",`+
		`"params":{"element_name":"bot","nextActionHint":"`+hint+`"}}`)
}

// The answer of a report that comes again is that of the policy of then, and holds no longer than that.
func TestRepeatedReportsUnderAnotherPolicy(t *testing.T) {
	p := strict()
	p.Loop.Mode = policy.Monitoring
	a := newAgents(t, p, nil)
	a.start("ann", "bot")
	a.goesOn("monitoring", a.repeat("rm -rf /"))
	if err := a.adapter.SetPolicy(strict()); err != nil {
		t.Fatal(err)
	}
	if got := a.repeat("rm -rf /"); !got.Data.Stopped {
		t.Errorf("enforcing: %+v", got)
	}
}

// A report is answered again a few times, for some minutes, and each time is on record.
func TestRepeatedReportsAreBounded(t *testing.T) {
	a := newAgents(t, strict(), nil)
	a.start("ann", "bot")
	evaluated := func() (n int) {
		for _, r := range a.records.list {
			if r.Event == audit.StepEvaluated {
				n++
			}
		}
		return n
	}
	for i, step := range []int{1, 1, 1, 1, 2, 2} {
		if got := a.repeat("look"); got.Data.Step != step || evaluated() != i+1 {
			t.Errorf("report %d is step %d, of which %d are on record; want step %d", i, got.Data.Step, evaluated(), step)
		}
	}
	a.now = a.now.Add(5 * time.Minute)
	if got := a.repeat("look"); got.Data.Step != 3 {
		t.Errorf("5 minutes later it is step %d", got.Data.Step)
	}
	for range 20 {
		a.repeat("look")
	}
	a.pauses("after the last step", "Step limit exceeded", a.repeat("look again"))
}
