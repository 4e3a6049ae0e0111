// Package trust says how far an adapter is trusted, and what an adapter of each level may do (MCP-AQL trust levels). Trust
// is about the adapter, not about who calls it.
package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Level is how far an adapter is trusted (MCP-AQL trust levels §2). The zero value is Untested: what nobody vouched for
// (requirements REQ-TR-02).
type Level string

// The trust levels, in rising order.
const (
	Untested          Level = "untested"
	Generated         Level = "generated"
	Validated         Level = "validated"
	CommunityReviewed Level = "community_reviewed"
	Certified         Level = "certified"
)

// Levels lists the trust levels in rising order.
func Levels() []Level { return []Level{Untested, Generated, Validated, CommunityReviewed, Certified} }

// Parse reads a level. Nothing is Untested.
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

// rank is the place of a level in rising order, and -1 for anything else.
func (l Level) rank() int {
	if l == "" {
		return 0
	}
	return slices.Index(Levels(), l)
}

// Below reports whether l is a lower level than other.
func (l Level) Below(other Level) bool { return l.rank() < other.rank() }

// Verdict is what the gating matrix says of an operation.
type Verdict int

// The verdicts, from the mildest to the strictest.
const (
	Allow Verdict = iota
	Confirm
	Deny
	IntrospectOnly // only introspect works
)

// String returns the word that the protocol has for a verdict.
func (v Verdict) String() string {
	return [...]string{"allow", "confirm", "deny", "introspect_only"}[v]
}

// matrix is the gating matrix of MCP-AQL danger levels §4.1: a row for each danger level, a column for each trust level.
var matrix = [5][5]Verdict{
	{IntrospectOnly, Allow, Allow, Allow, Allow},
	{Deny, Deny, Allow, Allow, Allow},
	{Deny, Deny, Confirm, Allow, Allow},
	{Deny, Deny, Deny, Confirm, Allow},
	{Deny, Deny, Deny, Deny, Confirm},
}

// Gating is the gating matrix (requirements REQ-TR-04): what an adapter of a trust level may do with an operation of a danger
// level. Levels that do not exist are denied.
func Gating(danger gen.Danger, level Level) Verdict {
	row, column := danger.Level(), level.rank()
	if row < 0 || column < 0 {
		return Deny
	}
	return matrix[row][column]
}

// Minimum is the lowest trust level at which an operation of a danger level is not denied (requirements T-31).
func Minimum(danger gen.Danger) Level {
	for _, level := range Levels() {
		if Gating(danger, level) <= Confirm {
			return level
		}
	}
	return Certified
}

// Options is how trust decides. The zero value leaves it to the gating matrix.
type Options struct {
	Standing Standing
	// CategoryMinimums also demands the levels that MCP-AQL trust levels §5.1 names for each category: generated for READ,
	// validated for CREATE, UPDATE and EXECUTE, community_reviewed for DELETE, and certified for everything dangerous.
	CategoryMinimums bool
	// MinimumForWrites and MinimumForDeletes demand a level for all that is not READ, and for DELETE (trust levels §5.3).
	MinimumForWrites, MinimumForDeletes Level
	// ConfirmBelow asks for confirmation of everything that is not READ as long as the adapter is below this level.
	ConfirmBelow Level
	// DenyUntestedIntrospection takes introspection, too, from an adapter that is untested.
	DenyUntestedIntrospection bool
}

// Ruling is what trust says of an operation.
type Ruling struct {
	Verdict Verdict
	// Required is the level that is missing where the verdict is Deny or IntrospectOnly.
	Required Level
	// ByMinimum says that a demanded minimum denies it, and not the matrix.
	ByMinimum bool
}

// Judge says what an adapter of this standing may do with an operation. The strictest of the matrix and the minimums counts.
func (o *Options) Judge(operation *gen.Operation) Ruling {
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

// minimum is the highest level that the options demand for an operation.
func (o *Options) minimum(operation *gen.Operation) Level {
	minimum := Untested
	demand := func(level Level) {
		if minimum.Below(level) {
			minimum = level
		}
	}
	if o.CategoryMinimums {
		switch {
		case operation.Danger.Level() >= gen.Dangerous.Level():
			demand(Certified)
		case operation.Category == gen.Read:
			demand(Generated)
		case operation.Category == gen.Delete:
			demand(CommunityReviewed)
		default:
			demand(Validated)
		}
	}
	if operation.Category != gen.Read {
		demand(o.MinimumForWrites)
	}
	if operation.Category == gen.Delete {
		demand(o.MinimumForDeletes)
	}
	return minimum
}

// Check reports what is wrong with the options: a level that does not exist, or a standing that no promotions lead to.
func (o *Options) Check() error {
	for _, level := range []Level{o.MinimumForWrites, o.MinimumForDeletes, o.ConfirmBelow} {
		if _, err := Parse(string(level)); err != nil {
			return err
		}
	}
	return o.Standing.check()
}
