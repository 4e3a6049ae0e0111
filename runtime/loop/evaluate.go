package loop

import (
	"fmt"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Threshold returns the risk above which a tolerance pauses every action.
func Threshold(t policy.RiskTolerance) int {
	switch t {
	case policy.Aggressive:
		return 75
	case policy.Moderate:
		return 50
	}
	return 25 // conservative, and what does not exist
}

// stepLimit is the reason of a pause at the end of the steps, as MCP-AQL core §8.7.2 words it.
const stepLimit = "Step limit exceeded"

// Evaluate says whether an agent may do what it reports (MCP-AQL core §8.7.2). The stages come in their order, and the
// first one that pauses or stops the agent ends the evaluation. What people have approved passes its stage, but no
// approval passes a pattern of Deny or the tier DangerZone.
func Evaluate(c Config, r Report, h History) Directive { return Read(r.Hint).Evaluate(c, r, h) }

// Reading is a hint as it is judged, for hints that are judged several times.
type Reading struct {
	written string
	text
}

// Read reads a hint.
func Read(hint string) *Reading { return &Reading{hint, read(hint)} }

// Evaluate is the function Evaluate for the hint that was read, whatever that of the report is.
func (of *Reading) Evaluate(c Config, r Report, h History) Directive {
	r.Hint = of.written
	e := &evaluation{config: &c, report: &r, history: &h, hint: of.text}
	e.Score, e.StepsRemaining = -1, max(c.MaxSteps-h.Number, 0)
	e.Action = Action{At: r.At, Digest: e.hint.digest()}
	switch c.Mode {
	case policy.Logging:
		return e.unjudged("Steps are recorded and not evaluated")
	case policy.Disabled:
		return e.unjudged("The safety loop is switched off")
	}
	e.evaluate()
	e.Continue = e.Needs == NeedsNothing
	if c.Mode == policy.Monitoring && !e.Continue {
		would := "paused"
		if e.Stopped {
			would = "stopped"
		}
		e.factor("Monitoring alone: enforced, this would have %s", would)
		e.Continue, e.Stopped = true, false
	}
	return e.Directive
}

// evaluation is one evaluation on its way through the stages.
type evaluation struct {
	Directive
	config  *Config
	report  *Report
	history *History
	hint    text
}

func (e *evaluation) factor(format string, args ...any) {
	e.Factors = append(e.Factors, fmt.Sprintf(format, args...))
}

// unjudged is the directive of a mode that does not evaluate.
func (e *evaluation) unjudged(why string) Directive {
	e.factor("%s", why)
	e.Continue = true
	return e.Directive
}

// pause ends the evaluation at a stage.
func (e *evaluation) pause(at Stage, needs Need, rule, format string, args ...any) {
	e.Decided, e.Needs, e.Rule, e.Reason = at, needs, rule, fmt.Sprintf(format, args...)
	e.Stopped = needs == NeedsUnblock
}

// approvable ends the evaluation at a stage, unless a person has approved what the stage holds up.
func (e *evaluation) approvable(at Stage, what Approval, rule, format string, args ...any) (ended bool) {
	passes := what
	if what == ApprovedAction {
		passes |= VerifiedAction
	}
	if e.history.Approved&passes != 0 {
		e.factor("A person has approved it")
		return false
	}
	e.pause(at, NeedsApproval, rule, format, args...)
	e.Approval = what
	return true
}

func (e *evaluation) evaluate() {
	if e.state() || e.steps() || e.outcome() {
		return
	}
	if ended := e.patterns(); !ended && !e.risk() {
		e.tolerance()
	}
}

// state is the stage before those of the protocol: what an agent waits for is not judged anew.
func (e *evaluation) state() (ended bool) {
	h := e.history
	switch {
	case h.Blocked != "":
		e.factor("Blocked: %s", h.Blocked)
		e.Tier = DangerZone
		e.pause(StageState, NeedsUnblock, "block", "Blocked: %s", h.Blocked)
	case e.hint.empty():
		e.factor("The hint has nothing that a person could read")
		e.pause(StageState, NeedsReport, "hint", "The next action hint says nothing")
	case h.Challenge != "":
		e.factor("Challenge %s is open", h.Challenge)
		e.Tier = Verify
		e.pause(StageState, NeedsChallenge, "challenge", "Waits for a person to verify: challenge %s", h.Challenge)
	case h.Paused != "":
		e.factor("A person has not decided yet")
		e.pause(StageState, NeedsApproval, "pause", "Waits for a person: %s", h.Paused)
	default:
		return false
	}
	return true
}

// steps is stage 1.
func (e *evaluation) steps() (ended bool) {
	e.factor("Step %d of %d", e.history.Number, e.config.MaxSteps)
	return e.history.Number > e.config.MaxSteps &&
		e.approvable(StageSteps, ApprovedSteps, "max_steps", stepLimit)
}

// outcome is stage 2.
func (e *evaluation) outcome() (ended bool) {
	if e.report.Outcome == "" {
		return false
	}
	e.factor("Outcome of the step before: %s", e.report.Outcome)
	return e.report.Outcome == Failed &&
		e.approvable(StageOutcome, ApprovedFailure, "outcome", "The step before has failed")
}

// patterns is stage 3. It also ends the evaluation of what needs no person.
func (e *evaluation) patterns() (ended bool) {
	if e.hint.hidden > 0 {
		e.factor("Characters that nobody sees were left out: %d", e.hint.hidden)
	}
	if p := first(e.config.Deny, func(p *Pattern) bool { return p.anywhere(&e.hint) }); p != nil {
		e.factor("Action matches deny pattern '%s'", p)
		e.Tier = DangerZone
		e.pause(StagePatterns, NeedsUnblock, p.written, "Blocked: the action matches the deny pattern '%s'", p)
		return true
	}
	if p := first(e.config.RequiresApproval, func(p *Pattern) bool { return p.anywhere(&e.hint) }); p != nil {
		e.factor("Action matches pattern '%s', which requires approval", p)
		if e.approvable(StagePatterns, ApprovedAction, p.written,
			"The action matches the pattern '%s', which requires approval", p) {
			e.Tier = Confirm
			return true
		}
		return false
	}
	p := first(e.config.AutoApprove, func(p *Pattern) bool { return p.whole(&e.hint) })
	switch {
	case p != nil && p.approves(&e.hint, e.report.Hint):
		e.factor("Action matches pattern '%s', which is approved of", p)
		e.Tier, e.Decided, e.Rule = Advisory, StagePatterns, p.written
		return true
	case p != nil:
		e.factor("Action matches pattern '%s', but may be of more than one", p)
	default:
		e.factor("No pattern matches the action")
	}
	return false
}

// risk is stage 4.
func (e *evaluation) risk() (ended bool) {
	if script := e.config.foreign(&e.hint); script != "" {
		e.factor("No pattern that holds actions up has the letters of its words: %s", script)
	}
	score, why, verb := e.config.score(&e.hint, e.report, e.history, e.Action.Digest)
	e.Score, e.Tier, e.Action.Verb = score, TierOf(score), verb
	e.factor("Risk %d (%s): %s", score, e.Tier, why)
	e.Factors = append(e.Factors, e.report.Why...)
	switch e.Tier {
	case Confirm:
		return e.approvable(StageRisk, ApprovedAction, why, "The action has a risk of %d, which requires approval", score)
	case Verify:
		if e.history.Approved&VerifiedAction != 0 {
			e.factor("A person has verified it")
			return false
		}
		e.pause(StageRisk, NeedsChallenge, why, "The action has a risk of %d, which requires verification", score)
		return true
	case DangerZone:
		e.pause(StageRisk, NeedsUnblock, why, "Blocked: the action has a risk of %d", score)
		return true
	}
	return false
}

// tolerance is stage 5. It pauses what no stage before has, and lets nothing pass that one of them holds up.
func (e *evaluation) tolerance() {
	limit := Threshold(e.config.Tolerance)
	e.factor("Tolerance %s: pauses above %d", e.config.Tolerance, limit)
	if e.Score > limit {
		e.approvable(StageTolerance, ApprovedAction, string(e.config.Tolerance),
			"The action has a risk of %d, and the agent may take %d", e.Score, limit)
	}
}
