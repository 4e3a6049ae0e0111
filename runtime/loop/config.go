package loop

import (
	"cmp"
	"slices"

	"github.com/aqltag/aqltag/runtime/policy"
)

// For returns the configuration of an agent by a policy's loop; nil: the defaults. Without policy.LoopAgent.Loosen,
// what the policy says of an agent only tightens what it says of all.
func For(l *policy.Loop, agent string) Config {
	if l == nil {
		l = new(policy.Loop)
	}
	limits := l.LoopLimits
	limits.MaxSteps = cmp.Or(limits.MaxSteps, policy.DefaultMaxSteps)
	limits.RiskTolerance = cmp.Or(limits.RiskTolerance, policy.Moderate)
	if a, ok := l.Agent(agent); ok {
		if a.Loosen {
			limits = replaced(limits, &a.LoopLimits)
		} else {
			limits = tightened(limits, &a.LoopLimits)
		}
	}
	return Config{
		Mode: cmp.Or(l.Mode, policy.Enforcing), MaxSteps: limits.MaxSteps, Tolerance: limits.RiskTolerance,
		Deny: Patterns(limits.Deny...), RequiresApproval: Patterns(limits.RequiresApproval...),
		AutoApprove: Patterns(limits.AutoApprove...),
	}
}

// replaced returns limits with what others give in their place.
func replaced(l policy.LoopLimits, by *policy.LoopLimits) policy.LoopLimits {
	l.MaxSteps, l.RiskTolerance = cmp.Or(by.MaxSteps, l.MaxSteps), cmp.Or(by.RiskTolerance, l.RiskTolerance)
	for _, list := range []struct {
		of *[]string
		by []string
	}{{&l.Deny, by.Deny}, {&l.RequiresApproval, by.RequiresApproval}, {&l.AutoApprove, by.AutoApprove}} {
		if list.by != nil {
			*list.of = list.by
		}
	}
	return l
}

// tightened returns limits that allow what two of them allow.
func tightened(l policy.LoopLimits, by *policy.LoopLimits) policy.LoopLimits {
	l.MaxSteps = min(l.MaxSteps, cmp.Or(by.MaxSteps, l.MaxSteps))
	if by.RiskTolerance != "" && Threshold(by.RiskTolerance) < Threshold(l.RiskTolerance) {
		l.RiskTolerance = by.RiskTolerance
	}
	l.Deny = slices.Concat(l.Deny, by.Deny)
	l.RequiresApproval = slices.Concat(l.RequiresApproval, by.RequiresApproval)
	return l
}
