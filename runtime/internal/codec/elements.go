package codec

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// elements is how the elements of a collection are compared.
type elements struct {
	name   string
	fields map[string]*elementField // by name or path
	params []gen.Param
	goType reflect.Type
	ids    []*collection.Field
	// computes says that some of fields are computed.
	computes bool
}

// elementField is a field of the elements, or of a struct in them.
type elementField struct {
	*collection.Field
	goType reflect.Type // of its values; of a list: of the elements
	path   []member
	param  *gen.Param // of a computed field
}

// member is a field of a wire type.
type member struct{ of, field string }

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
	e := &elements{name: name, fields: make(map[string]*elementField), params: params, goType: t}
	for _, i := range gen.Identifiers(params) {
		id, err := s.compared(e, params[i].Name)
		if err != nil {
			return nil, err
		}
		e.ids = append(e.ids, id.Field)
	}
	if len(e.ids) == 0 {
		return nil, fmt.Errorf("nothing identifies elements of %s; the generated code is out of date", name)
	}
	s.collections[key] = e
	return e, nil
}

// compared compiles how a field is compared, or one of a struct in it: name is its name, or its path.
func (s *Set) compared(e *elements, name string) (*elementField, error) {
	if known := e.fields[name]; known != nil {
		return known, nil
	}
	if strings.HasPrefix(name, gen.ComputedPrefix) {
		return s.comparedComputed(e, name)
	}
	f := &elementField{Field: &collection.Field{Name: name}}
	of, t, params := e.name, e.goType, e.params
	for rest, deeper := name, true; deeper; {
		var first string
		first, rest, deeper = strings.Cut(rest, ".")
		i := slices.IndexFunc(params, func(p gen.Param) bool { return p.Name == first })
		if i < 0 {
			return nil, fmt.Errorf("elements of %s have no field %s; the generated code is out of date", e.name, name)
		}
		p := &params[i]
		at, goField, err := s.locate(t, p.Go)
		if err != nil {
			return nil, err
		}
		f.path = append(f.path, member{of, first})
		stepsThrough(f.Field, at)
		if t = stepsTo(f.Field, goField.Type, p); !deeper {
			return f, s.compareField(e, f, t, p)
		}
		if of = p.Type; t.Kind() != reflect.Struct {
			return nil, fmt.Errorf("%s: %s is no struct; the generated code is out of date", name, first)
		}
		if params, err = s.fieldsOf(t, of); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// compareField completes a field of type t.
func (s *Set) compareField(e *elements, f *elementField, t reflect.Type, p *gen.Param) error {
	if t.Kind() == reflect.Slice && !hasMethods(t) {
		f.List, t = true, t.Elem()
		f.Size, p = t.Size(), p.Items
	}
	if !kindOfElement(f.Field, t) || p == nil {
		return fmt.Errorf("%s: values of type %s cannot be compared; the generated code is out of date", f.Name, t)
	}
	if f.Kind == collection.String && len(p.Enum) > 0 {
		f.Ranks = p.Enum
	}
	f.goType = t
	e.fields[f.Name] = f
	return nil
}

// stepsThrough adds the way to a place in the struct to which the steps of a field lead.
func stepsThrough(f *collection.Field, at location) {
	advance := func(offset uintptr) {
		if n := len(f.Steps); n > 0 {
			f.Steps[n-1].Offset += offset
		} else {
			f.Offset += offset
		}
	}
	for i := range at.steps {
		advance(at.steps[i].offset)
		f.Steps = append(f.Steps, collection.Step{Kind: collection.Pointer})
	}
	advance(at.offset)
}

// hidden reports whether a field, or one that leads to it, is hidden.
func (f *elementField) hidden(mask *Mask) bool {
	return slices.ContainsFunc(f.path, func(m member) bool { return mask.Hides(m.of, m.field) })
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
