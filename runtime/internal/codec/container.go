package codec

import (
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// slice is how Go lays out a slice, whatever its elements.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// firstCapacity is the room of a list that is begun.
const firstCapacity = 4

func (n *reading) readStrings(r *wire.Reader, p *[]string) {
	list, ok := r.Strings()
	if ok && (n.checks == nil || n.checks.items(r, len(list))) {
		*p = list
	}
}

func (n *reading) readSlice(r *wire.Reader, p unsafe.Pointer, update bool) {
	if !r.Array() {
		return
	}
	list := reflect.NewAt(n.goType, p).Elem()
	list.Set(reflect.MakeSlice(n.goType, 0, 0))
	count, start := 0, r.Offset()
	header := (*slice)(p)
	for r.NextElement() {
		if count == header.cap {
			list.Grow(n.room(count, r.Offset()-start, r.Remaining()))
		}
		count++
		header.len = count
		n.readElement(r, unsafe.Add(header.data, uintptr(count-1)*n.elem.size), update)
	}
	if n.checks != nil {
		n.checks.items(r, count)
	}
}

// room is for how many more elements a list is made that has count, which took so many bytes, with so many bytes remaining: as
// many as will come if the rest is like them, but no more than twice the memory of what remains, since it need not be.
func (n *reading) room(count, took, remaining int) int {
	if count < firstCapacity || n.elem.size == 0 {
		return max(firstCapacity, count)
	}
	likely := remaining/max(took/count, 1) + 1
	return max(count, min(likely, 2*remaining/int(n.elem.size)))
}

// readElement reads an element of a container. null is nil where the type has one, and otherwise of the wrong type, which
// the reader reports by itself.
func (n *reading) readElement(r *wire.Reader, p unsafe.Pointer, update bool) {
	if n.elem.nilable() && r.Null() {
		return
	}
	n.elem.read(r, p, update)
}

// nilable reports whether a null in a container is a value of the type.
func (n *reading) nilable() bool { return n.kind == kindPointer }

func (n *reading) readArray(r *wire.Reader, p unsafe.Pointer, update bool) {
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

func (n *reading) readStringMap(r *wire.Reader, p *map[string]string) {
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
	if n.checks == nil || n.checks.items(r, len(entries)) {
		*p = entries
	}
}

func (n *reading) readMap(r *wire.Reader, p unsafe.Pointer, update bool) {
	if !r.Object() {
		return
	}
	entries := reflect.MakeMap(n.goType)
	key, elem := reflect.New(n.goType.Key()).Elem(), reflect.New(n.goType.Elem()).Elem()
	for r.Next() {
		known := n.readKey(r, key)
		elem.SetZero()
		n.readElement(r, elem.Addr().UnsafePointer(), update)
		if known {
			entries.SetMapIndex(key, elem)
		}
	}
	if n.checks == nil || n.checks.items(r, entries.Len()) {
		reflect.NewAt(n.goType, p).Elem().Set(entries)
	}
}

// readKey makes the key that the current name stands for; not ok: it stands for none, which is a problem.
func (n *reading) readKey(r *wire.Reader, key reflect.Value) bool {
	if n.key == nil {
		key.SetString(r.Retain(r.Name()))
		return true
	}
	key.SetZero()
	if err := guarded(func() error { return n.key(r.Name(), key) }); err != nil {
		r.NameMismatch(keyExpected(n.goType.Key()))
		return false
	}
	return true
}
