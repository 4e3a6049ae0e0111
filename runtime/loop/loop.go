// Package loop evaluates what agents report that they will do next (MCP-AQL core §8.7): may they, or does a person look
// at it first?
//
//	config := loop.For(file.Policy().Loop, "release_bot")
//	directive := loop.Evaluate(config, loop.Report{Hint: "git push origin main"}, loop.History{Number: 3})
//
// Evaluate is a function of its arguments alone, so that every answer can be explained afterwards. What it does not
// know it is told: how many steps there were, what the agent did before, and what people have approved. Package aql
// keeps that, asks the people, and holds the agents (aql.Options.Loop).
//
// Agents report in their own words, and an agent can report one thing and do another. The loop is a railing for those
// that follow their instructions, and a record of what they said. See docs/safety.md.
package loop

import (
	"time"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Config is what one agent may do without a person. For makes it.
type Config struct {
	Mode      policy.LoopMode
	MaxSteps  int
	Tolerance policy.RiskTolerance
	// Deny, RequiresApproval and AutoApprove are patterns of actions, in falling order of what they count.
	Deny, RequiresApproval, AutoApprove []Pattern
	// Risks are the patterns of risky actions; nil: Risks().
	Risks []Risk
	// Operations are those of the adapter, with the risk of each from 0 to 100: see Baseline.
	Operations map[string]int
}

// Outcome is what came of the step before (MCP-AQL core §8.6.3).
type Outcome string

// The outcomes. An agent that says nothing has the empty one.
const (
	Succeeded Outcome = "success"
	Failed    Outcome = "failure"
	Skipped   Outcome = "skipped"
)

// Report is what an agent says of its next step.
type Report struct {
	Hint    string // what it intends to do
	Outcome Outcome
	// Claimed is the risk that the client gives the action; nil: it gives none. It can make the action riskier, and no
	// less so. What is no number from 0 to 100 counts as 100.
	Claimed *float64
	// Scored is the risk that the service gives it by a function of its own, from 0 to 100, and Why says why.
	Scored int
	Why    []string
	At     time.Time
}

// History is what was before a report.
type History struct {
	// Number is that of the report since the agent was started, or a person let it go on, from 1.
	Number int
	// Recent are the actions of the reports before, the oldest first. The last twenty are enough.
	Recent []Action
	// Approved is what people have approved of this report.
	Approved Approval
	// Blocked says since when and why the agent is blocked; empty: it is not.
	Blocked string
	// Challenge is the challenge that is open about an action; empty: there is none.
	Challenge string
	// Paused says what a person has not decided yet; empty: nothing.
	Paused string
}

// Approval is a set of what people approve.
type Approval int

// What people approve.
const (
	ApprovedSteps   Approval = 1 << iota // that the agent goes on beyond its steps
	ApprovedFailure                      // that it goes on after a failure
	ApprovedAction                       // the action that is reported
	VerifiedAction                       // the action, by meeting a challenge
)

// Action is what History has of a report.
type Action struct {
	At     time.Time `json:"at"`
	Digest string    `json:"digest"`         // of the hint
	Verb   string    `json:"verb,omitempty"` // the pattern of Risk that the hint has, if it is destructive
}

// Tier is how much of a person an action needs (MCP-AQL core §8.7.2).
type Tier string

// The tiers.
const (
	Advisory   Tier = "advisory"    // risk 0 to 30: nothing
	Confirm    Tier = "confirm"     // 31 to 60: an approval
	Verify     Tier = "verify"      // 61 to 85: an approval that is proven
	DangerZone Tier = "danger_zone" // 86 to 100: the agent is blocked until then
)

// Stage is a stage of the evaluation (MCP-AQL core §8.7.2).
type Stage int

// The stages, in their order.
const (
	StageState     Stage = iota // the agent is blocked, or waits for a person
	StageSteps                  // the number of its steps
	StageOutcome                // what came of the step before
	StagePatterns               // the patterns of its configuration
	StageRisk                   // the tier of its risk
	StageTolerance              // the risk that it may take
)

// Need is what lets an agent go on.
type Need int

// What lets an agent go on.
const (
	NeedsNothing   Need = iota
	NeedsReport         // another report
	NeedsApproval       // the approval that Directive.Approval is
	NeedsChallenge      // a challenge about the action that is met
	NeedsUnblock        // that the block is lifted
)

// Directive is what an agent is told (MCP-AQL core §8.7.1), and what that is founded on.
type Directive struct {
	Continue bool
	Stopped  bool
	Reason   string   // why it is paused or stopped; empty: it is not
	Factors  []string // what each stage has found, in their order
	// StepsRemaining is how many more steps the agent may take before a person looks at it.
	StepsRemaining int
	Tier           Tier // empty: the evaluation ended before
	// Score is the risk of the action, from 0 to 100; -1: the evaluation ended before.
	Score int
	// Decided is the stage that has decided, and Rule its pattern, or what else it went by.
	Decided Stage
	Rule    string
	// Needs is what lets the agent go on. In the mode monitoring it is what would have to.
	Needs    Need
	Approval Approval // what is to be approved, where that is what it needs
	Action   Action   // for the history of the reports after
}
