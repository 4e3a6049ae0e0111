package codec

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// location is the place of a field in a struct.
type location struct {
	offset uintptr
	steps  []step // through embedded pointers; offset is in the last struct
}

// step is a pointer to an embedded struct.
type step struct {
	offset uintptr
	elem   reflect.Type // the struct
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

// direct finds a field that struct type t declares itself, rather than an embedded one.
func direct(t reflect.Type, name string) (reflect.StructField, bool) {
	f, ok := t.FieldByName(name)
	return f, ok && len(f.Index) == 1
}

// allocate returns the address of the field in the struct at base. It allocates embedded structs that are absent.
func (l *location) allocate(base unsafe.Pointer) unsafe.Pointer {
	if len(l.steps) > 0 {
		base = l.allocateSteps(base)
	}
	return unsafe.Add(base, l.offset)
}

// allocateSteps returns the address of the embedded struct that has the field.
func (l *location) allocateSteps(base unsafe.Pointer) unsafe.Pointer {
	for i := range l.steps {
		s := &l.steps[i]
		pointer := (*unsafe.Pointer)(unsafe.Add(base, s.offset))
		if *pointer == nil {
			*pointer = reflect.New(s.elem).UnsafePointer()
		}
		base = *pointer
	}
	return base
}

// unshare is allocate for a merge: it copies the embedded structs on the way, since others may hold the same pointers.
func (l *location) unshare(base unsafe.Pointer) unsafe.Pointer {
	for i := range l.steps {
		s := &l.steps[i]
		pointer := (*unsafe.Pointer)(unsafe.Add(base, s.offset))
		*pointer = copied(s.elem, *pointer)
		base = *pointer
	}
	return unsafe.Add(base, l.offset)
}

// address returns the address of the field in the struct at base, and nil where an embedded struct is absent.
func (l *location) address(base unsafe.Pointer) unsafe.Pointer {
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
