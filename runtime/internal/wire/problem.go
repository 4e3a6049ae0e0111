package wire

// Stage is a stage of validation. A lower one is reported first (MCP-AQL operations §5.4).
type Stage uint8

// The stages in their order.
const (
	StageMissing Stage = iota
	StageType
	StageUnknown
	StageConstraint
	StageUpdate

	stages = iota
)

// Problem is a value that is well-formed but not acceptable.
type Problem struct {
	Stage            Stage
	Rule             string   // enum, minimum, maximum, min_length, max_length, min_items, max_items, pattern, read_only, append_only
	Path             string   // input.metadata.priority, tags[2]
	Name             string   // of the member, for StageMissing and StageUnknown
	Expected, Actual string   // types
	Value            string   // the offending scalar as it was sent, if it is short
	Limit            string   // the bound or the pattern
	Allowed          []string // the values of an enum, or the names an object knows
	Offset           int      // bytes, of the value or, where it is missing, of the end of the object
}

// longestValue is the longest value that a problem repeats, in bytes.
const maxProblemValue = 256

// mostProblems is how many problems of one stage are kept. The first one decides what is answered; a list of thousands
// helps nobody, and takes many times the memory of the request.
const maxProblems = 1000

// Problems returns the problems so far, in the order in which they were met. No more than 1,000 of one stage are kept. The
// slice is valid until Reset.
func (r *Reader) Problems() []Problem { return r.problems }

// room takes note of a problem and reports whether it is to be kept.
func (r *Reader) countProblem(stage Stage) bool {
	if r.fault != nil || r.reported[stage] == maxProblems {
		return false
	}
	r.reported[stage]++
	return true
}

// mismatch reports that the value ahead is of another kind than expected, and skips it.
//
//go:noinline
func (r *Reader) mismatch(expected string) {
	actual := r.Kind()
	if actual == "" {
		r.noValue()
		return
	}
	p := Problem{Stage: StageType, Expected: expected, Actual: actual, Offset: r.pos}
	keep := r.countProblem(StageType)
	if keep {
		p.Path = r.valuePath()
	}
	r.Skip()
	if !keep || r.fault != nil {
		return
	}
	if actual != "object" && actual != "array" {
		p.Value = r.scalar()
	}
	r.problems = append(r.problems, p)
}

// reject keeps a problem of the value just read.
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
func (r *Reader) broken(rule string, limit string) bool {
	r.addProblem(Problem{Stage: StageConstraint, Rule: rule, Limit: limit, Value: r.scalar(), Offset: r.from})
	return false
}

// scalar is the text of the scalar just read, if it is short.
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

// Unknown reports that the object has no member of the current name, and skips its value. valid lists the names it has.
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

// UnknownPath reports that the value of a parameter names something that is not there. valid lists what is.
//
//go:noinline
func (r *Reader) UnknownPath(param, path string, valid []string) {
	if r.countProblem(StageUnknown) {
		r.problems = append(r.problems, Problem{Stage: StageUnknown, Path: join(param, path), Name: path, Allowed: valid, Offset: r.pos})
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

// NullRefused reports that the null just read stands where a value is needed.
func (r *Reader) NullRefused(expected string) {
	r.addProblem(Problem{Stage: StageType, Expected: expected, Actual: "null", Offset: r.from})
}
