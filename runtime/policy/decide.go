package policy

import (
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Rules are the rules of a policy that apply to one operation. A nil *Rules allows every call. It is immutable and safe
// for concurrent use.
type Rules struct {
	fallback Effect
	list     []boundRule // the most restrictive first
	confirms bool
}

// boundRule is a rule that applies to an operation.
type boundRule struct {
	rule       *Rule
	conditions []condition
}

// Request is a call of an operation.
type Request struct {
	// Caller is the caller that the transport reports, and never what a request claims (MCP-AQL core §2.3.5).
	Caller identity.Caller
	// Value returns the JSON text of a parameter by its own name, after defaults, and whether it is given. It is called
	// for the parameters that conditions name. If it is nil, the results of all conditions are unknown.
	Value func(parameter string) (json string, given bool)
}

// Decision is what a policy decides about a call.
type Decision struct {
	Effect Effect
	// Rule is the first matching rule with this effect; nil: the default decided. It must not be changed.
	Rule *Rule
	// Cooldown is the longest cooldown of the matching rules, if the effect is Confirm.
	Cooldown time.Duration
	// Reauthenticate reports whether a matching rule demands it, if the effect is Confirm.
	Reauthenticate bool
	// Approvers are those of the matching rules, all of which hold, if the effect is Confirm. They must not be changed.
	Approvers []*Approvers
}

// For returns the rules that apply to an operation; nil if none does and the default is Allow. The default decides
// about an operation that the adapter does not have.
func (b *Bound) For(operation string) *Rules {
	if _, known := b.operations[operation]; !known {
		return b.unknown
	}
	return b.applicable[operation]
}

// MayConfirm reports whether some call of the operation must be confirmed.
func (r *Rules) MayConfirm() bool { return r != nil && (r.confirms || r.fallback == Confirm) }

// Confirming returns the rules that require a confirmation of a call; empty: none does. They must not be changed.
func (r *Rules) Confirming(q Request) []*Rule {
	if r == nil {
		return nil
	}
	var rules []*Rule
	for i := range r.list {
		if b := &r.list[i]; b.rule.Effect == Confirm && b.matches(&q) {
			rules = append(rules, b.rule)
		}
	}
	return rules
}

// MayAllow reports whether some call of the operation by a caller is not denied. What conditions on parameters decide
// counts as possible.
func (r *Rules) MayAllow(caller identity.Caller) bool {
	if r == nil {
		return true
	}
	possible := r.fallback != Deny
	for i := range r.list {
		b := &r.list[i]
		if b.rule.excludes(&caller) != "" {
			continue
		}
		if b.rule.Effect == Deny && len(b.conditions) == 0 {
			return false
		}
		possible = possible || b.rule.Effect != Deny
	}
	return possible
}

// Decide decides about a call. The most restrictive rule that matches wins; if none matches, the default decides
// (MCP-AQL gatekeeper §3). A condition with an unknown result counts against the call.
func (r *Rules) Decide(q Request) Decision {
	if r == nil {
		return Decision{Effect: Allow}
	}
	var d Decision
	for i := range r.list {
		b := &r.list[i]
		if d.Rule != nil && b.rule.Effect != d.Effect {
			break // the others are less restrictive
		}
		if !b.matches(&q) {
			continue
		}
		if d.Rule == nil {
			d.Rule, d.Effect = b.rule, b.rule.Effect
		}
		if d.Effect != Confirm {
			break
		}
		d.Cooldown = max(d.Cooldown, b.rule.Cooldown)
		d.Reauthenticate = d.Reauthenticate || b.rule.Reauthenticate
		if b.rule.Approvers != nil {
			d.Approvers = append(d.Approvers, b.rule.Approvers)
		}
	}
	if d.Rule == nil {
		d.Effect = r.fallback
	}
	return d
}

// matches reports whether the rule matches a call of its operation.
func (b *boundRule) matches(q *Request) bool {
	if b.rule.excludes(&q.Caller) != "" {
		return false
	}
	allows := b.rule.Effect == Allow
	for i := range b.conditions {
		switch t := b.conditions[i].evaluate(q, allows, nil); {
		case t == no, t == unknown && allows:
			return false
		}
	}
	return true
}

// excludes returns the key of the rule because of which it does not match a caller; empty: it matches.
func (r *Rule) excludes(c *identity.Caller) string {
	known := !c.Anonymous()
	switch {
	case r.Anonymous != nil && *r.Anonymous == known:
		return "anonymous"
	case len(r.Callers) > 0 && (!known || !matchesAny(r.Callers, c.Subject)):
		return "callers"
	case len(r.Issuers) > 0 && !matchesAny(r.Issuers, c.Issuer):
		return "issuers"
	case len(r.Scopes) > 0 && !sharesOne(r.Scopes, c.Scopes):
		return "scopes"
	case known && matchesAny(r.Not.Callers, c.Subject):
		return "not.callers"
	case matchesAny(r.Not.Issuers, c.Issuer):
		return "not.issuers"
	case sharesOne(r.Not.Scopes, c.Scopes):
		return "not.scopes"
	}
	return ""
}

func sharesOne(a, b []string) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}
