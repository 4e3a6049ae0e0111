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

// writing writes values of one Go type.
type writing struct {
	kind   kind
	goType reflect.Type
	bits   int
	size   uintptr
	elem   *writing
	record *record
	key    func(key reflect.Value) (string, error) // of a map; nil: the key is a string
	length int                                     // of an array
	offset uintptr                                 // of an optional: offset of its value
}

// record is a struct that is written.
type record struct {
	fields []written
}

// written is a field of a struct that is written.
type written struct {
	name      string
	key       string // the name with a comma, quotes and a colon
	presets   []string
	id        bool
	location  location
	value     *writing
	always    bool // it is never left out, and in the struct itself
	omitEmpty bool
	omitZero  bool
	isZero    func(p unsafe.Pointer) bool
}

// writesItself reports whether a type, or a pointer to it, has methods of its own for its JSON.
func writesItself(t reflect.Type) bool { return readsItself(t) }

// writing compiles the writer of type t for a value of parameter p.
func (s *Set) writing(t reflect.Type, p *gen.Param) (*writing, error) {
	if known := s.lists[t]; known != nil {
		return known, nil // a type such as `type Tree []Tree`
	}
	n := &writing{goType: t, size: t.Size()}
	if t.Name() != "" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer || t.Kind() == reflect.Array) {
		s.lists[t] = n
	}
	return n, s.fillWriting(n, t, p)
}

func (s *Set) fillWriting(n *writing, t reflect.Type, p *gen.Param) error {
	fits := func(k kind, wireType string) error {
		n.kind = k
		return s.fits(t, p, []string{wireType})
	}
	switch {
	case t == timeType:
		return fits(kindTime, "string")
	case t == numberType:
		return fits(kindNumber, "number")
	case t == rawType:
		return fits(kindRaw, "any")
	case isPatch(t):
		return fmt.Errorf("%s is for requests", t)
	case isOptional(t):
		return s.optionalWriting(n, t, p)
	case t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && readsItself(t):
		n.kind = ownWriting(t)
		return nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return fits(kindBool, "boolean")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.bits = t.Bits()
		return fits(kindInt, "integer")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n.bits = t.Bits()
		return fits(kindUint, "integer")
	case reflect.Float32, reflect.Float64:
		n.bits = t.Bits()
		return fits(kindFloat, "number")
	case reflect.String:
		return fits(kindString, "string")
	case reflect.Interface:
		return fits(kindAny, "any")
	case reflect.Pointer:
		n.kind = kindPointer
		return s.elemWriting(n, p)
	case reflect.Struct:
		n.kind = kindStruct
		var err error
		n.record, err = s.record(t, p.Type)
		return err
	case reflect.Slice, reflect.Array, reflect.Map:
		return s.containerWriting(n, t, p)
	}
	return fmt.Errorf("values of type %s cannot be written", t)
}

// ownWriting tells how a type with methods for its JSON is written. Methods of the pointer are called wherever a value is,
// unlike in encoding/json, which cannot call them on the elements of maps and on what was passed to it by value: an agent
// would see the fields of a type there that it must send as a string, and could not send back what it received
// (requirements REQ-RS-08). Of a type that only reads itself the definitions do not know what it consists of.
func ownWriting(t reflect.Type) kind {
	pointer := reflect.PointerTo(t)
	if !pointer.Implements(marshalerType) && pointer.Implements(textMarshalerType) {
		return kindText
	}
	return kindJSON
}

func (s *Set) elemWriting(n *writing, p *gen.Param) error {
	elem, err := s.writing(n.goType.Elem(), p)
	n.elem = elem
	return err
}

func (s *Set) containerWriting(n *writing, t reflect.Type, p *gen.Param) error {
	items := p.Items
	if items == nil {
		items = &gen.Param{Type: "any"}
	}
	wanted := "array"
	switch {
	case isBytes(t):
		n.kind = kindBytes
		return s.fits(t, p, []string{"string"})
	case t.Kind() == reflect.Map:
		wanted = "object"
	}
	if err := s.fits(t, p, []string{wanted}); err != nil {
		return err
	}
	switch {
	case t == stringsType:
		n.kind = kindStrings
	case t == textMapType:
		n.kind = kindStringMap
		return s.fits(t.Elem(), items, []string{"string"})
	case t.Kind() == reflect.Slice:
		n.kind = kindSlice
	case t.Kind() == reflect.Array:
		n.kind, n.length = kindArray, t.Len()
	default:
		n.kind = kindMap
		key, err := keyWriter(t.Key())
		if err != nil {
			return err
		}
		n.key = key
	}
	return s.elemWriting(n, items)
}

// record compiles struct type t as the wire type called name.
func (s *Set) record(t reflect.Type, name string) (*record, error) {
	key := objectKey{t, name}
	if known := s.records[key]; known != nil {
		return known, nil
	}
	params, err := s.fieldsOf(t, name)
	if err != nil {
		return nil, err
	}
	c := &record{}
	s.records[key] = c
	c.fields = make([]written, len(params))
	for i := range params {
		if err := s.fillWritten(&c.fields[i], t, &params[i]); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, params[i].Name, err)
		}
	}
	return c, nil
}

func (s *Set) fillWritten(f *written, t reflect.Type, p *gen.Param) error {
	at, goField, err := locate(t, p.Go)
	if err != nil {
		return err
	}
	name := wire.NewWriter(nil)
	name.String(p.Name)
	f.key, f.location = ","+string(name.Bytes())+":", at
	f.name, f.presets, f.id = p.Name, p.Presets, p.ID
	if p.Quoted {
		inner := *p
		inner.Type = scalarName(goField.Type)
		elem, err := s.writing(goField.Type, &inner)
		if err != nil {
			return err
		}
		f.value = &writing{kind: kindQuoted, goType: goField.Type, elem: elem}
	} else if f.value, err = s.writing(goField.Type, p); err != nil {
		return err
	}
	f.omitEmpty = p.OmitEmpty
	if f.omitZero = p.OmitZero || f.value.kind == kindOptional; f.omitZero {
		f.isZero = zeroTest(goField.Type)
	}
	f.always = !f.omitEmpty && !f.omitZero && len(at.steps) == 0
	return nil
}

// write writes the value at p.
func (n *writing) write(w *wire.Writer, p unsafe.Pointer) {
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
		n.record.write(w, p)
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
		list := (*slice)(p)
		n.writeElements(w, list.data, list.len, nil)
	case kindArray:
		n.writeElements(w, p, n.length, nil)
	default:
		n.writeRare(w, p)
	}
}

func (n *writing) writeRare(w *wire.Writer, p unsafe.Pointer) {
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
	case kindStringMap:
		w.StringMap(*(*map[string]string)(p))
	case kindMap:
		n.writeMap(w, p)
	case kindOptional:
		if *(*Presence)(p) != Present {
			w.Null()
			return
		}
		n.elem.write(w, unsafe.Add(p, n.offset))
	}
}

func (n *writing) writeElements(w *wire.Writer, data unsafe.Pointer, count int, subset *Subset) {
	if w.TooDeep() {
		w.Null()
		return
	}
	w.BeginArray()
	for i := range count {
		if w.Element(); w.Err() != nil {
			break
		}
		n.elem.writeSelected(w, unsafe.Add(data, uintptr(i)*n.elem.size), subset)
	}
	w.EndArray()
}

func (c *record) write(w *wire.Writer, base unsafe.Pointer) {
	w.BeginObject()
	first := true
	for i := range c.fields {
		f := &c.fields[i]
		p := unsafe.Add(base, f.location.offset)
		if !f.always {
			if p = f.present(base); p == nil {
				continue
			}
		}
		w.Field(f.key, first)
		first = false
		f.value.write(w, p)
	}
	w.EndObject()
}

// present returns the address of the field in the struct at base, and nil where it is left out.
func (f *written) present(base unsafe.Pointer) unsafe.Pointer {
	p := unsafe.Add(base, f.location.offset)
	if len(f.location.steps) > 0 {
		if p = f.location.present(base); p == nil {
			return nil
		}
	}
	if f.omitEmpty && f.value.empty(p) || f.omitZero && f.isZero(p) {
		return nil
	}
	return p
}

// empty reports what encoding/json's omitempty leaves out.
func (n *writing) empty(p unsafe.Pointer) bool {
	switch n.goType.Kind() {
	case reflect.String:
		return *(*string)(p) == ""
	case reflect.Bool:
		return !*(*bool)(p)
	case reflect.Slice:
		return (*slice)(p).len == 0
	case reflect.Pointer:
		return *(*unsafe.Pointer)(p) == nil
	case reflect.Struct:
		return false
	case reflect.Array:
		return n.goType.Len() == 0
	case reflect.Map:
		return reflect.NewAt(n.goType, p).Elem().Len() == 0
	default:
		return reflect.NewAt(n.goType, p).Elem().IsZero()
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
