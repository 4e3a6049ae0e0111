package aql_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// An agent that was started while nobody was asked does not go on once people approve of each start: its execution
// ends, and it is started anew. One of which a person has approved goes on in every mode.
func TestAgentsOfWhichNobodyApproved(t *testing.T) {
	with := func(mode policy.LoopMode) *policy.Policy {
		p := strict()
		p.Loop.Mode = mode
		return p
	}
	for _, before := range []policy.LoopMode{policy.Logging, policy.Disabled} {
		for _, after := range []policy.LoopMode{policy.Enforcing, policy.Monitoring} {
			t.Run(string(before)+" to "+string(after), func(t *testing.T) {
				a := newAgents(t, with(before), nil)
				change := func(mode policy.LoopMode) {
					t.Helper()
					if err := a.adapter.SetPolicy(with(mode)); err != nil {
						t.Fatal(err)
					}
				}
				started := a.call("ann", gen.ExecuteAgent, `{"element_name":"bot","goal":"g"}`)
				a.goesOn("while nobody is asked", a.report("ann", "bot", "look at it"))
				change(after)
				refused := a.report("ann", "bot", "look at it")
				a.fails("once people are asked", "CONFLICT_INVALID_STATE", refused)
				if !strings.Contains(refused.Error.Message, "start it anew with execute_agent") {
					t.Errorf("it is told %q", refused.Error.Message)
				}
				ended := a.call("ann", gen.GetExecution, `{"execution_id":"`+started.Data.ExecutionID+`"}`)
				if ended.Data.Status != "cancelled" {
					t.Errorf("its execution is %s", ended.Data.Status)
				}
				a.start("ann", "bot")
				for _, mode := range []policy.LoopMode{after, before, after} {
					change(mode)
					a.goesOn("approved, in "+string(mode), a.report("ann", "bot", "look at it"))
				}
			})
		}
	}
}
