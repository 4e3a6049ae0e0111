package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// encoder writes values of one Go type.
type encoder struct {
	kind   kind
	goType reflect.Type
	bits   int // of a number
	size   uintptr
	elem   *encoder
	object *structEncoder
	key    func(key reflect.Value) (string, error) // of a map; nil: keys are strings
	length int                                     // of an array
	text   string                                  // of a constant
	offset uintptr                                 // of the value in an Optional
	// wireType is what a definition says of values of a basic type, and of those that write themselves.
	wireType string
	message  *message // of a message with a codec; elem writes its form
}

// encoder compiles the encoder of Go type t for values of parameter p.
func (s *Set) encoder(t reflect.Type, p *gen.Param) (*encoder, error) {
	if p.Quoted && isScalar(t) {
		return s.quotedEncoder(t, p)
	}
	if known := s.encoders[t]; known != nil && !quotesScalars(p) {
		if known.wireType != "" {
			return known, s.fits(t, p, known.wireType)
		}
		return known, nil
	}
	n := &encoder{goType: t, size: t.Size()}
	if mayContainItself(t) && !quotesScalars(p) {
		s.encoders[t] = n
	}
	return n, s.fillEncoder(n, t, p)
}

// mayContainItself reports whether t may be a type such as `type Tree []Tree`. Of structs, Set keeps track apart.
func mayContainItself(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		return t.Name() != ""
	default:
		return false
	}
}

func (s *Set) fillEncoder(n *encoder, t reflect.Type, p *gen.Param) error {
	if b, ok := basicOf(t); ok {
		n.kind, n.bits, n.wireType = b.kind, b.bits, b.wireType
		s.encoders[t] = n
		return s.fits(t, p, b.wireType)
	}
	if s.forms != nil {
		if c := s.forms.codecOf(t); c != nil {
			return s.messageEncoder(n, c, p)
		}
		if t == nestedForm {
			return s.formEncoder(n, p)
		}
	}
	switch {
	case isPatch(t):
		return fmt.Errorf("%s is for requests", t)
	case isOptional(t):
		return s.optionalEncoder(n, t, p)
	case isSQLNull(t):
		return s.sqlNullEncoder(n, t, p)
	case hasMethods(t):
		n.kind, n.wireType = methodKind(t), p.Type
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		n.kind = kindAny
		return s.fits(t, p, "any")
	case reflect.Pointer:
		n.kind = kindPointer
		return s.elemEncoder(n, p)
	case reflect.Struct:
		n.kind = kindStruct
		var err error
		n.object, err = s.structEncoder(t, p.Type)
		return err
	case reflect.Slice, reflect.Array, reflect.Map:
		return s.containerEncoder(n, t, p)
	}
	return fmt.Errorf("values of type %s cannot be written", t)
}

func (s *Set) elemEncoder(n *encoder, p *gen.Param) error {
	elem, err := s.encoder(n.goType.Elem(), p)
	n.elem = elem
	return err
}

// write writes the value at p.
func (n *encoder) write(w *wire.Writer, p unsafe.Pointer) {
	switch n.kind {
	case kindString:
		w.String(*(*string)(p))
	case kindInt:
		w.Int(getInt(p, n.bits))
	case kindBool:
		w.Bool(*(*bool)(p))
	case kindTime:
		w.Time(*(*time.Time)(p))
	case kindStruct:
		n.object.write(w, p)
	case kindPointer:
		if p = *(*unsafe.Pointer)(p); p == nil || w.TooDeep() {
			w.Null()
			return
		}
		n.elem.write(w, p)
	case kindFloat:
		if n.bits == 32 {
			w.Float(float64(*(*float32)(p)), 32)
			return
		}
		w.Float(*(*float64)(p), 64)
	case kindUint:
		w.Uint(getUint(p, n.bits))
	case kindStrings:
		w.BeginArray()
		for _, s := range *(*[]string)(p) {
			w.Element()
			w.String(s)
		}
		w.EndArray()
	case kindSlice:
		list := (*sliceHeader)(p)
		n.writeElements(w, list.data, list.len, nil)
	case kindArray:
		n.writeElements(w, p, n.length, nil)
	default:
		n.writeRare(w, p)
	}
}

// writeRare is write for the kinds that are rare, so that write stays small.
func (n *encoder) writeRare(w *wire.Writer, p unsafe.Pointer) {
	switch n.kind {
	case kindBytes:
		w.Base64(*(*[]byte)(p))
	case kindAny:
		n.writeAny(w, p)
	case kindNumber:
		w.Any(numberOrZero(*(*json.Number)(p)))
	case kindRaw:
		n.writeRaw(w, *(*json.RawMessage)(p))
	case kindText:
		n.writeText(w, p)
	case kindJSON:
		n.writeJSON(w, p)
	case kindQuoted:
		n.writeQuoted(w, p)
	case kindConstant:
		w.String(n.text)
	case kindStringMap:
		w.StringMap(*(*map[string]string)(p))
	case kindMap:
		n.writeMap(w, p)
	case kindSQLNull:
		n.writeSQLNull(w, p, nil)
	case kindMessage:
		n.writeMessage(w, p, nil)
	case kindOptional:
		if *(*Presence)(p) != Present {
			w.Null()
			return
		}
		n.elem.write(w, unsafe.Add(p, n.offset))
	}
}

func getInt(p unsafe.Pointer, bits int) int64 {
	switch bits {
	case 8:
		return int64(*(*int8)(p))
	case 16:
		return int64(*(*int16)(p))
	case 32:
		return int64(*(*int32)(p))
	default:
		return *(*int64)(p)
	}
}

func getUint(p unsafe.Pointer, bits int) uint64 {
	switch bits {
	case 8:
		return uint64(*(*uint8)(p))
	case 16:
		return uint64(*(*uint16)(p))
	case 32:
		return uint64(*(*uint32)(p))
	default:
		return *(*uint64)(p)
	}
}
