package policy

import (
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Rules are the rules of a policy that may apply to calls of one operation. A nil Rules allows every call. It is immutable
// and safe for concurrent use.
type Rules struct {
	fallback Effect
	list     []boundRule // the most restrictive first
	params   bool
	confirms bool
}

// boundRule is a rule that may apply to calls of an operation.
type boundRule struct {
	rule       *Rule
	conditions []condition
}

// Request is what a decision is about, beside the operation.
type Request struct {
	// Caller is who calls, as the transport knows (requirements REQ-VO-14).
	Caller identity.Caller
	// Value returns the JSON text of a parameter by its own name, after defaults, and whether it is given. It is called for
	// parameters that conditions look at; where it is nil, none of those can be judged.
	Value func(parameter string) (json string, given bool)
}

// Decision is what comes of a call.
type Decision struct {
	Effect Effect
	// Rule is the first of the rules that decided; nil: the default did. It must not be changed.
	Rule *Rule
	// Cooldown is the longest that one of the matching rules asks for. For Confirm.
	Cooldown time.Duration
	// Reauthenticate tells whether one of the matching rules asks for it. For Confirm.
	Reauthenticate bool
}

// For returns the rules for calls of an operation; nil where none can apply and the default is Allow. For an operation
// that the adapter does not have, the default decides.
func (b *Bound) For(operation string) *Rules {
	if _, known := b.operations[operation]; !known {
		return b.strangers
	}
	return b.applicable[operation]
}

// MayConfirm reports whether a call may have to be confirmed.
func (r *Rules) MayConfirm() bool { return r != nil && (r.confirms || r.fallback == Confirm) }

// Params reports whether conditions look at parameters.
func (r *Rules) Params() bool { return r != nil && r.params }

// Decide decides about a call: the most restrictive of the rules that match wins, and the default where none does
// (gatekeeper §3, requirements REQ-TR-13). A condition that cannot be judged counts against the call.
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
	strict := b.rule.Effect == Allow
	for i := range b.conditions {
		switch t := b.conditions[i].judge(q, strict, nil); {
		case t == no, t == unknown && strict:
			return false
		}
	}
	return true
}

// excludes is the key of the rule that excludes a caller; empty: none does.
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
