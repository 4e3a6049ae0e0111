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

// decoder reads and merges values of one Go type under the constraints of one parameter.
type decoder struct {
	kind        kind
	goType      reflect.Type
	expected    string // the type that problems name
	form        string // what problems name where a method fails, or where the name of a map's entry is no key
	bits        int    // of a number
	size        uintptr
	elem        *decoder
	key         keyReader // of a map; nil: keys are strings
	object      *structDecoder
	offset      uintptr      // of the value in a Patch or an Optional
	constraints *constraints // nil: none
	presets     []string     // of a selection: the presets that it may name
	otherNames  bool         // of a selection: paths may have names that no wire name can be
	filter      interface {
		read(r *wire.Reader, p unsafe.Pointer)
	} // into collection.Conditions
	message *message // of a message with a codec; elem reads its form
}

// decoder compiles the decoder of Go type t for values of parameter p.
func (s *Set) decoder(t reflect.Type, p *gen.Param) (*decoder, error) {
	if p.Quoted && isScalar(t) {
		return s.quotedDecoder(t, p)
	}
	n := s.unfinished[t] // of a type such as `type Tree []Tree`
	recursive := n != nil
	if basic := s.basicDecoders[t]; basic != nil {
		n = basic
		if err := s.fits(t, p, n.expected); err != nil {
			return nil, err
		}
	} else if !recursive {
		n = &decoder{goType: t, size: t.Size()}
		if err := s.fillDecoder(n, t, p); err != nil {
			return nil, err
		}
		s.pending = slices.DeleteFunc(s.pending, func(c constrained) bool {
			if c.of == n {
				*c.copy = *n
				c.copy.constraints = c.constraints
			}
			return c.of == n
		})
	}
	limits, err := s.constraints(n, p)
	if err != nil || limits == nil {
		return n, err
	}
	// The constraints are those of this parameter alone, and others may use n.
	limited := *n
	limited.constraints = limits
	if recursive {
		s.pending = append(s.pending, constrained{&limited, n, limits})
	}
	return &limited, nil
}

func (s *Set) fillDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	if b, ok := basicOf(t); ok {
		n.kind, n.expected, n.bits = b.kind, b.wireType, b.bits
		s.basicDecoders[t] = n
		return s.fits(t, p, b.wireType)
	}
	if s.forms != nil {
		if c := s.forms.codecOf(t); c != nil {
			return s.messageDecoder(n, c, p)
		}
		if t == nestedForm {
			return s.formDecoder(n, p)
		}
	}
	if s.filterDecoder != nil {
		if is, err := s.filterDecoder(n, t, p); is || err != nil {
			return err
		}
	}
	switch {
	case isPatch(t):
		return s.patchDecoder(n, t, p)
	case isOptional(t):
		return s.optionalDecoder(n, t, p)
	case isSQLNull(t):
		return s.sqlNullDecoder(n, t, p)
	case isSelection(t):
		return s.selectionDecoder(n, t, p)
	case hasMethods(t):
		return s.methodDecoder(n, t, p)
	}
	switch t.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("nothing says which type to read into %s", t)
		}
		n.kind, n.expected = kindAny, "any"
		return s.fits(t, p, "any")
	case reflect.Pointer:
		return s.pointerDecoder(n, t, p)
	case reflect.Struct:
		n.kind, n.expected = kindStruct, "object"
		var err error
		n.object, err = s.structDecoder(t, p.Type)
		return err
	case reflect.Slice, reflect.Array, reflect.Map:
		return s.containerDecoder(n, t, p)
	}
	return fmt.Errorf("values of type %s cannot be read", t)
}

func (s *Set) pointerDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	defer s.enter(t, n)()
	elem, err := s.decoder(t.Elem(), p)
	if err != nil {
		return err
	}
	n.kind, n.elem, n.expected = kindPointer, elem, elem.expected
	return nil
}

// enter makes n the decoder of the values of type t that it contains, until leave is called.
func (s *Set) enter(t reflect.Type, n *decoder) (leave func()) {
	if t.Name() == "" || s.unfinished[t] != nil {
		return func() {}
	}
	s.unfinished[t] = n
	return func() { delete(s.unfinished, t) }
}

// read reads the next value into p. A value of another type, or one that breaks a constraint, is a problem of r and
// leaves p as it is. update says that the value is part of an update, where null is not the same as absence.
func (n *decoder) read(r *wire.Reader, p unsafe.Pointer, update bool) {
	switch n.kind {
	case kindString:
		if s, ok := r.String(); ok && (n.constraints == nil || n.constraints.checkText(r, s)) {
			*(*string)(p) = s
		}
	case kindInt:
		if v, ok := r.Int(n.bits); ok && (n.constraints == nil || n.constraints.checkInt(r, v)) {
			setInt(p, n.bits, v)
		}
	case kindBool:
		if v, ok := r.Bool(); ok {
			*(*bool)(p) = v
		}
	case kindUint:
		if v, ok := r.Uint(n.bits); ok && (n.constraints == nil || n.constraints.checkUint(r, v)) {
			setUint(p, n.bits, v)
		}
	case kindFloat:
		if v, ok := r.Float(n.bits); ok && (n.constraints == nil || n.constraints.checkFloat(r, v)) {
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

// readRare is read for the kinds that are rare, so that read stays small.
func (n *decoder) readRare(r *wire.Reader, p unsafe.Pointer, update bool) {
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
		if text, ok := r.Number(); ok && (n.constraints == nil || n.constraints.checkNumber(r, text)) {
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
	case kindSQLNull:
		n.readSQLNull(r, p, update)
	case kindMessage:
		n.readMessage(r, p, update)
	case kindSelection:
		n.readSelection(r, p)
	case kindFilter:
		n.filter.read(r, unsafe.Add(p, n.offset))
	case kindConstant:
		if s, ok := r.String(); ok {
			n.constraints.checkText(r, s)
		}
	}
}

func (n *decoder) readPointer(r *wire.Reader, p unsafe.Pointer, update bool) {
	value := reflect.New(n.elem.goType).UnsafePointer()
	n.elem.read(r, value, update)
	*(*unsafe.Pointer)(p) = value
}

// clear sets the value at p to zero. Methods of its type could otherwise read into memory that a merge shares with
// other values: the digits of a big.Int, the entries of a map.
func (n *decoder) clear(p unsafe.Pointer) { reflect.NewAt(n.goType, p).Elem().SetZero() }

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
