package aql

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// unheld are the operations whose calls wait for no confirmation: the loop decides about what they report.
var unheld = []string{
	gen.RecordExecutionStep, gen.CompleteExecution, gen.AbortExecution, gen.ConfirmOperation, gen.VerifyChallenge,
}

// unheardRules returns the patterns of rules that have people confirm nothing but calls of unheld operations: they
// would do nothing. A pattern that matches other operations of the adapter too is for those.
func (l *safetyLoop) unheardRules(p *policy.Policy) (mistakes policy.Mistakes) {
	for i := range p.Rules {
		if p.Rules[i].Effect != policy.Confirm {
			continue
		}
		for k, pattern := range p.Rules[i].Operations {
			isOther := func(name string) bool { return policy.Matches(pattern, name) && !slices.Contains(unheld, name) }
			named := slices.IndexFunc(unheld, func(name string) bool { return policy.Matches(pattern, name) })
			if named < 0 || slices.ContainsFunc(l.operations, isOther) {
				continue
			}
			mistakes = append(mistakes, p.Mistake(policy.Part{Rule: i, Condition: -1, Key: "operations", Item: k}, -1,
				fmt.Sprintf("nobody confirms calls of %s: the safety loop decides which actions of agents wait, and any one "+
					"person approves of them. List actions in loop.requires_approval, and say in rules who must approve of "+
					"execute_agent and of the operations that agents call", unheld[named])))
		}
	}
	return mistakes
}
