package wire

// Number reads a number and returns its text as it was sent. ok is false when the value is something else, which is then a
// problem and skipped.
func (r *Reader) Number() (text string, ok bool) {
	if !isNumber(r.peek()) {
		r.mismatch("number")
		return "", false
	}
	return r.number()
}

// Mismatch reports that the value just read is not what was expected, although it is JSON of the right kind.
func (r *Reader) Mismatch(expected string) {
	if r.fault != nil {
		return
	}
	p := Problem{Stage: StageType, Expected: expected, Actual: kindOf(r.data[r.from:r.to]), Offset: r.from}
	if p.Actual != "object" && p.Actual != "array" {
		p.Value = r.scalar()
	}
	r.addProblem(p)
}

// kindOf names the JSON kind of a value by its text.
func kindOf(text string) string {
	inner := Reader{data: text, retained: text}
	if kind := inner.Kind(); kind != "" {
		return kind
	}
	return "value"
}

// NameMismatch reports that the name of the current member is not what was expected. Its value is still ahead.
func (r *Reader) NameMismatch(expected string) {
	if r.fault == nil && r.countProblem(StageType) {
		r.problems = append(r.problems, Problem{Stage: StageType, Path: r.valuePath(), Expected: expected, Actual: "name", Offset: r.pos})
	}
}

// TakeProblemsOf takes over what is wrong with the text of the string just read, which inner has read as JSON of its own: its
// problems are problems here, and a fault is a string that is not what was expected.
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
