package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/words"
)

// stepFlags say which report of an agent policy explain is about.
type stepFlags struct {
	agent, hint, outcome string
	step                 int
}

func (f *stepFlags) declare(set *flagSet) {
	set.StringVar(&f.agent, "agent", "",
		"explain: the `name` of an agent; explains what the safety loop says of -hint, in place of a call")
	set.StringVar(&f.hint, "hint", "", "explain: the `text` with which the agent reports its next action")
	set.StringVar(&f.outcome, "outcome", "",
		"explain: the `outcome` that it reports of the step before: success, failure or skipped")
	set.IntVar(&f.step, "step", 1, "explain: the `number` of the report since the agent was started")
}

// given reports whether the flags are about a report.
func (f *stepFlags) given() bool { return f.agent != "" || f.hint != "" }

// check returns what is wrong with the flags.
func (f *stepFlags) check() error {
	switch {
	case f.agent == "" || f.hint == "":
		return errors.New("-agent and -hint belong together")
	case !policy.IsAgentName(f.agent):
		return fmt.Errorf("-agent: %q is no name of an agent", f.agent)
	case f.step < 1:
		return errors.New("-step is a number from 1 on")
	}
	switch loop.Outcome(f.outcome) {
	case "", loop.Succeeded, loop.Failed, loop.Skipped:
		return nil
	}
	return fmt.Errorf("-outcome is %q; it is success, failure or skipped", f.outcome)
}

// stepExplanation is what policy explain -json prints of a report.
type stepExplanation struct {
	Agent      string               `json:"agent"`
	Hint       string               `json:"hint"`
	Mode       policy.LoopMode      `json:"mode"`
	Continue   bool                 `json:"continue"`
	Stopped    bool                 `json:"stopped"`
	Reason     string               `json:"reason,omitempty"`
	Factors    []string             `json:"factors"`
	Needs      string               `json:"needs,omitempty"`
	Stage      string               `json:"stage,omitempty"`
	Rule       string               `json:"rule,omitempty"`
	Tier       loop.Tier            `json:"tier,omitempty"`
	Risk       *int                 `json:"risk,omitempty"`
	MaxSteps   int                  `json:"max_steps"`
	Tolerance  policy.RiskTolerance `json:"risk_tolerance"`
	OwnLimits  bool                 `json:"own_limits"` // the policy has some for this agent
	Configured bool                 `json:"configured"` // the policy has a loop
}

// stages are the names of the stages that can decide.
var stages = map[loop.Stage]string{
	loop.StageSteps: "step limit", loop.StageOutcome: "outcome of the step before", loop.StagePatterns: "patterns",
	loop.StageRisk: "risk", loop.StageTolerance: "risk tolerance",
}

var needs = map[loop.Need]string{
	loop.NeedsReport: "another report", loop.NeedsApproval: "the approval of a person",
	loop.NeedsChallenge: "the verification by a person", loop.NeedsUnblock: "a person who lifts the block",
}

// explainStep prints what the safety loop says of a report, and why. The operations of the packages have the risks of
// their danger levels.
func (f *policyFlags) explainStep(ctx context.Context, env *environment) int {
	text, err := plainfile.Read(ctx, env.path(f.file), 2<<20)
	if err != nil {
		return fail(env, exitIO, fmt.Errorf("reading the policy: %w", err))
	}
	p, err := policyfile.Parse(f.file, text)
	if err != nil {
		return f.mistakes(env, err)
	}
	adapter, code := f.definitions(ctx, env)
	if code >= 0 {
		return code
	}
	config := loop.For(p.Loop, f.steps.agent)
	config.Operations = loop.Operations(adapter.Operations)
	d := loop.Evaluate(config, loop.Report{Hint: f.steps.hint, Outcome: loop.Outcome(f.steps.outcome)},
		loop.History{Number: f.steps.step})
	e := stepExplanation{
		Agent: f.steps.agent, Hint: f.steps.hint, Mode: config.Mode, Continue: d.Continue, Stopped: d.Stopped,
		Reason: d.Reason, Factors: d.Factors, Needs: needs[d.Needs], Stage: stages[d.Decided], Rule: d.Rule, Tier: d.Tier,
		MaxSteps: config.MaxSteps, Tolerance: config.Tolerance, Configured: p.Loop != nil,
	}
	if d.Score >= 0 {
		e.Risk = &d.Score
	}
	if p.Loop != nil {
		_, e.OwnLimits = p.Loop.Agent(f.steps.agent)
	}
	if f.json {
		return printJSON(env, e)
	}
	if err := e.writeText(env.stdout); err != nil {
		return fail(env, exitIO, err)
	}
	return exitOK
}

// writeText writes the explanation for people.
func (e *stepExplanation) writeText(w io.Writer) error {
	var b strings.Builder
	answer := "goes on"
	switch {
	case e.Stopped:
		answer = "is blocked"
	case !e.Continue:
		answer = "is paused"
	}
	fmt.Fprintf(&b, "%s %s (%s)\n", e.Agent, answer, e.Mode)
	for _, line := range [][2]string{
		{"reason", e.Reason}, {"needs", e.Needs}, {"decided by", e.Stage}, {"rule", e.Rule},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %-11s %s\n", line[0], words.Printable(line[1]))
		}
	}
	from := "those of all agents"
	switch {
	case !e.Configured:
		from = "the defaults: the policy has no loop"
	case e.OwnLimits:
		from = "with those of the agent"
	}
	fmt.Fprintf(&b, "  %-11s %d steps, tolerance %s (%s)\n\nWhat each stage found:\n", "limits", e.MaxSteps,
		cmp.Or(e.Tolerance, policy.Moderate), from)
	for _, factor := range e.Factors {
		fmt.Fprintf(&b, "  %s\n", words.Printable(factor))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// loopDemands says in words what the safety loop demands of a call of one of its operations that the rules do not deny.
func loopDemands(l *policy.Loop, operation string) string {
	if operation != gen.ExecuteAgent {
		return "no call waits for a confirmation, whatever the rules say: the loop decides about what agents report"
	}
	switch mode := loop.For(l, "").Mode; mode {
	case policy.Enforcing, policy.Monitoring:
		return "a person approves of each start in the inbox, whatever the rules say (mode " + string(mode) +
			"); a rule with approvers says who"
	default:
		return "nobody is asked, unless a rule says so (mode " + string(mode) + ")"
	}
}
