package codec

import (
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// quotedDecoder compiles the decoder of a field with encoding/json's option "string": the JSON of its value in a
// string.
func (s *Set) quotedDecoder(t reflect.Type, p *gen.Param) (*decoder, error) {
	inner := *p
	inner.Type = scalarName(t)
	elem, err := s.decoder(t, &inner)
	if err != nil {
		return nil, err
	}
	return &decoder{kind: kindQuoted, goType: t, size: t.Size(), expected: "string", elem: elem}, nil
}

// scalarName returns the wire type of a scalar Go type, or of a pointer to one.
func scalarName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
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

// readQuoted reads a value with encoding/json's option "string".
func (n *decoder) readQuoted(r *wire.Reader, p unsafe.Pointer) {
	text, ok := r.String()
	if !ok {
		return
	}
	inner := wire.NewReader(text, wire.Limits{})
	if inner.Kind() == "null" {
		r.Mismatch(n.elem.expected + " in quotes")
		return
	}
	n.elem.read(inner, p, false)
	inner.End()
	r.TakeProblemsOf(inner, n.elem.expected+" in quotes")
}

// writeQuoted writes a value with encoding/json's option "string".
func (n *encoder) writeQuoted(w *wire.Writer, p unsafe.Pointer) {
	elem := n.elem
	for elem.kind == kindPointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			w.Null()
			return
		}
		elem = elem.elem
	}
	inner := wire.NewWriter(nil)
	elem.write(inner, p)
	if err := inner.Err(); err != nil {
		w.Fail(err)
	}
	w.String(string(inner.Bytes()))
}
