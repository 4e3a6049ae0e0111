package codec

import (
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

func (s *Set) containerDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	defer s.enter(t, n)()
	items := p.Items
	if items == nil {
		items = &gen.Param{Type: "any"}
	}
	n.kind, n.expected = kindSlice, "array"
	switch {
	case isBytes(t):
		n.kind, n.expected = kindBytes, "string"
		return s.fits(t, p, "string")
	case t.Kind() == reflect.Array:
		n.kind = kindArray
	case t.Kind() == reflect.Map:
		n.kind, n.expected = kindMap, "object"
		var err error
		if n.key, n.form, err = s.keyReader(t.Key(), p.Keys); err != nil {
			return err
		}
	}
	if err := s.fits(t, p, n.expected); err != nil {
		return err
	}
	elem, err := s.decoder(t.Elem(), items)
	if err != nil {
		return err
	}
	n.elem = elem
	switch {
	case t == stringsType && elem.constraints == nil:
		n.kind = kindStrings
	case t == textMapType && elem.constraints == nil:
		n.kind = kindStringMap
	}
	return nil
}

// sliceHeader is the layout of a slice in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (n *decoder) readStrings(r *wire.Reader, p *[]string) {
	list, ok := r.Strings()
	if ok && (n.constraints == nil || n.constraints.checkItems(r, len(list))) {
		*p = list
	}
}

func (n *decoder) readSlice(r *wire.Reader, p unsafe.Pointer, update bool) {
	if !r.Array() {
		return
	}
	list := reflect.NewAt(n.goType, p).Elem()
	list.Set(reflect.MakeSlice(n.goType, 0, 0))
	count, start := 0, r.Offset()
	header := (*sliceHeader)(p)
	for r.NextElement() {
		if count == header.cap {
			list.Grow(n.growth(count, r.Offset()-start, r.Remaining()))
		}
		count++
		header.len = count
		n.readElement(r, unsafe.Add(header.data, uintptr(count-1)*n.elem.size), update)
	}
	if n.constraints != nil {
		n.constraints.checkItems(r, count)
	}
}

// firstCapacity is the capacity of a new list.
const firstCapacity = 4

// growth returns by how many elements a list grows that has count elements, which took read bytes, where so many
// bytes remain. It is the number of elements to come if they are like those before. They need not be, so it takes no
// more than twice the memory of what remains, or doubles the list.
func (n *decoder) growth(count, read, remaining int) int {
	if count < firstCapacity || n.elem.size == 0 {
		return max(firstCapacity, count)
	}
	likely := remaining/max(read/count, 1) + 1
	return max(count, min(likely, 2*remaining/int(n.elem.size)))
}

// mayBeNil reports whether null is an element of a container: nil where the elements are pointers, null where they are
// sql.Null. Forms of messages are never nil.
func (n *decoder) mayBeNil() bool {
	return n.kind == kindPointer && n.goType != nestedForm || n.kind == kindSQLNull
}

// readElement reads an element of a container. null is a problem of type unless the element may be nil.
func (n *decoder) readElement(r *wire.Reader, p unsafe.Pointer, update bool) {
	if n.elem.mayBeNil() && r.Null() {
		return
	}
	n.elem.read(r, p, update)
}

func (n *decoder) readArray(r *wire.Reader, p unsafe.Pointer, update bool) {
	if !r.Array() {
		return
	}
	n.clear(p) // a merge replaces arrays as a whole
	count := 0
	for ; r.NextElement(); count++ {
		if count >= n.goType.Len() {
			r.Skip()
			continue
		}
		n.readElement(r, unsafe.Add(p, uintptr(count)*n.elem.size), update)
	}
	if r.MinItems(count, n.goType.Len()) {
		r.MaxItems(count, n.goType.Len())
	}
}

func (n *decoder) readStringMap(r *wire.Reader, p *map[string]string) {
	if !r.Object() {
		return
	}
	entries := make(map[string]string)
	for r.NextUnchecked() {
		name, before := r.Name(), len(entries)
		s, _ := r.String()
		if entries[r.Retain(name)] = s; len(entries) == before {
			r.Duplicate(name)
		}
	}
	if n.constraints == nil || n.constraints.checkItems(r, len(entries)) {
		*p = entries
	}
}

func (n *decoder) readMap(r *wire.Reader, p unsafe.Pointer, update bool) {
	if !r.Object() {
		return
	}
	entries := reflect.MakeMap(n.goType)
	key, elem := reflect.New(n.goType.Key()).Elem(), reflect.New(n.goType.Elem()).Elem()
	for r.Next() {
		valid := n.readKey(r, key)
		name := r.Name()
		elem.SetZero()
		n.readElement(r, elem.Addr().UnsafePointer(), update)
		if valid {
			before := entries.Len()
			if entries.SetMapIndex(key, elem); entries.Len() == before { // names may differ that mean one key
				r.Duplicate(name)
			}
		}
	}
	if n.constraints == nil || n.constraints.checkItems(r, entries.Len()) {
		reflect.NewAt(n.goType, p).Elem().Set(entries)
	}
}
