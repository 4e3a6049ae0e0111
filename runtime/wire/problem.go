package wire

import (
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Stage is a stage of validation. A lower one is reported first (MCP-AQL operations §5.4).
type Stage uint8

// The stages in their order.
const (
	StageMissing Stage = iota
	StageType
	StageUnknown
	StageConstraint
	StageUpdate
)

// Rule is the constraint that a value breaks.
type Rule string

// Problem is a value that is well-formed but not acceptable.
type Problem struct {
	Stage            Stage
	Rule             Rule     // enum, minimum, maximum, min_length, max_length, min_items, max_items, pattern, read_only, append_only
	Path             string   // input.metadata.priority, tags[2]
	Name             string   // of the member, for StageMissing and StageUnknown
	Expected, Actual string   // types
	Value            string   // the offending scalar as it was sent, if it is short
	Limit            string   // the bound or the pattern
	Allowed          []string // the values of an enum, or the names an object knows
	Offset           int      // bytes
}

// longestValue is the longest value that a problem repeats.
const longestValue = 256

// Problems returns the problems so far, in the order in which they were met. The slice is valid until Reset.
func (r *Reader) Problems() []Problem { return r.problems }

//go:noinline
func (r *Reader) report(p Problem) {
	if r.fault != nil {
		return
	}
	if p.Path == "" {
		p.Path = r.Path()
	}
	p.Offset = r.pos
	r.problems = append(r.problems, p)
}

// mismatch reports that the value ahead is of another kind than expected, and skips it.
//
//go:noinline
func (r *Reader) mismatch(expected string) {
	if r.fault != nil {
		return
	}
	actual := r.Kind()
	path := r.Path()
	r.space()
	start := r.pos
	r.Skip()
	if r.fault != nil {
		return
	}
	value := ""
	if actual != "object" && actual != "array" && r.pos-start <= longestValue {
		value = r.data[start:r.pos]
	}
	r.report(Problem{Stage: StageType, Path: path, Expected: expected, Actual: actual, Value: value})
}

// wrongType reports that the scalar just read is not what was expected.
//
//go:noinline
func (r *Reader) wrongType(expected, actual string) {
	r.report(Problem{Stage: StageType, Expected: expected, Actual: actual, Value: r.scalar()})
}

// broken reports that the scalar just read breaks a rule. It returns false.
//
//go:noinline
func (r *Reader) broken(rule Rule, limit string) bool {
	r.report(Problem{Stage: StageConstraint, Rule: rule, Limit: limit, Value: r.scalar()})
	return false
}

func (r *Reader) scalar() string {
	if r.to-r.from > longestValue {
		return ""
	}
	return r.data[r.from:r.to]
}

// Missing reports that the object which was just read lacks a required member.
//
//go:noinline
func (r *Reader) Missing(name, expected string) {
	path := r.Path()
	if path != "" {
		path += "."
	}
	r.report(Problem{Stage: StageMissing, Path: path + name, Name: name, Expected: expected})
}

// Unknown reports that the object has no member of the current name, and skips its value. valid lists the names it has.
//
//go:noinline
func (r *Reader) Unknown(valid []string) {
	name := r.Name()
	r.report(Problem{Stage: StageUnknown, Name: name, Allowed: valid})
	r.Skip()
}

// ReadOnly reports that the current member cannot be updated, and skips its value.
func (r *Reader) ReadOnly() {
	r.report(Problem{Stage: StageUpdate, Rule: "read_only"})
	r.Skip()
}

// AppendOnly reports that the current member can only be appended to, and skips its value.
func (r *Reader) AppendOnly() {
	r.report(Problem{Stage: StageUpdate, Rule: "append_only"})
	r.Skip()
}

// NullRefused reports that the null just read stands where a value is needed.
func (r *Reader) NullRefused(expected string) {
	r.report(Problem{Stage: StageType, Expected: expected, Actual: "null"})
}

// MinLength checks that s has n code points or more.
func (r *Reader) MinLength(s string, n int) bool {
	return len(s) >= n && utf8.RuneCountInString(s) >= n || r.broken("min_length", strconv.Itoa(n))
}

// MaxLength checks that s has n code points or fewer.
func (r *Reader) MaxLength(s string, n int) bool {
	return len(s) <= n || utf8.RuneCountInString(s) <= n || r.broken("max_length", strconv.Itoa(n))
}

// MinItems checks that the array just read has min elements or more.
func (r *Reader) MinItems(n, min int) bool { return n >= min || r.brokenItems("min_items", min) }

// MaxItems checks that the array just read has max elements or fewer.
func (r *Reader) MaxItems(n, max int) bool { return n <= max || r.brokenItems("max_items", max) }

// brokenItems reports an array, whose last element must not be taken for its value.
func (r *Reader) brokenItems(rule Rule, limit int) bool {
	r.report(Problem{Stage: StageConstraint, Rule: rule, Limit: strconv.Itoa(limit)})
	return false
}

// Pattern checks that re matches somewhere in s.
func (r *Reader) Pattern(s string, re *regexp.Regexp) bool {
	return re.MatchString(s) || r.broken("pattern", re.String())
}

// Enum checks that s is one of allowed.
func (r *Reader) Enum(s string, allowed []string) bool {
	if slices.Contains(allowed, s) {
		return true
	}
	r.report(Problem{Stage: StageConstraint, Rule: "enum", Allowed: allowed, Value: r.scalar()})
	return false
}

// Min checks that the number just read is min or more.
func Min[T int64 | uint64 | float64](r *Reader, v, min T) bool {
	return v >= min || r.broken("minimum", spell(min))
}

// Max checks that the number just read is max or less.
func Max[T int64 | uint64 | float64](r *Reader, v, max T) bool {
	return v <= max || r.broken("maximum", spell(max))
}

func spell[T int64 | uint64 | float64](v T) string {
	switch v := any(v).(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	default:
		return string(appendFloat(nil, v.(float64), 64))
	}
}
