package toolhook

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

// judging returns a loop that also judges a text which a hint has no room for. People see the hint, and what they
// approve of is told by its digest.
func judging(l *aql.Loop, p *policy.Policy, text string) *aql.Loop {
	var configured *policy.Loop
	if p != nil {
		configured = p.Loop
	}
	judging := *l
	judging.Score = func(ctx context.Context, agent string, r loop.Report) (risk int, why []string, err error) {
		if l.Score != nil {
			if risk, why, err = l.Score(ctx, agent, r); err != nil {
				return risk, why, err
			}
		}
		c := loop.For(configured, agent)
		c.Mode, c.Risks, c.AutoApprove = policy.Enforcing, l.Risks, nil
		d := loop.Evaluate(c, loop.Report{Hint: text, At: r.At}, loop.History{})
		of := d.Score
		if d.Decided == loop.StagePatterns {
			switch d.Needs {
			case loop.NeedsUnblock:
				of = highestRisk
			case loop.NeedsApproval:
				of = riskOfApproval
			}
		}
		return max(risk, of), append(why, "What the hint has no room for was judged with it"), nil
	}
	return &judging
}

const (
	highestRisk    = 100
	riskOfApproval = 60 // the highest of which an approval is enough
)
