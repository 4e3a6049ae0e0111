package codec

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// object is a struct that is read or merged.
type object struct {
	fields    []field
	names     []string // of all fields, for agents that misspell one
	updatable []string // of the fields that updates may change
	index     nameIndex
	demands   []int // fields that are required or have a default
	update    bool  // the parameters of an UPDATE operation
}

// field is a field of a struct that travels.
type field struct {
	name     string
	quoted   string // the name in quotes, with its colon
	location location
	value    *reading
	required bool
	readOnly bool
	append   bool
	id       bool
	input    bool // of an update: what changes
	nullable bool // null is a value of the field rather than its absence
	fallback *fallback
	removal  removal
}

// location is where in a struct a field is.
type location struct {
	offset uintptr
	steps  []step // through embedded pointers, before offset
}

// step leads through a pointer to an embedded struct.
type step struct {
	offset uintptr
	elem   reflect.Type
}

// place returns the address of the field in the struct at base. Embedded structs on the way are allocated.
func (f *field) place(base unsafe.Pointer) unsafe.Pointer {
	for i := range f.location.steps {
		s := &f.location.steps[i]
		pointer := (*unsafe.Pointer)(unsafe.Add(base, s.offset))
		if *pointer == nil {
			*pointer = reflect.New(s.elem).UnsafePointer()
		}
		base = *pointer
	}
	return unsafe.Add(base, f.location.offset)
}

// owned is place for a merge: embedded structs on the way are copied, as others may hold the pointers too.
func (f *field) owned(base unsafe.Pointer) unsafe.Pointer {
	for i := range f.location.steps {
		s := &f.location.steps[i]
		pointer := (*unsafe.Pointer)(unsafe.Add(base, s.offset))
		*pointer = copied(s.elem, *pointer)
		base = *pointer
	}
	return unsafe.Add(base, f.location.offset)
}

// present is place without allocating: nil where an embedded struct is absent.
func (l *location) present(base unsafe.Pointer) unsafe.Pointer {
	for i := range l.steps {
		if base = *(*unsafe.Pointer)(unsafe.Add(base, l.steps[i].offset)); base == nil {
			return nil
		}
	}
	return unsafe.Add(base, l.offset)
}

// copied returns a pointer to a copy of the value of type t at p, or to a zero one if p is nil.
func copied(t reflect.Type, p unsafe.Pointer) unsafe.Pointer {
	out := reflect.New(t)
	if p != nil {
		out.Elem().Set(reflect.NewAt(t, p).Elem())
	}
	return out.UnsafePointer()
}

// locate finds the field that a Go path such as "Page.Limit" leads to; the empty path is the struct itself.
func locate(t reflect.Type, path string) (location, reflect.StructField, error) {
	var l location
	var f reflect.StructField
	if path == "" {
		return l, reflect.StructField{Type: t}, nil
	}
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Pointer {
			l.steps = append(l.steps, step{l.offset, t.Elem()})
			l.offset, t = 0, t.Elem()
		}
		var ok bool
		if t.Kind() == reflect.Struct {
			f, ok = direct(t, name)
		}
		if !ok {
			return l, f, fmt.Errorf("%s has no field %s; the generated code is out of date", t, name)
		}
		l.offset += f.Offset
		t = f.Type
	}
	return l, f, nil
}

// direct finds a field that t declares itself.
func direct(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Name == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// fillObject compiles the fields of struct type t.
func (s *Set) fillObject(o *object, t reflect.Type, params []gen.Param) error {
	o.fields = make([]field, len(params))
	for i := range params {
		if err := s.fillField(&o.fields[i], t, &params[i]); err != nil {
			return fmt.Errorf("%s: %w", params[i].Name, err)
		}
		f := &o.fields[i]
		o.names = append(o.names, f.name)
		if params[i].Updatable() {
			o.updatable = append(o.updatable, f.name)
		}
		o.index.add(f.name, i)
		for _, alias := range params[i].Aliases {
			o.index.add(alias, i)
		}
		if f.required || f.fallback != nil {
			o.demands = append(o.demands, i)
		}
	}
	return nil
}

func (s *Set) fillField(f *field, t reflect.Type, p *gen.Param) error {
	at, goField, err := locate(t, p.Go)
	if err != nil {
		return err
	}
	f.name, f.location = p.Name, at
	if plainName(p.Name) {
		f.quoted = `"` + p.Name + `":`
	}
	f.required, f.readOnly, f.append, f.id, f.input = p.Required, p.ReadOnly, p.AppendOnly, p.ID, p.Name == inputName
	if p.Quoted {
		f.value, err = s.quotedReading(goField.Type, p)
	} else {
		f.value, err = s.reading(goField.Type, p)
	}
	if err != nil {
		return err
	}
	f.nullable = f.value.kind == kindOptional && !f.required
	if p.Default != "" && !p.Required {
		if f.fallback, err = newFallback(f.value, goField.Type, p.Default); err != nil {
			return err
		}
	}
	f.removal = removalOf(f, goField.Type, p)
	return nil
}

// plainName reports whether a name is spelled the same in JSON.
func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' })
}

// object compiles struct type t as the wire type called name.
func (s *Set) object(t reflect.Type, name string) (*object, error) {
	key := objectKey{t, name}
	if known := s.objects[key]; known != nil {
		return known, nil
	}
	params, err := s.fieldsOf(t, name)
	if err != nil {
		return nil, err
	}
	o := &object{}
	s.objects[key] = o
	if err := s.fillObject(o, t, params); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// fieldsOf finds the definitions of the fields of struct type t.
func (s *Set) fieldsOf(t reflect.Type, name string) ([]gen.Param, error) {
	wireType := s.types[name]
	if wireType == nil || wireType.Kind != gen.KindObject {
		return nil, fmt.Errorf("the definitions have no object type %q for %s; the generated code is out of date", name, t)
	}
	return wireType.Fields, nil
}

// guess is the name that is looked for first, at next: requests tend to name fields in their order.
func (o *object) guess(next int) string {
	if next < len(o.fields) {
		return o.fields[next].quoted
	}
	return ""
}

// nextField moves r to the next member of the object. next is the index of the likely field, which becomes the one behind
// the field that was found. i is negative where there is no such field.
func (o *object) nextField(r *wire.Reader, next *int) (i int, more bool) {
	right, more := r.NextExpected(o.guess(*next))
	if !more {
		return 0, false
	}
	if i = *next; !right {
		if i = o.index.find(r.Name()); i < 0 {
			return i, true
		}
	}
	*next = i + 1
	return i, true
}

// read reads the object ahead into the struct at base.
func (o *object) read(r *wire.Reader, base unsafe.Pointer, update bool) {
	if !r.Object() {
		return
	}
	var seen, present bits
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
		if !f.nullable && r.Null() {
			if update {
				r.NullRefused(f.value.expected)
			}
			continue
		}
		present.add(i)
		f.value.read(r, f.place(base), update)
	}
	o.complete(r, base, &present)
}

// complete reports what is missing and fills in defaults.
func (o *object) complete(r *wire.Reader, base unsafe.Pointer, present *bits) {
	for _, i := range o.demands {
		if present.has(i) {
			continue
		}
		f := &o.fields[i]
		if f.required {
			r.Missing(f.name, f.value.expected)
			continue
		}
		f.fallback.set(f.place(base))
	}
}

// nameIndex finds a field by name without hashing what is long: by length, first and last byte.
type nameIndex struct {
	slots []slot
	mask  uint32
	count int
}

type slot struct {
	name  string
	field int
	used  bool
}

func (x *nameIndex) add(name string, field int) {
	x.count++
	if 2*x.count > len(x.slots) {
		old := x.slots
		size := max(8, 2*len(old))
		x.slots, x.mask = make([]slot, size), uint32(size-1)
		for _, s := range old {
			if s.used {
				x.put(s)
			}
		}
	}
	if x.find(name) < 0 {
		x.put(slot{name, field, true})
	}
}

func (x *nameIndex) put(s slot) {
	at := place(s.name) & x.mask
	for x.slots[at].used {
		at = (at + 1) & x.mask
	}
	x.slots[at] = s
}

func (x *nameIndex) find(name string) int {
	if len(x.slots) == 0 {
		return -1
	}
	for at := place(name) & x.mask; x.slots[at].used; at = (at + 1) & x.mask {
		if x.slots[at].name == name {
			return x.slots[at].field
		}
	}
	return -1
}

// place is the slot that a name wants.
func place(name string) uint32 {
	n := uint32(len(name))
	if n == 0 {
		return 0
	}
	h := n ^ uint32(name[0])<<5 ^ uint32(name[n-1])<<11 ^ uint32(name[n/2])<<17
	return h * 0x9e3779b1 >> 12
}
