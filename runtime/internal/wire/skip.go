package wire

// Skip reads the next value and checks it as strictly as any other.
func (r *Reader) Skip() {
	switch r.peek() {
	case '"':
		r.text(validates)
	case '{':
		if r.open(true) {
			for r.Next() {
				r.Skip()
			}
		}
	case '[':
		if r.open(false) {
			for r.NextElement() {
				r.Skip()
			}
		}
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		r.number()
	default:
		r.noValue()
	}
}

// Raw reads the next value, checks it as strictly as any other, and returns its text. After a fault the text is empty.
func (r *Reader) Raw() string {
	r.peek()
	start := r.pos
	r.Skip()
	if r.fault != nil {
		return ""
	}
	r.from, r.to = start, r.pos
	return r.data[start:r.pos]
}
