// Package policy decides by rules whether a call is allowed, denied, or must be confirmed (MCP-AQL gatekeeper §3). Rules go
// by the operation, by who calls, and by the values of parameters; the most restrictive of those that match wins. They
// come from Go or from a YAML file, and whatever could make a rule never match unnoticed is refused before the first call:
// a misspelt name must not let through what was to be denied.
//
// Nothing that a request says about itself enters but the parameters that a condition names (requirements REQ-VO-14).
package policy

import (
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Effect is what comes of a call.
type Effect string

// The effects, from the least to the most restrictive (gatekeeper §3).
const (
	Allow   Effect = "allow"
	Confirm Effect = "confirm"
	Deny    Effect = "deny"
)

// Effects lists the effects in rising order of restriction.
func Effects() []Effect { return []Effect{Allow, Confirm, Deny} }

// rank orders effects by how restrictive they are.
func (e Effect) rank() int { return slices.Index(Effects(), e) }

// Policy is a set of rules. The zero value allows everything. It must not be changed once it is bound.
type Policy struct {
	// Default is the effect where no rule matches; empty: Allow.
	Default Effect
	// Rules are looked at all; their order decides only which of several that agree is named.
	Rules []Rule

	// Source is the file that the policy was read from: mistakes name its lines. Nil: the policy was made in Go.
	Source Source
}

// Rule is one rule. It matches a call when all that it asks for holds; what is left empty is not asked for. At least one of
// Operations, Categories, Danger, Callers, Issuers, Scopes, Anonymous, Not and When must be there.
//
// Patterns consist of characters that stand for themselves, * for any number of characters, and ? for one.
type Rule struct {
	// Name is unique among the rules; operators see it in explanations and audit records.
	Name   string
	Effect Effect
	// Operations are patterns of names.
	Operations []string
	Categories []gen.Category
	// Danger is the level from which on the rule applies.
	Danger gen.Danger
	// Callers are patterns of the subject. An anonymous caller matches none.
	Callers []string
	// Issuers are patterns of who vouches for the caller: a subject is unique only with its issuer.
	Issuers []string
	// Scopes are compared exactly; the caller must have one of them.
	Scopes []string
	// Anonymous, where it is not nil, asks for a caller about whom nothing is known, or for a known one.
	Anonymous *bool
	// Not excepts calls from the rule.
	Not Exception
	// When are conditions on parameters. A rule does not apply to operations that lack one of the parameters.
	When []Condition
	// Reason is what the agent is told.
	Reason string
	// Cooldown is how long an agent waits before its confirmation token is good. For Confirm.
	Cooldown time.Duration
	// Reauthenticate asks for who confirms to be authenticated anew. For Confirm.
	Reauthenticate bool
}

// Exception excepts calls from a rule: those that match any of it.
type Exception struct {
	Operations []string
	Callers    []string
	Issuers    []string
	Scopes     []string
}

func (e *Exception) empty() bool {
	return len(e.Operations)+len(e.Callers)+len(e.Issuers)+len(e.Scopes) == 0
}

// Condition is a condition on one parameter; all of its tests must hold, and there must be one. Values are strings,
// booleans, integers, floating-point numbers or json.Number; for parameters with format date-time they are texts in RFC
// 3339, which are compared as moments.
//
// A parameter that is not given equals nothing and is neither less nor greater than anything. As the handler may see zero
// in its place, a test that zero would pass counts as one that cannot be judged: it holds for Deny and Confirm, and does
// not for Allow. So does one whose value is of another type than the parameter.
type Condition struct {
	// Param is the name of a parameter, or a path into it: filter.status, tags.* for the elements of an array or the values
	// of a map. What is asked of elements must hold for one of them if the rule denies or asks for confirmation, and for
	// all of them, and at least one, if it allows.
	Param string
	// In and NotIn list values.
	In, NotIn []any
	// Equals and NotEquals are values; nil: not looked at.
	Equals, NotEquals any
	// LessThan and the others bound a number or a moment; nil: not looked at.
	LessThan, GreaterThan, AtLeast, AtMost any
	// Like and NotLike are patterns of a text.
	Like, NotLike string
	// Given, where it is not nil, asks for the parameter to be there, or not to, after defaults.
	Given *bool
}
