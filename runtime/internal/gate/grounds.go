package gate

import (
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Grounds are why a request has to be confirmed, and how. The zero value is those of a request that has not.
type Grounds struct {
	always         bool // whatever the policy says: for its danger level, by the trust level, or since people type
	byPolicy       bool // by rules, or by default
	rules          []*policy.Rule
	cooldown       time.Duration
	reauthenticate bool
}

// Grounds returns why a request has to be confirmed that is not refused.
func (g *Gate) Grounds(r *Request) Grounds {
	a := &admission{gate: g, Request: r, now: g.clock.Now()}
	if a.decide() != nil || !a.confirm {
		return Grounds{}
	}
	return Grounds{
		always: r.Operation.confirm && !a.light, byPolicy: a.decision.Effect == policy.Confirm,
		rules:    r.Operation.rules.Confirming(policy.Request{Caller: r.Caller, Value: r.Params.Seen}),
		cooldown: a.cooldown(), reauthenticate: a.reauthenticates(),
	}
}

// Cover reports whether a request that was confirmed, on these grounds, may make another one on behalf of its caller
// that would have to be on others: whether all of those were among them, and it had to be confirmed as strictly.
func (g *Grounds) Cover(other Grounds) bool {
	for _, rule := range other.rules {
		if !slices.Contains(g.rules, rule) {
			return false
		}
	}
	return (g.always || !other.always) && (g.byPolicy || !other.byPolicy) && g.cooldown >= other.cooldown &&
		(g.reauthenticate || !other.reauthenticate)
}
