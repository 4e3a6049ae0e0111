package codec

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

var (
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	marshalerType       = reflect.TypeFor[json.Marshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
)

// hasMethods reports whether a type has methods for its JSON or its text, in either direction. Such a type is read and
// written as encoding/json does it, also in the direction for which it has no method.
func hasMethods(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	pointer := reflect.PointerTo(t)
	return pointer.Implements(unmarshalerType) || pointer.Implements(textUnmarshalerType) ||
		pointer.Implements(marshalerType) || pointer.Implements(textMarshalerType)
}

// isBytes reports whether encoding/json takes a type for binary data: a slice of bytes without methods of their own.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !hasMethods(t.Elem())
}

// callUser calls a method of a user's type. A panic of the method is an error.
func callUser(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError{v}
		}
	}()
	return call()
}

// methodDecoder compiles the decoder of a type with methods.
func (s *Set) methodDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	if err := s.fits(t, p, "any", "string", "number", "integer", "boolean", "array", "object"); err != nil {
		return err
	}
	n.kind, n.expected, n.form = kindText, p.Type, formOf(p)
	if reflect.PointerTo(t).Implements(unmarshalerType) || p.Type != "string" {
		n.kind = kindJSON
	}
	return nil
}

// readText reads a string by the type's method for text.
func (n *decoder) readText(r *wire.Reader, p unsafe.Pointer) {
	text, ok := r.String()
	if !ok || n.constraints != nil && !n.constraints.checkText(r, text) {
		return
	}
	n.clear(p)
	value, ok := reflect.NewAt(n.goType, p).Interface().(encoding.TextUnmarshaler)
	if !ok {
		r.Mismatch(n.form)
	} else if err := callUser(func() error { return value.UnmarshalText([]byte(text)) }); err != nil {
		r.MismatchBecause(n.form, reasonOf(err))
	}
}

// readJSON reads a value by the type's own method, or by encoding/json where the type has no method for reading.
func (n *decoder) readJSON(r *wire.Reader, p unsafe.Pointer) {
	kind := r.Kind()
	var text string
	if n.expected == "integer" && kind == "number" {
		text, _ = r.BigInt()
	} else {
		text = r.Raw()
	}
	if text == "" {
		return
	}
	if !n.acceptsKind(kind) {
		r.Mismatch(n.expected)
		return
	}
	if n.constraints != nil && !n.constraints.checkJSON(r, kind, text) {
		return
	}
	n.clear(p)
	value := reflect.NewAt(n.goType, p)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields() // where encoding/json reads it field by field
	if err := callUser(func() error { return decoder.Decode(value.Interface()) }); err != nil {
		r.MismatchBecause(n.form, reasonOf(err))
	}
}

// checkJSON is the check of a value that its type reads itself: of a string or a number.
func (c *constraints) checkJSON(r *wire.Reader, kind, text string) bool {
	switch kind {
	case "string":
		s, _ := wire.NewReader(text, wire.Limits{}).String()
		return c.checkText(r, s)
	case "number":
		return c.checkNumber(r, text)
	default:
		return true
	}
}

// panicError is the panic of a method of a user's type.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// reasonOf is why a type refused a value, in its own words. Those of encoding/json, and of a panic, are about Go.
func reasonOf(err error) string {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var panicked panicError
	if errors.As(err, &wrongType) || errors.As(err, &syntax) || errors.As(err, &panicked) ||
		strings.HasPrefix(err.Error(), "json: ") {
		return ""
	}
	return err.Error()
}

// acceptsKind reports whether a JSON kind is the one of the definition.
func (n *decoder) acceptsKind(kind string) bool {
	switch n.expected {
	case "string", "boolean", "array", "object", "number":
		return kind == n.expected
	case "integer":
		return kind == "number"
	default:
		return true
	}
}

// wellFormed is what is expected of a value that its own type refuses: agents are not shown the types of Go.
const wellFormed = "well-formed "

// formOf names what a type with methods accepts, as far as the definition describes it.
func formOf(p *gen.Param) string {
	switch {
	case p.Type == "integer":
		return p.Type
	case p.Format != "":
		return p.Format
	case p.Type == "any":
		return wellFormed + "value"
	case p.Type == "string":
		return wellFormed + "text"
	default:
		return p.Type
	}
}
