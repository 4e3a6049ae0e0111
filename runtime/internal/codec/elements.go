package codec

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// elements is how the elements of a collection are compared.
type elements struct {
	fields []*collection.Field // by index in the definition; nil: the field is not compared yet
	params []gen.Param
	goType reflect.Type
	ids    []*collection.Field
}

// elements compiles how elements of struct type t, which is the wire type called name, are compared.
func (s *Set) elements(t reflect.Type, name string) (*elements, error) {
	key := structKey{t, name}
	if known := s.collections[key]; known != nil {
		return known, nil
	}
	params, err := s.fieldsOf(t, name)
	if err != nil {
		return nil, err
	}
	e := &elements{fields: make([]*collection.Field, len(params)), params: params, goType: t}
	for _, i := range gen.Identifiers(params) {
		id, err := s.compared(e, i)
		if err != nil {
			return nil, err
		}
		e.ids = append(e.ids, id)
	}
	if len(e.ids) == 0 {
		return nil, fmt.Errorf("nothing identifies elements of %s; the generated code is out of date", name)
	}
	s.collections[key] = e
	return e, nil
}

// compared compiles how the field with index i is compared.
func (s *Set) compared(e *elements, i int) (*collection.Field, error) {
	if e.fields[i] != nil {
		return e.fields[i], nil
	}
	p := &e.params[i]
	at, goField, err := s.locate(e.goType, p.Go)
	if err != nil {
		return nil, err
	}
	f := &collection.Field{Name: p.Name, Offset: at.offset}
	if len(at.steps) > 0 {
		f.Offset = at.steps[0].offset
		for k := range at.steps {
			next := at.offset
			if k+1 < len(at.steps) {
				next = at.steps[k+1].offset
			}
			f.Steps = append(f.Steps, collection.Step{Kind: collection.Pointer, Offset: next})
		}
	}
	t := stepsTo(f, goField.Type, p)
	if t.Kind() == reflect.Slice && !hasMethods(t) {
		f.List, t = true, t.Elem()
		f.Size, p = t.Size(), p.Items
	}
	if !kindOfElement(f, t) || p == nil {
		return nil, fmt.Errorf("%s: values of type %s cannot be compared; the generated code is out of date", f.Name, t)
	}
	if f.Kind == collection.String && len(p.Enum) > 0 {
		f.Ranks = p.Enum
	}
	e.fields[i] = f
	return f, nil
}

// stepsTo adds the steps to the value in a field of type t, and returns the type of the value.
func stepsTo(f *collection.Field, t reflect.Type, p *gen.Param) reflect.Type {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			f.Steps = append(f.Steps, collection.Step{Kind: collection.Pointer})
			t = t.Elem()
		case isOptional(t):
			f.Steps = append(f.Steps, collection.Step{
				Kind: collection.Flag, Offset: t.Field(1).Offset, Is: uint8(Present),
			})
			t = t.Field(1).Type
		case isSQLNull(t):
			f.Steps = append(f.Steps, collection.Step{Kind: collection.Flag, Flag: t.Field(1).Offset, Is: 1})
			t = t.Field(0).Type
		default:
			if t == timeType && p.OmitZero {
				f.Steps = append(f.Steps, collection.Step{Kind: collection.ZeroTime})
			}
			return t
		}
	}
}

// kindOfElement sets the kind of values of type t. It returns false for those that cannot be compared.
func kindOfElement(f *collection.Field, t reflect.Type) bool {
	b, ok := basicOf(t)
	if !ok {
		if f.Kind = collection.Text; !hasMethods(t) || !reflect.PointerTo(t).Implements(textMarshalerType) {
			return false
		}
		f.Spell = func(p unsafe.Pointer) string { return spelled(t, p) }
		return true
	}
	f.Bits = b.bits
	switch b.kind {
	case kindBool:
		f.Kind = collection.Bool
	case kindInt:
		f.Kind = collection.Int
	case kindUint:
		f.Kind = collection.Uint
	case kindFloat:
		f.Kind = collection.Float
	case kindString:
		f.Kind = collection.String
	case kindTime:
		f.Kind = collection.Time
	default:
		return false
	}
	return true
}

// spelled returns the text of a value that writes itself; empty: it has none.
func spelled(t reflect.Type, p unsafe.Pointer) string {
	value, _ := reflect.NewAt(t, p).Interface().(encoding.TextMarshaler)
	var text []byte
	if err := callUser(func() (err error) { text, err = value.MarshalText(); return err }); err != nil {
		return ""
	}
	return string(text)
}

// order returns the order by a field, and then by what identifies the elements.
func (e *elements) order(by *collection.Field, descending bool) collection.Order {
	var o collection.Order
	if by != nil {
		o = append(o, collection.Key{Field: by, Descending: descending})
	}
	for _, id := range e.ids {
		if id != by {
			o = append(o, collection.Key{Field: id, Descending: descending})
		}
	}
	return o
}

// named returns the index of the field with a name.
func (e *elements) named(name string) int {
	return slices.IndexFunc(e.params, func(p gen.Param) bool { return p.Name == name })
}
