package wire

import (
	"strconv"
	"strings"
)

// Stage is a stage of validation. Problems of earlier stages are answered first (MCP-AQL operations §5.4).
type Stage uint8

// The stages in their order.
const (
	StageMissing    Stage = iota // a required member is absent
	StageType                    // a value is of another type
	StageUnknown                 // an object has a member that is not defined
	StageConstraint              // a value breaks a constraint
	StageUpdate                  // an update changes what it must not change

	stages = iota
)

// Problem is a value that is valid JSON but not acceptable.
type Problem struct {
	Stage Stage
	// Rule is enum, minimum, maximum, min_length, max_length, min_items, max_items, max_depth, max_comparisons,
	// pattern, excludes, read_only or append_only.
	Rule             string
	Path             string   // such as input.metadata.priority or tags[2]
	Name             string   // of the member, for StageMissing and StageUnknown, and where an enum is of names
	Expected, Actual string   // types
	Value            string   // the text of a scalar of at most 256 bytes
	Limit            string   // the bound or the pattern
	Allowed          []string // the values of an enum, or the names of the members of an object; nil: not known
	Hint             string   // what to send instead
	Provided         []string // the parameters that contradict each other
	Reason           string   // why the type of a value refused it, in its own words
	Offset           int      // of the value in bytes, or of the end of the object that lacks it
}

// maxProblemValue is the length up to which problems contain the text of a scalar, in bytes.
const maxProblemValue = 256

// maxProblems is the number of problems of a stage that are collected. An answer is about the first ones, and a list of
// thousands would take many times the memory of the request.
const maxProblems = 1000

// Problems returns the first 1,000 problems of each stage, in the order in which they were found. The slice is valid
// until Reset is called.
func (r *Reader) Problems() []Problem { return r.problems }

// countProblem counts a problem and reports whether it is to be collected.
func (r *Reader) countProblem(stage Stage) bool {
	if r.fault != nil || r.reported[stage] == maxProblems {
		return false
	}
	r.reported[stage]++
	return true
}

// mismatch reports that the next value is of another kind than expected, and skips it.
//
//go:noinline
func (r *Reader) mismatch(expected string) {
	actual := r.Kind()
	if actual == "" {
		r.noValue()
		return
	}
	p := Problem{Stage: StageType, Expected: expected, Actual: actual, Offset: r.pos}
	collect := r.countProblem(StageType)
	if collect {
		p.Path = r.valuePath()
	}
	r.Skip()
	if !collect || r.fault != nil {
		return
	}
	if actual != "object" && actual != "array" {
		p.Value = r.scalar()
	}
	r.problems = append(r.problems, p)
}

// addProblem reports a problem with the value just read.
//
//go:noinline
func (r *Reader) addProblem(p Problem) {
	if r.countProblem(p.Stage) {
		p.Path = r.valuePath()
		r.problems = append(r.problems, p)
	}
}

// wrongType reports that the scalar just read is not what was expected.
//
//go:noinline
func (r *Reader) wrongType(expected, actual string) {
	r.addProblem(Problem{Stage: StageType, Expected: expected, Actual: actual, Value: r.scalar(), Offset: r.from})
}

// broken reports that the scalar just read breaks a rule. It returns false.
//
//go:noinline
func (r *Reader) broken(rule, limit string) bool {
	r.addProblem(Problem{Stage: StageConstraint, Rule: rule, Limit: limit, Value: r.scalar(), Offset: r.from})
	return false
}

// scalar returns the text of the scalar just read, or the empty string if the text is long.
func (r *Reader) scalar() string {
	if r.to-r.from > maxProblemValue {
		return ""
	}
	return r.data[r.from:r.to]
}

// Missing reports that the object which was just read lacks a required member.
//
//go:noinline
func (r *Reader) Missing(name, expected string) {
	if r.countProblem(StageMissing) {
		r.problems = append(r.problems, Problem{
			Stage: StageMissing, Path: join(r.valuePath(), name), Name: name, Expected: expected, Offset: max(0, r.pos-1),
		})
	}
}

// Unknown reports that the object may not have a member with the current name, and skips its value. valid lists the
// names that it may have.
//
//go:noinline
func (r *Reader) Unknown(valid []string) {
	if !r.CheckDuplicate() {
		return
	}
	if r.countProblem(StageUnknown) {
		name := r.Name()
		path := join(r.path(r.origin, len(r.frames)-1), name)
		r.problems = append(r.problems, Problem{Stage: StageUnknown, Path: path, Name: name, Allowed: valid, Offset: r.pos})
	}
	r.Skip()
}

// UnknownPath reports that the value of a parameter has a path that leads to nothing. valid lists paths that lead to
// something.
//
//go:noinline
func (r *Reader) UnknownPath(param, path string, valid []string) {
	if r.countProblem(StageUnknown) {
		r.problems = append(r.problems, Problem{
			Stage: StageUnknown, Path: join(param, path), Name: path, Allowed: valid, Offset: r.pos,
		})
	}
}

// ReadOnly reports that the current member cannot be updated, and skips its value.
func (r *Reader) ReadOnly() {
	r.addProblem(Problem{Stage: StageUpdate, Rule: "read_only", Offset: r.pos})
	r.Skip()
}

// AppendOnly reports that the current member can only be appended to, and skips its value.
func (r *Reader) AppendOnly() {
	r.addProblem(Problem{Stage: StageUpdate, Rule: "append_only", Offset: r.pos})
	r.Skip()
}

// NullRefused reports that the value just read is null where a value is needed.
func (r *Reader) NullRefused(expected string) {
	if expected == "any" {
		expected = "any value but null"
	}
	r.addProblem(Problem{Stage: StageType, Expected: expected, Actual: "null", Offset: r.from})
}

// Excluded reports that an object must not have the current member beside another one, and skips its value.
func (r *Reader) Excluded(other string) {
	r.addProblem(Problem{Stage: StageConstraint, Rule: "excludes", Limit: other, Offset: r.pos})
	r.Skip()
}

// Refused reports that a codec refused the member of the object just read that has this path, or the value just read if
// path is empty. text is the JSON of that value.
func (r *Reader) Refused(path, expected, text, reason string) {
	if r.countProblem(StageType) {
		if within := r.valuePath(); path == "" {
			path = within
		} else {
			path = join(within, path)
		}
		r.problems = append(r.problems, Problem{
			Stage: StageType, Path: path, Expected: expected, Actual: kindOf(text), Reason: reason, Offset: max(0, r.pos-1),
		})
	}
}

// Mismatch reports that the value just read is not what was expected, although its kind may be.
func (r *Reader) Mismatch(expected string) { r.MismatchBecause(expected, "") }

// MismatchBecause is Mismatch with the reason that the type of the value gives.
func (r *Reader) MismatchBecause(expected, reason string) {
	if r.fault != nil {
		return
	}
	p := Problem{
		Stage: StageType, Expected: expected, Actual: kindOf(r.data[r.from:r.to]), Offset: r.from, Reason: reason,
	}
	if p.Actual != "object" && p.Actual != "array" {
		p.Value = r.scalar()
	}
	r.addProblem(p)
}

// MismatchHint is Mismatch with what to send instead.
func (r *Reader) MismatchHint(expected, hint string) {
	before := len(r.problems)
	if r.Mismatch(expected); len(r.problems) > before {
		r.problems[before].Hint = hint
	}
}

// Hint adds to the problem that was reported last what to send instead.
func (r *Reader) Hint(hint string) {
	if n := len(r.problems); n > 0 {
		r.problems[n-1].Hint = hint
	}
}

// Choices adds to the problem that was reported last, if it is one of a stage, which values there may be, or which
// names of members.
func (r *Reader) Choices(stage Stage, allowed []string) {
	if n := len(r.problems); n > 0 && r.problems[n-1].Stage == stage {
		r.problems[n-1].Allowed = allowed
	}
}

// Conflict reports that parameters contradict each other. name stands for all of them.
func (r *Reader) Conflict(name, expected string, provided []string, hint string) {
	if r.countProblem(StageType) {
		r.problems = append(r.problems, Problem{
			Stage: StageType, Path: name, Expected: expected, Actual: "conflicting parameters", Provided: provided, Hint: hint,
			Offset: r.pos,
		})
	}
}

// Unacceptable reports that the value of a parameter is of the right kind, but not what was expected.
func (r *Reader) Unacceptable(name, expected, hint string) {
	if r.countProblem(StageType) {
		r.problems = append(r.problems, Problem{
			Stage: StageType, Path: name, Expected: expected, Actual: "string", Hint: hint, Offset: r.pos,
		})
	}
}

// TooMany reports that a parameter has more items than there may be.
func (r *Reader) TooMany(name string, limit int) {
	if r.countProblem(StageConstraint) {
		r.problems = append(r.problems, Problem{
			Stage: StageConstraint, Rule: "max_items", Path: name, Limit: strconv.Itoa(limit), Offset: r.pos,
		})
	}
}

// TooManyComparisons reports that the filter just read compares more often than it may.
func (r *Reader) TooManyComparisons(limit int) {
	r.addProblem(Problem{Stage: StageConstraint, Rule: "max_comparisons", Limit: strconv.Itoa(limit), Offset: r.pos})
}

// EnumName reports that the name of the current member is not one of allowed, and skips its value.
func (r *Reader) EnumName(allowed []string) {
	if r.countProblem(StageConstraint) {
		w := NewWriter(nil)
		w.String(r.Name())
		r.problems = append(r.problems, Problem{
			Stage: StageConstraint, Rule: "enum", Path: r.path(r.origin, len(r.frames)-1), Name: strings.Clone(r.Name()),
			Value: string(w.Bytes()), Allowed: allowed, Offset: r.pos,
		})
	}
	r.Skip()
}

// TooNested reports that the next value is nested in more of its kind than depth, and skips it.
func (r *Reader) TooNested(depth int) {
	r.Kind()
	r.addProblem(Problem{Stage: StageConstraint, Rule: "max_depth", Limit: strconv.Itoa(depth), Offset: r.pos})
	r.Skip()
}

// kindOf returns the kind of a value by its text.
func kindOf(text string) string {
	inner := Reader{data: text, retained: text}
	if kind := inner.Kind(); kind != "" {
		return kind
	}
	return "value"
}

// NameMismatch reports that the name of the current member is not what was expected. The member's value is still to
// be read.
func (r *Reader) NameMismatch(expected string) {
	if r.fault == nil && r.countProblem(StageType) {
		r.problems = append(r.problems, Problem{
			Stage: StageType, Path: r.valuePath(), Expected: expected, Actual: "name", Offset: r.pos,
		})
	}
}

// TakeProblemsOf reports the problems of inner, which has read the string just read as JSON, as problems with that
// string. A fault of inner is a string that is not what was expected.
func (r *Reader) TakeProblemsOf(inner *Reader, expected string) {
	if inner.fault != nil {
		r.Mismatch(expected)
		return
	}
	for _, p := range inner.problems {
		if r.countProblem(p.Stage) {
			p.Path, p.Offset = r.valuePath(), r.from
			if p.Stage == StageType {
				p.Expected, p.Actual, p.Value = expected, "string", r.scalar()
			}
			r.problems = append(r.problems, p)
		}
	}
}
