package wire

import "unsafe"

// ResetTolerant makes r read input from its beginning, and checks less than Reset: strings may hold what is not UTF-8,
// U+0000 and half a surrogate pair. It is for a message whose parts others check. The input must not change while r or
// a string that it returned is in use.
func (r *Reader) ResetTolerant(input []byte, limits Limits) {
	r.Reset("", limits)
	r.data = unsafe.String(unsafe.SliceData(input), len(input))
	r.retained, r.sharedLength, r.tolerant = r.data, len(input), true
}

// Span reads the next value and returns its text, as Raw does, but checks only that it is JSON and how deep it is: a
// name may stand twice in an object, and strings and arrays may have any length. After a fault the text is empty.
func (r *Reader) Span() string {
	r.peek()
	start := r.pos
	r.span()
	if r.fault != nil {
		return ""
	}
	r.from, r.to = start, r.pos
	return r.data[start:r.pos]
}

func (r *Reader) span() {
	switch r.peek() {
	case '{':
		if r.open(true) {
			for r.NextUnchecked() {
				r.span()
			}
		}
	case '[':
		if r.open(false) {
			for r.NextElement() {
				r.span()
			}
		}
	default:
		r.Skip()
	}
}
