package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// kind says how values of a Go type are read or written.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindBytes
	kindTime
	kindAny
	kindNumber // json.Number
	kindRaw    // json.RawMessage
	kindText   // reads or writes itself as text
	kindJSON   // reads or writes itself as JSON
	kindQuoted // encoding/json's option "string"
	kindPointer
	kindSlice
	kindStrings // []string
	kindArray
	kindMap
	kindStringMap // map[string]string
	kindStruct
	kindPatch
	kindOptional
	kindSelection
)

// reading reads and merges values of one Go type under the constraints of one parameter.
type reading struct {
	kind     kind
	goType   reflect.Type
	expected string // what problems say was expected
	wanted   string // what they say of a value that its own type refuses
	bits     int
	size     uintptr
	elem     *reading
	key      func(name string, into reflect.Value) error // of a map; nil: the key is a string
	object   *object
	offset   uintptr  // of an optional: offset of its value
	checks   *checks  // nil: none
	presets  []string // of a selection: those that it may name
}

// checks are the constraints on a value.
type checks struct {
	minLength, maxLength int
	minItems, maxItems   int
	pattern              *pattern
	enum                 []string
	low, high            *bound
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	numberType  = reflect.TypeFor[json.Number]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	stringsType = reflect.TypeFor[[]string]()
	textMapType = reflect.TypeFor[map[string]string]()
)

// reading compiles the reader of type t for a value of parameter p.
func (s *Set) reading(t reflect.Type, p *gen.Param) (*reading, error) {
	n := s.open[t] // of a type such as `type Tree []Tree`, whose elements are read as it is
	recursive := n != nil
	if !recursive {
		n = &reading{goType: t, size: t.Size()}
		if err := s.fillReading(n, t, p); err != nil {
			return nil, err
		}
		s.copies = slices.DeleteFunc(s.copies, func(c constrained) bool {
			if c.of == n {
				*c.copy = *n
				c.copy.checks = c.checks
			}
			return c.of == n
		})
	}
	checks, err := s.checksOf(n, p)
	if err != nil || checks == nil {
		return n, err
	}
	// Constraints are those of this place: what else is read as n has none of them.
	limited := *n
	limited.checks = checks
	if recursive {
		s.copies = append(s.copies, constrained{&limited, n, checks})
	}
	return &limited, nil
}

func (s *Set) fillReading(n *reading, t reflect.Type, p *gen.Param) error {
	fits := func(k kind, expected string, wireTypes ...string) error {
		n.kind, n.expected = k, expected
		return s.fits(t, p, wireTypes)
	}
	switch {
	case t == timeType:
		return fits(kindTime, "string", "string")
	case t == numberType:
		return fits(kindNumber, "number", "number")
	case t == rawType:
		return fits(kindRaw, "any", "any")
	case isPatch(t):
		return s.patchReading(n, t, p)
	case isOptional(t):
		return s.optionalReading(n, t, p)
	case isSelection(t):
		return s.selectionReading(n, t, p)
	case readsItself(t):
		if err := s.fits(t, p, []string{"any", "string", "number", "integer", "boolean", "array", "object"}); err != nil {
			return err
		}
		n.expected, n.wanted = p.Type, wantedOf(p)
		if reflect.PointerTo(t).Implements(unmarshalerType) || p.Type != "string" {
			n.kind = kindJSON
			return nil
		}
		n.kind = kindText
		return nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return fits(kindBool, "boolean", "boolean")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.bits = t.Bits()
		return fits(kindInt, "integer", "integer")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n.bits = t.Bits()
		return fits(kindUint, "integer", "integer")
	case reflect.Float32, reflect.Float64:
		n.bits = t.Bits()
		return fits(kindFloat, "number", "number")
	case reflect.String:
		return fits(kindString, "string", "string")
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("nothing says which type to read into %s", t)
		}
		return fits(kindAny, "any", "any")
	case reflect.Pointer:
		return s.pointerReading(n, t, p)
	case reflect.Struct:
		n.kind, n.expected = kindStruct, "object"
		var err error
		n.object, err = s.object(t, p.Type)
		return err
	case reflect.Slice, reflect.Array, reflect.Map:
		return s.containerReading(n, t, p)
	}
	return fmt.Errorf("values of type %s cannot be read", t)
}

// fits reports a definition that is about another type.
func (s *Set) fits(t reflect.Type, p *gen.Param, wireTypes []string) error {
	for _, name := range wireTypes {
		if p.Type == name {
			return nil
		}
		if wireType := s.types[p.Type]; wireType != nil && (name == "string" && wireType.Kind == gen.KindEnum || wireType.Kind == gen.KindScalar) {
			return nil
		}
	}
	return fmt.Errorf("the definition says %s, but the Go type is %s; the generated code is out of date", p.Type, t)
}

func (s *Set) pointerReading(n *reading, t reflect.Type, p *gen.Param) error {
	defer s.enter(t, n)()
	elem, err := s.reading(t.Elem(), p)
	if err != nil {
		return err
	}
	n.kind, n.elem, n.expected = kindPointer, elem, elem.expected
	return nil
}

// enter lets a named type that contains itself find the reading that is being made.
func (s *Set) enter(t reflect.Type, n *reading) (leave func()) {
	if t.Name() == "" || s.open[t] != nil {
		return func() {}
	}
	s.open[t] = n
	return func() { delete(s.open, t) }
}

func (s *Set) containerReading(n *reading, t reflect.Type, p *gen.Param) error {
	defer s.enter(t, n)()
	items := p.Items
	if items == nil {
		items = &gen.Param{Type: "any"}
	}
	wanted := "array"
	n.kind, n.expected = kindSlice, wanted
	switch {
	case isBytes(t):
		n.kind, n.expected = kindBytes, "string"
		return s.fits(t, p, []string{"string"})
	case t.Kind() == reflect.Array:
		n.kind = kindArray
	case t.Kind() == reflect.Map:
		n.kind, n.expected, wanted = kindMap, "object", "object"
		key, err := keyReader(t.Key())
		if err != nil {
			return err
		}
		n.key = key
	}
	if err := s.fits(t, p, []string{wanted}); err != nil {
		return err
	}
	elem, err := s.reading(t.Elem(), items)
	if err != nil {
		return err
	}
	n.elem = elem
	switch {
	case t == stringsType && elem.checks == nil:
		n.kind = kindStrings
	case t == textMapType && elem.checks == nil:
		n.kind = kindStringMap
	}
	return nil
}

// read reads the value ahead into p. What is no value of the type, or breaks a constraint, is a problem, and p stays as it
// is. update: null is not absence.
func (n *reading) read(r *wire.Reader, p unsafe.Pointer, update bool) {
	switch n.kind {
	case kindString:
		if s, ok := r.String(); ok && (n.checks == nil || n.checks.text(r, s)) {
			*(*string)(p) = s
		}
	case kindInt:
		if v, ok := r.Int(n.bits); ok && (n.checks == nil || n.checks.int(r, v)) {
			setInt(p, n.bits, v)
		}
	case kindBool:
		if v, ok := r.Bool(); ok {
			*(*bool)(p) = v
		}
	case kindUint:
		if v, ok := r.Uint(n.bits); ok && (n.checks == nil || n.checks.uint(r, v)) {
			setUint(p, n.bits, v)
		}
	case kindFloat:
		if v, ok := r.Float(n.bits); ok && (n.checks == nil || n.checks.float(r, v)) {
			setFloat(p, n.bits, v)
		}
	case kindTime:
		if v, ok := r.Time(); ok {
			*(*time.Time)(p) = v
		}
	case kindStruct:
		n.object.read(r, p, update)
	case kindPointer:
		n.readPointer(r, p, update)
	case kindStrings:
		n.readStrings(r, (*[]string)(p))
	case kindSlice:
		n.readSlice(r, p, update)
	case kindArray:
		n.readArray(r, p, update)
	case kindStringMap:
		n.readStringMap(r, (*map[string]string)(p))
	case kindMap:
		n.readMap(r, p, update)
	default:
		n.readRare(r, p, update)
	}
}

func (n *reading) readRare(r *wire.Reader, p unsafe.Pointer, update bool) {
	switch n.kind {
	case kindBytes:
		if v, ok := r.Bytes(); ok {
			*(*[]byte)(p) = v
		}
	case kindAny:
		if v, ok := r.Any(); ok {
			*(*any)(p) = v
		}
	case kindRaw:
		if text := r.Raw(); text != "" {
			*(*json.RawMessage)(p) = json.RawMessage(text)
		}
	case kindNumber:
		if text, ok := r.Number(); ok && (n.checks == nil || n.checks.number(r, text)) {
			*(*json.Number)(p) = json.Number(r.Retain(text))
		}
	case kindText:
		n.readText(r, p)
	case kindJSON:
		n.readJSON(r, p)
	case kindQuoted:
		n.readQuoted(r, p)
	case kindPatch:
		n.readPatch(r, p)
	case kindOptional:
		n.readOptional(r, p, update)
	case kindSelection:
		n.readSelection(r, p)
	}
}

func (n *reading) readPointer(r *wire.Reader, p unsafe.Pointer, update bool) {
	value := reflect.New(n.goType.Elem()).UnsafePointer()
	n.elem.read(r, value, update)
	*(*unsafe.Pointer)(p) = value
}

func setInt(p unsafe.Pointer, bits int, v int64) {
	switch bits {
	case 8:
		*(*int8)(p) = int8(v)
	case 16:
		*(*int16)(p) = int16(v)
	case 32:
		*(*int32)(p) = int32(v)
	default:
		*(*int64)(p) = v
	}
}

func setUint(p unsafe.Pointer, bits int, v uint64) {
	switch bits {
	case 8:
		*(*uint8)(p) = uint8(v)
	case 16:
		*(*uint16)(p) = uint16(v)
	case 32:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

func setFloat(p unsafe.Pointer, bits int, v float64) {
	if bits == 32 {
		*(*float32)(p) = float32(v)
		return
	}
	*(*float64)(p) = v
}
