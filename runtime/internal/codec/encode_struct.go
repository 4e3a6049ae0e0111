package codec

import (
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// structEncoder writes structs of one type.
type structEncoder struct {
	name   string // of the wire type
	fields []encodedField
	behind []masker // what a request can ask for behind the fields
}

// encodedField is a field of a struct that is written.
type encodedField struct {
	name      string
	key       string // the name with a comma, quotes and a colon
	presets   []string
	aliases   []string // other names that selections may use
	id        bool
	source    string // the name that the codec of a message gives the field
	location  location
	value     *encoder
	always    bool // it is never left out, and not in an embedded pointer
	omitEmpty bool
	omitZero  bool
	isZero    func(p unsafe.Pointer) bool
}

// structEncoder compiles the encoder of struct type t, which is the wire type called name.
func (s *Set) structEncoder(t reflect.Type, name string) (*structEncoder, error) {
	key := structKey{t, name}
	if known := s.structEncoders[key]; known != nil {
		return known, nil
	}
	params, err := s.fieldsOf(t, name)
	if err != nil {
		return nil, err
	}
	c := &structEncoder{name: name}
	s.structEncoders[key] = c
	c.fields = make([]encodedField, 0, len(params))
	for i := range params {
		if params[i].Sensitive { // only requests have it
			continue
		}
		c.fields = append(c.fields, encodedField{})
		if err := s.fillEncodedField(&c.fields[len(c.fields)-1], t, &params[i]); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, params[i].Name, err)
		}
	}
	return c, nil
}

func (s *Set) fillEncodedField(f *encodedField, t reflect.Type, p *gen.Param) error {
	at, goField, err := s.locate(t, p.Go)
	if err != nil {
		return err
	}
	f.key, f.location = fieldKey(p.Name), at
	f.name, f.presets, f.aliases, f.id, f.source = p.Name, p.Presets, p.Aliases, p.ID, p.Go
	if p.Constant != "" {
		f.value = &encoder{kind: kindConstant, goType: goField.Type, text: p.Constant}
	} else if f.value, err = s.encoder(goField.Type, p); err != nil {
		return err
	}
	f.omitEmpty = p.OmitEmpty
	if f.omitZero = p.OmitZero || isOptional(goField.Type); f.omitZero {
		f.isZero = zeroTest(goField.Type)
	}
	f.always = !f.omitEmpty && !f.omitZero && len(at.steps) == 0
	return nil
}

// fieldKey spells a name with a comma, quotes and a colon.
func fieldKey(name string) string {
	if plainName(name) {
		return `,"` + name + `":`
	}
	quoted := wire.NewWriter(nil)
	quoted.String(name)
	return "," + string(quoted.Bytes()) + ":"
}

// find returns the index of the field with a name, or -1.
func (c *structEncoder) find(name string) int {
	for i := range c.fields {
		if f := &c.fields[i]; f.name == name || slices.Contains(f.aliases, name) {
			return i
		}
	}
	return -1
}

func (c *structEncoder) write(w *wire.Writer, base unsafe.Pointer) {
	w.BeginObject()
	first := true
	for i := range c.fields {
		f := &c.fields[i]
		p := unsafe.Add(base, f.location.offset)
		if !f.always {
			if p = f.address(base); p == nil {
				continue
			}
		}
		w.Field(f.key, first)
		first = false
		f.value.write(w, p)
	}
	w.EndObject()
}

// address returns the address of the field in the struct at base, and nil where the field is left out.
func (f *encodedField) address(base unsafe.Pointer) unsafe.Pointer {
	p := unsafe.Add(base, f.location.offset)
	if len(f.location.steps) > 0 {
		if p = f.location.address(base); p == nil {
			return nil
		}
	}
	if f.omitEmpty && f.value.empty(p) || f.omitZero && f.isZero(p) {
		return nil
	}
	return p
}

// empty reports whether encoding/json's omitempty leaves out the value at p.
func (n *encoder) empty(p unsafe.Pointer) bool {
	switch n.goType.Kind() {
	case reflect.String:
		return *(*string)(p) == ""
	case reflect.Bool:
		return !*(*bool)(p)
	case reflect.Slice:
		return (*sliceHeader)(p).len == 0
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

// isZeroer is the method that encoding/json's omitzero calls.
type isZeroer interface{ IsZero() bool }

var isZeroerType = reflect.TypeFor[isZeroer]()

// zeroTest returns a function that reports whether encoding/json's omitzero leaves out the value of type t at p.
func zeroTest(t reflect.Type) func(p unsafe.Pointer) bool {
	callIsZero := func(value reflect.Value) bool {
		zeroer, ok := reflect.TypeAssert[isZeroer](value)
		return ok && zeroer.IsZero()
	}
	switch {
	case t == timeType:
		return func(p unsafe.Pointer) bool { return (*time.Time)(p).IsZero() }
	case isOptional(t):
		return func(p unsafe.Pointer) bool { return *(*Presence)(p) == Absent }
	case (t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface) && t.Implements(isZeroerType):
		return func(p unsafe.Pointer) bool {
			value := reflect.NewAt(t, p).Elem()
			return value.IsNil() || value.Elem().Kind() == reflect.Pointer && value.Elem().IsNil() || callIsZero(value)
		}
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(isZeroerType):
		return func(p unsafe.Pointer) bool { return callIsZero(reflect.NewAt(t, p)) }
	}
	return func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsZero() }
}
