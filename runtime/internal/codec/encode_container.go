package codec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

func (s *Set) containerEncoder(n *encoder, t reflect.Type, p *gen.Param) error {
	items := p.Items
	if items == nil {
		items = &gen.Param{Type: "any"}
	}
	wanted := "array"
	switch {
	case isBytes(t):
		n.kind = kindBytes
		return s.fits(t, p, "string")
	case t.Kind() == reflect.Map:
		wanted = "object"
	}
	if err := s.fits(t, p, wanted); err != nil {
		return err
	}
	switch {
	case t == stringsType:
		n.kind = kindStrings
	case t == textMapType:
		n.kind = kindStringMap
		return s.fits(t.Elem(), items, "string")
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
	return s.elemEncoder(n, items)
}

// writeElements writes the elements of a slice or an array, or of each the part that is in subset.
func (n *encoder) writeElements(w *wire.Writer, data unsafe.Pointer, count int, subset *Subset) {
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

// entry is an entry of a map that is to be sorted.
type entry struct {
	name  string
	value reflect.Value
}

// writeMap writes a map in the order of its names.
func (n *encoder) writeMap(w *wire.Writer, p unsafe.Pointer) {
	entries := reflect.NewAt(n.goType, p).Elem()
	if w.TooDeep() {
		w.Null()
		return
	}
	value := reflect.New(n.goType.Elem())
	w.BeginObject()
	for _, e := range n.sortedEntries(w, entries) {
		if w.KeyEscaped(e.name); w.Err() != nil {
			break
		}
		value.Elem().Set(e.value)
		n.elem.write(w, value.UnsafePointer())
	}
	w.EndObject()
}

// sortedEntries returns the entries of a map in the order of their names.
func (n *encoder) sortedEntries(w *wire.Writer, entries reflect.Value) []entry {
	sorted := make([]entry, 0, entries.Len())
	for iterator := entries.MapRange(); iterator.Next(); {
		name := ""
		if n.key == nil {
			name = iterator.Key().String()
		} else if err := callUser(func() (err error) { name, err = n.key(iterator.Key()); return err }); err != nil {
			w.Fail(fmt.Errorf("writing a key of %s: %w", n.goType, err))
		}
		sorted = append(sorted, entry{name, iterator.Value()})
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for i := 1; n.key != nil && i < len(sorted); i++ {
		if name := sorted[i].name; name == sorted[i-1].name {
			w.Fail(fmt.Errorf("two keys of %s are written as %q", n.goType, name))
		}
	}
	return sorted
}
