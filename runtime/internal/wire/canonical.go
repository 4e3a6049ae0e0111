package wire

import (
	"cmp"
	"slices"
)

// Canonical appends the canonical form of a JSON value to dst. Two values have the same canonical form if and only if
// they are the same value. The form has no white space, and members are sorted by the bytes of their names. Strings
// are as Writer spells them. Numbers are spelled by their exact value, so that 1, 1.0 and 10e-1 are the same. raw
// must be a valid value, nested at most 10,000 levels deep.
func Canonical(dst []byte, raw string) []byte {
	return readNode(NewReader(raw, Limits{})).append(dst)
}

// node is a value of which the members are sorted.
type node struct {
	kind     byte   // the first byte of its text
	name     string // of the member whose value this is
	text     string // of a string: unescaped
	children []node
}

// readNode reads the next value.
func readNode(r *Reader) (n node) {
	switch n.kind = r.peek(); n.kind {
	case '{':
		if r.open(true) {
			for r.Next() {
				name := r.Name()
				child := readNode(r)
				child.name = name
				n.children = append(n.children, child)
			}
		}
		slices.SortFunc(n.children, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	case '[':
		if r.open(false) {
			for r.NextElement() {
				n.children = append(n.children, readNode(r))
			}
		}
	case '"':
		n.text, _ = r.text(borrows)
	default:
		n.text = r.Raw()
	}
	return n
}

// append appends the canonical form of the value.
func (n node) append(dst []byte) []byte {
	switch {
	case n.kind == '{':
		dst = append(dst, '{')
		for i, child := range n.children {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, child.name), ':')
			dst = child.append(dst)
		}
		return append(dst, '}')
	case n.kind == '[':
		dst = append(dst, '[')
		for i, child := range n.children {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = child.append(dst)
		}
		return append(dst, ']')
	case n.kind == '"':
		return appendString(dst, n.text)
	case isNumber(n.kind) && n.text != "":
		return parseDecimal(n.text).appendCanonical(dst)
	default:
		return append(dst, n.text...)
	}
}

// Unjudged stands in a canonical form for a value of which nothing tells how a handler sees it. It is a JSON text that
// a Writer never writes, so that no value is mistaken for it.
const Unjudged = `"\/"`
