package wire

import "strings"

// Plain returns a JSON value as people read it: without white space, without escapes that a Writer would not write, and
// without digits of a number that say nothing. Members stay in their order. It returns false where the text is no
// value, or has a name twice in an object.
func Plain(text string) (string, bool) {
	r, w := NewReader(text, Limits{}), NewWriter(nil)
	plain(r, w)
	if r.End(); !r.OK() || w.Err() != nil {
		return "", false
	}
	return string(w.Bytes()), true
}

// plain writes the next value.
func plain(r *Reader, w *Writer) {
	switch kind := r.peek(); {
	case kind == '{':
		r.Object()
		w.BeginObject()
		for r.Next() {
			w.KeyEscaped(r.Name())
			plain(r, w)
		}
		w.EndObject()
	case kind == '[':
		r.Array()
		w.BeginArray()
		for r.NextElement() {
			w.Element()
			plain(r, w)
		}
		w.EndArray()
	case kind == '"':
		s, _ := r.String()
		w.String(s)
	case isNumber(kind):
		if number, ok := r.Number(); ok {
			w.Raw(plainNumber(number))
		}
	default:
		w.Raw(r.Raw())
	}
}

// plainNumber spells a number with all of its digits, unless it is long, or has an exponent, and its canonical form is
// shorter.
func plainNumber(text string) string {
	const long = 24
	short := text
	if !strings.ContainsAny(text, "eE") {
		if strings.Contains(text, ".") {
			short = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		if len(short) <= long {
			return short
		}
	}
	if canonical := string(parseDecimal(text).appendCanonical(nil)); len(canonical) < len(short) {
		return canonical
	}
	return short
}
