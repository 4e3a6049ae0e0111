package codec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// structDecoder reads and merges structs of one type.
type structDecoder struct {
	fields            []decodedField
	names             []string // of all fields
	updatable         []string // names of the fields that updates may change
	index             nameIndex
	requiredOrDefault []int // fields that are required or have a default
	embedsPointers    bool  // one of these is in an embedded struct that may be absent
	update            bool  // these are the parameters of an UPDATE operation
}

// decodedField is a field of a struct that is read.
type decodedField struct {
	name         string
	key          string // the name with a comma, quotes and a colon; empty: JSON may spell it otherwise
	location     location
	value        *decoder
	required     bool
	readOnly     bool
	append       bool
	id           bool
	input        bool // the changes of an update
	nullable     bool // null is a value of the field, not its absence
	omitZero     bool // a struct that results leave out if it is zero
	nullIsAbsent bool // null is absence in the struct input of an update too, where it is refused otherwise
	defaultValue *defaultValue
	excludes     []int // fields that the object must not have beside this one
	null         nullMeaning
}

// structDecoder compiles the decoder of struct type t, which is the wire type called name.
func (s *Set) structDecoder(t reflect.Type, name string) (*structDecoder, error) {
	key := structKey{t, name}
	if known := s.structDecoders[key]; known != nil {
		return known, nil
	}
	params, err := s.fieldsOf(t, name)
	if err != nil {
		return nil, err
	}
	o := &structDecoder{}
	s.structDecoders[key] = o
	if err := s.fillStruct(o, t, params); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// fillStruct compiles the decoders of the fields of struct type t.
func (s *Set) fillStruct(o *structDecoder, t reflect.Type, params []gen.Param) error {
	o.fields = make([]decodedField, len(params))
	o.names = slices.Grow(o.names, len(params))
	for i := range params {
		if err := s.fillDecodedField(&o.fields[i], t, &params[i]); err != nil {
			return fmt.Errorf("%s: %w", params[i].Name, err)
		}
		f := &o.fields[i]
		o.names = append(o.names, f.name)
		o.index.add(f.name, i)
		for _, alias := range params[i].Aliases {
			o.index.add(alias, i)
		}
		if f.required || f.defaultValue != nil {
			o.requiredOrDefault = append(o.requiredOrDefault, i)
			o.embedsPointers = o.embedsPointers || len(f.location.steps) > 0
		}
	}
	o.updatable = updatable(params, o.names)
	o.exclude(params)
	return nil
}

// updatable returns the names of the fields that updates may change. names are those of all.
func updatable(params []gen.Param, names []string) []string {
	if !slices.ContainsFunc(params, func(p gen.Param) bool { return !p.Updatable() }) {
		return names
	}
	var some []string
	for i := range params {
		if params[i].Updatable() {
			some = append(some, names[i])
		}
	}
	return some
}

func (s *Set) fillDecodedField(f *decodedField, t reflect.Type, p *gen.Param) error {
	at, goField, err := s.locate(t, p.Go)
	if err != nil {
		return err
	}
	f.name, f.location = p.Name, at
	if plainName(p.Name) {
		f.key = fieldKey(p.Name)
	}
	f.required, f.readOnly, f.append, f.id = p.Required, p.ReadOnly, p.AppendOnly, p.ID
	f.input = p.Name == inputName
	if p.Constant != "" {
		f.value, f.location = constantDecoder(p), location{}
		return nil
	}
	if f.value, err = s.decoder(goField.Type, p); err != nil {
		return err
	}
	f.nullable = f.value.kind == kindOptional && !f.required
	f.omitZero = p.OmitZero && f.value.kind == kindStruct
	f.nullIsAbsent = p.Nullable && !f.required
	if p.Default != "" && !p.Required {
		if f.defaultValue, err = newDefault(f.value, goField.Type, p.Default); err != nil {
			return err
		}
	}
	f.null = nullMeaningOf(f, p)
	return nil
}

// plainName reports whether JSON spells a name without escapes.
func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' })
}

// likelyKey returns the key of the field with index next, if there is one: requests tend to name fields in
// their order.
func (o *structDecoder) likelyKey(next int) string {
	if next < len(o.fields) {
		return o.fields[next].key
	}
	return ""
}

// nextField moves r to the next member of the object and returns the index of its field, which is negative where
// there is no such field. next is the index of the field that is likely to come next; nextField updates it.
func (o *structDecoder) nextField(r *wire.Reader, next *int) (i int, more bool) {
	asExpected, more := r.NextExpected(o.likelyKey(*next))
	if !more {
		return 0, false
	}
	if i = *next; !asExpected {
		if i = o.index.find(r.Name()); i < 0 {
			return i, true
		}
	}
	*next = i + 1
	return i, true
}

// read reads the next value, an object, into the struct at base. update is as for the read method of decoder.
func (o *structDecoder) read(r *wire.Reader, base unsafe.Pointer, update bool) {
	if !r.Object() {
		r.Choices(wire.StageType, o.names)
		return
	}
	var seen, null bits
	next := 0
	for {
		i, more := o.nextField(r, &next)
		if !more {
			break
		}
		if i < 0 {
			r.Unknown(o.names)
			continue
		}
		f := &o.fields[i]
		switch {
		case seen.add(i):
			r.Duplicate(f.name)
			continue
		case update && f.readOnly:
			r.ReadOnly()
			continue
		case update && f.append:
			r.AppendOnly()
			continue
		}
		if r.AtNull() && !f.nullable && r.Null() {
			if null.add(i); update && !f.nullIsAbsent {
				r.NullRefused(f.value.expected)
			}
			continue
		}
		if f.excludes != nil && o.conflict(r, f, &seen, &null) {
			continue
		}
		f.value.read(r, f.location.allocate(base), update)
	}
	o.complete(r, base, &seen, &null)
}

// complete reports the required fields that were not seen or were null, and sets the others that are absent to their
// defaults.
func (o *structDecoder) complete(r *wire.Reader, base unsafe.Pointer, seen, null *bits) {
	for _, i := range o.requiredOrDefault {
		if seen.has(i) && !null.has(i) {
			continue
		}
		f := &o.fields[i]
		if f.required {
			f.missing(r)
			continue
		}
		if o.excluded(f, seen, null) >= 0 {
			continue
		}
		f.defaultValue.set(f.location.allocate(base))
	}
}

// missing reports that the object which was just read lacks the field, and which values that may have.
func (f *decodedField) missing(r *wire.Reader) {
	r.Missing(f.name, f.value.expected)
	value := f.value
	for value.kind == kindPointer {
		value = value.elem
	}
	if value.constraints != nil && value.constraints.enum != nil {
		r.Choices(wire.StageMissing, value.constraints.enum)
	}
}
