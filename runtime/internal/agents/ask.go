package agents

import (
	"encoding/json"
	"strconv"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
)

// question is the part of a question by which the inbox finds its item.
func (j *judgement) question(b approve.Binding) approve.Question {
	q := approve.Question{
		Binding: b, Kind: approve.Step, Caller: j.report.Caller, Lifetime: stepLifetime, At: j.keeper.now(),
	}
	if j.report.Caller.Anonymous() {
		q.Session = j.report.Session
	}
	return q
}

// subject is what an approval is good for.
func (j *judgement) subject(a loop.Approval) string {
	switch a {
	case loop.ApprovedSteps:
		return strconv.Itoa(j.state.Before)
	case loop.ApprovedFailure:
		return j.state.step()
	}
	return j.action
}

// kinds are what items about agents are about.
var kinds = map[loop.Approval]ApprovalOf{
	loop.ApprovedSteps: OfSteps, loop.ApprovedFailure: OfFailure, loop.ApprovedAction: OfAction,
}

// binding is what the item of an approval is bound to that an execution asks for.
func (j *judgement) binding(execution string, a loop.Approval) approve.Binding {
	w := &j.report.Who
	about := string(kinds[a]) + " " + j.subject(a)
	return bindingOf(j.keeper.o.Adapter, w.Caller.Key(), anonymous(w), w.Agent, execution, about)
}

// about says what the item is about that the agent waits for.
func (j *judgement) about(b approve.Binding) ApprovalOf {
	for approval, of := range kinds {
		if j.binding(j.state.Execution, approval) == b {
			return of
		}
	}
	return OfOther
}

// ask is the question that a person is asked about a directive.
func (j *judgement) ask(d *loop.Directive) approve.Question {
	k, s := j.keeper, j.state
	q := j.question(j.binding(s.Execution, d.Approval))
	q.Adapter, q.Operation, q.Danger, q.Rule = k.o.Adapter, "record_execution_step", gen.Reversible, d.Rule
	q.Message = "Agent '" + j.report.Agent + "': " + d.Reason + ". " + map[loop.Approval]string{
		loop.ApprovedSteps:   "May it take as many steps again, whatever they are?",
		loop.ApprovedFailure: "May it go on after that?",
		loop.ApprovedAction:  "May it do this, once?",
	}[d.Approval]
	q.Reasons, q.Params = d.Factors, said(j.report.Agent, s.Execution, j.report.Hint)
	return q
}

// said is what people are shown of what an agent says. A long hint is shown in parts, so that they see all of it.
func said(agent, execution, hint string) string {
	params := map[string]string{"element_name": agent, "execution_id": execution}
	approve.InParts(params, "next_action_hint", hint)
	text, err := json.Marshal(params)
	if err != nil { // which texts cannot fail to be
		return "{}"
	}
	return string(text)
}
