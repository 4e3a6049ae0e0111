// Package trust defines the trust levels of adapters, and what an adapter of each level may do (MCP-AQL trust levels).
// A trust level belongs to the adapter, and not to its callers:
//
//	aql.Options{Trust: &trust.Options{Standing: trust.Standing{Level: trust.Validated}, CategoryMinimums: true}}
package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Level is the trust level of an adapter (MCP-AQL trust levels §2). The zero value is Untested.
type Level string

// The trust levels, in rising order.
const (
	Untested          Level = "untested"
	Generated         Level = "generated"
	Validated         Level = "validated"
	CommunityReviewed Level = "community_reviewed"
	Certified         Level = "certified"
)

// Levels returns the trust levels in rising order.
func Levels() []Level { return []Level{Untested, Generated, Validated, CommunityReviewed, Certified} }

// Parse parses the name of a level. The empty name is Untested.
func Parse(text string) (Level, error) {
	level := Level(text)
	if text == "" {
		level = Untested
	}
	if level.rank() < 0 {
		return "", fmt.Errorf("trust level %q is none of %s", text, names())
	}
	return level, nil
}

func names() string {
	var all []string
	for _, level := range Levels() {
		all = append(all, string(level))
	}
	return strings.Join(all, ", ")
}

// rank returns the index of a level in rising order; -1: there is no such level.
func (l Level) rank() int {
	if l == "" {
		return 0
	}
	return slices.Index(Levels(), l)
}

// Below reports whether l is a lower level than other.
func (l Level) Below(other Level) bool { return l.rank() < other.rank() }

// Verdict is what the gating matrix decides about an operation.
type Verdict int

// The verdicts, in rising order of restriction.
const (
	Allow Verdict = iota
	Confirm
	Deny
	IntrospectOnly // of the adapter, only introspect is allowed
)

// String returns the protocol's name of a verdict.
func (v Verdict) String() string {
	return [...]string{"allow", "confirm", "deny", "introspect_only"}[v]
}

// matrix is the gating matrix (MCP-AQL danger levels §4.1): a row for each danger level, a column for each trust level.
var matrix = [5][5]Verdict{
	{IntrospectOnly, Allow, Allow, Allow, Allow},
	{Deny, Deny, Allow, Allow, Allow},
	{Deny, Deny, Confirm, Allow, Allow},
	{Deny, Deny, Deny, Confirm, Allow},
	{Deny, Deny, Deny, Deny, Confirm},
}

// Gating returns what the gating matrix decides about an operation of a danger level in an adapter of a trust level
// (MCP-AQL danger levels §4.1). For levels that do not exist it is Deny.
func Gating(danger gen.Danger, level Level) Verdict {
	row, column := danger.Level(), level.rank()
	if row < 0 || column < 0 {
		return Deny
	}
	return matrix[row][column]
}

// Minimum returns the lowest trust level at which an operation of a danger level is not denied.
func Minimum(danger gen.Danger) Level {
	for _, level := range Levels() {
		if Gating(danger, level) <= Confirm {
			return level
		}
	}
	return Certified
}

// Options configures what an adapter may do by its trust level. With the zero value, an untested adapter has the rights
// of the gating matrix.
type Options struct {
	// Standing is the adapter's level, with its history.
	Standing Standing
	// CategoryMinimums also requires the level of each category (MCP-AQL trust levels §5.1): generated for READ, validated
	// for CREATE, UPDATE and EXECUTE, community_reviewed for DELETE, and certified for dangerous operations.
	CategoryMinimums bool
	// MinimumForWrites and MinimumForDeletes are levels that operations other than READ, and DELETE operations, require
	// (MCP-AQL trust levels §5.3).
	MinimumForWrites, MinimumForDeletes Level
	// ConfirmBelow is a level below which all operations other than READ need confirmation.
	ConfirmBelow Level
	// DenyUntestedIntrospection denies introspection, too, if the adapter is untested.
	DenyUntestedIntrospection bool
}

// Ruling is what Options decide about an operation.
type Ruling struct {
	Verdict Verdict
	// Required is the level that the adapter would need, if the verdict is Deny or IntrospectOnly.
	Required Level
	// ByMinimum reports that a required minimum denies the operation, and not the matrix.
	ByMinimum bool
}

// Rule decides about an operation. The most restrictive of the matrix and the minimums counts.
func (o *Options) Rule(operation *gen.Operation) Ruling {
	level := o.Standing.Level
	ruling := Ruling{Verdict: Gating(operation.Danger, level)}
	if ruling.Verdict >= Deny {
		ruling.Required = Minimum(operation.Danger)
	}
	if minimum := o.minimum(operation); level.Below(minimum) && ruling.Verdict < Deny {
		return Ruling{Verdict: Deny, Required: minimum, ByMinimum: true}
	}
	if ruling.Verdict == Allow && operation.Category != gen.Read && level.Below(o.ConfirmBelow) {
		ruling.Verdict = Confirm
	}
	return ruling
}

// minimum returns the highest level that the options require for an operation.
func (o *Options) minimum(operation *gen.Operation) Level {
	minimum := Untested
	require := func(level Level) {
		if minimum.Below(level) {
			minimum = level
		}
	}
	if o.CategoryMinimums {
		switch {
		case operation.Danger.Level() >= gen.Dangerous.Level():
			require(Certified)
		case operation.Category == gen.Read:
			require(Generated)
		case operation.Category == gen.Delete:
			require(CommunityReviewed)
		default:
			require(Validated)
		}
	}
	if operation.Category != gen.Read {
		require(o.MinimumForWrites)
	}
	if operation.Category == gen.Delete {
		require(o.MinimumForDeletes)
	}
	return minimum
}

// Check returns what is wrong with the options: a level that does not exist, or a history that does not lead to the
// level.
func (o *Options) Check() error {
	for _, level := range []Level{o.MinimumForWrites, o.MinimumForDeletes, o.ConfirmBelow} {
		if _, err := Parse(string(level)); err != nil {
			return err
		}
	}
	return o.Standing.check()
}
