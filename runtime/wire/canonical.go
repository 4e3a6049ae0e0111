package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Canonical appends the canonical form of a JSON value to dst: members sorted by name, no white space, strings escaped
// no more than needed, numbers by value, so that 1, 1.0 and 10e-1 are the same. raw must be a valid value.
func Canonical(dst []byte, raw string) []byte {
	return canonical(dst, NewReader(raw, Limits{}))
}

func canonical(dst []byte, r *Reader) []byte {
	switch r.Kind() {
	case "object":
		type member struct {
			name  string
			value []byte
		}
		var members []member
		if r.Object() {
			for r.Next() {
				name := r.Name()
				members = append(members, member{name, canonical(nil, r)})
			}
		}
		slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, m.name)
			dst = append(append(dst, ':'), m.value...)
		}
		return append(dst, '}')
	case "array":
		dst = append(dst, '[')
		if r.Array() {
			for first := true; r.NextElement(); first = false {
				if !first {
					dst = append(dst, ',')
				}
				dst = canonical(dst, r)
			}
		}
		return append(dst, ']')
	case "string":
		s, _ := r.String()
		return appendString(dst, s)
	case "number":
		text, _ := r.number()
		return canonicalNumber(dst, text)
	default:
		return append(dst, r.Raw()...)
	}
}

// canonicalNumber spells a number as its significant digits and a power of ten, which stays short however large the
// number is.
func canonicalNumber(dst []byte, text string) []byte {
	unsigned, negative := strings.CutPrefix(text, "-")
	significand, exponent := decompose(unsigned)
	if negative && significand != "0" {
		dst = append(dst, '-')
	}
	dst = append(dst, significand...)
	if exponent != 0 {
		dst = strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	}
	return dst
}
