package codec

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// isScalar reports whether values of type t can travel in a string.
func isScalar(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
}

// quotesScalars reports whether values of p, or elements of them, travel in strings.
func quotesScalars(p *gen.Param) bool {
	for ; p != nil; p = p.Items {
		if p.Quoted {
			return true
		}
	}
	return false
}

// quotedDecoder compiles the decoder of a scalar that travels in a string: with encoding/json's option "string", or as
// the tag says.
func (s *Set) quotedDecoder(t reflect.Type, p *gen.Param) (*decoder, error) {
	inner := unquoted(t, p)
	elem, err := s.decoder(t, &inner)
	if err != nil {
		return nil, err
	}
	return &decoder{kind: kindQuoted, goType: t, size: t.Size(), expected: "string", elem: elem}, nil
}

// quotedEncoder compiles the encoder of such a scalar.
func (s *Set) quotedEncoder(t reflect.Type, p *gen.Param) (*encoder, error) {
	inner := unquoted(t, p)
	elem, err := s.encoder(t, &inner)
	if err != nil {
		return nil, err
	}
	return &encoder{kind: kindQuoted, goType: t, size: t.Size(), elem: elem}, nil
}

// unquoted returns the definition of the value inside the string.
func unquoted(t reflect.Type, p *gen.Param) gen.Param {
	inner := *p
	inner.Quoted, inner.Type = false, scalarName(t)
	return inner
}

// scalarName returns the wire type of a scalar Go type.
func scalarName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		if t == numberType {
			return "number"
		}
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number"
	default:
		return "integer"
	}
}

// boolTexts are the booleans in strings.
var boolTexts = []string{"true", "false"}

// readQuoted reads a scalar in a string. An integer may be a number too, as long as every client holds it exactly
// (MCP-AQL core §4.7.3).
func (n *decoder) readQuoted(r *wire.Reader, p unsafe.Pointer) {
	integer := n.elem.kind == kindInt || n.elem.kind == kindUint
	if integer && r.Kind() == "number" {
		n.elem.read(r, p, false)
		if n.elem.kind == kindUint && getUint(p, n.elem.bits) > wire.MaxSafeInteger ||
			n.elem.kind == kindInt && !isSafe(getInt(p, n.elem.bits)) {
			r.Mismatch("integer in quotes")
		}
		return
	}
	text, ok := r.String()
	if !ok {
		return
	}
	if n.elem.kind == kindBool {
		if r.Enum(text, boolTexts) {
			*(*bool)(p) = text == "true"
		}
		return
	}
	if integer && !isPlainInteger(text) || text == "null" || text == "" || text[0] <= ' ' || text[len(text)-1] <= ' ' {
		r.Mismatch(n.elem.expected + " in quotes")
		return
	}
	inner := wire.NewReader(text, wire.Limits{})
	n.elem.read(inner, p, false)
	inner.End()
	r.TakeProblemsOf(inner, n.elem.expected+" in quotes")
}

func isSafe(v int64) bool { return -wire.MaxSafeInteger <= v && v <= wire.MaxSafeInteger }

// isPlainInteger reports whether text is an integer in its one spelling, that of gen.PatternInteger.
func isPlainInteger(text string) bool {
	digits := text
	if len(text) > 1 && text[0] == '-' && text[1] != '0' {
		digits = text[1:]
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits == "0" || digits != "" && digits[0] != '0'
}

// writeQuoted writes a scalar in a string.
func (n *encoder) writeQuoted(w *wire.Writer, p unsafe.Pointer) {
	switch n.elem.kind {
	case kindInt:
		w.String(strconv.FormatInt(getInt(p, n.elem.bits), 10))
	case kindUint:
		w.String(strconv.FormatUint(getUint(p, n.elem.bits), 10))
	default:
		inner := wire.NewWriter(nil)
		n.elem.write(inner, p)
		if err := inner.Err(); err != nil {
			w.Fail(err)
		}
		w.String(string(inner.Bytes()))
	}
}
