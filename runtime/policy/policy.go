// Package policy decides by rules whether a call is allowed, denied, or must be confirmed (MCP-AQL gatekeeper §3).
// Rules match by operation, by caller and by the values of parameters; the most restrictive rule that matches wins.
//
//	rules := &policy.Policy{Rules: []policy.Rule{
//		{
//			Name: "no-deletes-by-machines", Effect: policy.Deny,
//			Operations: []string{"delete_*"}, Callers: []string{"ci-*"},
//			Reason: "Removing is not for machines",
//		},
//		{
//			Name: "recent-todos-stay", Effect: policy.Deny,
//			Operations: []string{"purge_completed"},
//			When:       []policy.Condition{{Param: "older_than_days", LessThan: 30}},
//			Reason:     "Only what was completed a month ago may go",
//		},
//	}}
//
// A service sets such a policy in aql.Options.Policy; package policyfile reads one from YAML. The adapter binds the
// policy to its operations before the first call. Binding refuses rules that could never match, so that a misspelt name
// does not allow what was to be denied.
//
// A decision depends on the operation, on the caller that the transport reports, and on the parameters that conditions
// name. Nothing else in a request can influence it.
package policy

import (
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Effect is what a policy decides about a call.
type Effect string

// The effects, from the least to the most restrictive (MCP-AQL gatekeeper §3).
const (
	Allow   Effect = "allow"
	Confirm Effect = "confirm"
	Deny    Effect = "deny"
)

// Effects returns the effects in rising order of restriction.
func Effects() []Effect { return []Effect{Allow, Confirm, Deny} }

// rank orders effects by how restrictive they are.
func (e Effect) rank() int { return slices.Index(Effects(), e) }

// Policy is a set of rules. The zero value allows everything. A policy must not be changed after Bind.
type Policy struct {
	// Default is the effect of calls that no rule matches; empty: Allow.
	Default Effect
	// Rules are all evaluated. Their order decides only which of several matching rules with the same effect is named.
	Rules []Rule
	// Loop configures the execution safety loop of an adapter that has one; nil: its defaults do. See aql.Options.Loop.
	Loop *Loop
	// Source is the file that the policy was read from: mistakes name its lines. Nil: the policy was made in Go.
	Source Source
}

// Rule matches the calls that meet all of its fields; an empty field matches every call. At least one of Operations,
// Categories, Danger, Callers, Issuers, Scopes, Anonymous, Not and When must be set.
//
// In patterns, * matches any number of characters and ? matches one. Every other character matches itself.
type Rule struct {
	// Name is unique in the policy. Operators see it in explanations and audit records.
	Name   string
	Effect Effect
	// Operations are patterns of operation names; one must match.
	Operations []string
	Categories []gen.Category
	// Danger is the lowest danger level that the rule matches.
	Danger gen.Danger
	// Callers are patterns of the caller's subject; one must match. They match no anonymous caller.
	Callers []string
	// Issuers are patterns of the caller's issuer; one must match. A subject is unique only together with its issuer.
	Issuers []string
	// Scopes are compared exactly; the caller must have one of them.
	Scopes []string
	// Anonymous, unless nil, matches anonymous callers only (true) or identified callers only (false).
	Anonymous *bool
	// Not excludes calls from the rule.
	Not Exception
	// When are conditions on parameters; all must hold. The rule does not apply to operations that lack a parameter that a
	// condition names.
	When []Condition
	// Hide are patterns of fields of results that the rule's callers do not get, each the name of a type in introspection,
	// a dot and the name of a field: Customer.email. A rule with Hide decides about no call: it has no Effect, and besides
	// Name only Callers, Issuers, Scopes, Anonymous, and of Not what is about callers. Without those it is for all of
	// them.
	Hide []string
	// Reason is the explanation that agents get. At most 500 bytes.
	Reason string
	// Cooldown is how long a confirmation token must wait before it is accepted; at most an hour. For Confirm only.
	Cooldown time.Duration
	// Reauthenticate requires that the person who confirms authenticates anew. For Confirm only.
	Reauthenticate bool
	// Approvers says who must approve; nil: nobody in particular. For Confirm only, and for adapters with an inbox.
	Approvers *Approvers
}

// Exception excludes calls from a rule: those that match any of its fields.
type Exception struct {
	Operations []string
	Callers    []string
	Issuers    []string
	Scopes     []string
}

func (e *Exception) empty() bool {
	return len(e.Operations)+len(e.Callers)+len(e.Issuers)+len(e.Scopes) == 0
}

// Condition is a condition on one parameter. All of its tests must hold, and it must have one. The values of tests are
// strings, booleans, integers, floating-point numbers or json.Number; for parameters with format date-time they are
// RFC 3339 strings, which are compared as moments.
//
// An absent parameter equals no value, and is neither less nor greater than any. Because the handler may see a zero
// value in its place, a test that zero would pass has an unknown result. So has a test of a value that is not of the
// parameter's type. An unknown result counts against the call: the condition holds for Deny and Confirm, and fails for
// Allow.
type Condition struct {
	// Param is the name of a parameter, or a path into it: filter.status; tags.* for the elements of an array or the
	// values of a map. A test of elements must hold for one of them if the effect is Deny or Confirm, and for all of them,
	// and at least one, if it is Allow.
	Param string
	// In and NotIn list values.
	In, NotIn []any
	// Equals and NotEquals are values; nil: no test.
	Equals, NotEquals any
	// LessThan, GreaterThan, AtLeast and AtMost are bounds of a number or a moment; nil: no test.
	LessThan, GreaterThan, AtLeast, AtMost any
	// Like and NotLike are patterns of a text; empty: no test.
	Like, NotLike string
	// Given, unless nil, requires the parameter to be present (true) or absent (false), after defaults.
	Given *bool
}
