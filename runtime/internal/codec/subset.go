package codec

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Subset is a part of a value. nil means all of it.
type Subset struct {
	whole   bool
	fields  []fieldSubset
	entries []entrySubset
	every   *Subset // the part of every entry of a map; nil: entries counts
	trailer trailer // writes what stands behind the fields of a struct; nil: nothing does
}

// fieldSubset is a part of a field of a struct.
type fieldSubset struct {
	index  int
	subset *Subset
}

// entrySubset is a part of an entry of a map.
type entrySubset struct {
	name   string
	subset *Subset
}

// field returns the part of a field with an index. It adds an empty part if there is none.
func (s *Subset) field(index int) *Subset {
	at, found := s.findField(index)
	if !found {
		s.fields = slices.Insert(s.fields, at, fieldSubset{index, &Subset{}})
	}
	return s.fields[at].subset
}

// entry returns the part of an entry with a name. It adds an empty part if there is none.
func (s *Subset) entry(name string) *Subset {
	at, found := s.findEntry(name)
	if !found {
		s.entries = slices.Insert(s.entries, at, entrySubset{name, &Subset{}})
	}
	return s.entries[at].subset
}

// findEntry returns where the part of an entry is in s.entries, or would be.
func (s *Subset) findEntry(name string) (at int, found bool) {
	return slices.BinarySearchFunc(s.entries, name, func(e entrySubset, name string) int {
		return strings.Compare(e.name, name)
	})
}

// writeSelected writes the part of the value at p that is in subset.
func (n *encoder) writeSelected(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	if subset == nil || subset.whole {
		n.write(w, p)
		return
	}
	switch n.kind {
	case kindPointer:
		if p = *(*unsafe.Pointer)(p); p == nil || w.TooDeep() {
			w.Null()
			return
		}
		n.elem.writeSelected(w, p, subset)
	case kindSlice:
		list := (*sliceHeader)(p)
		n.writeElements(w, list.data, list.len, subset)
	case kindArray:
		n.writeElements(w, p, n.length, subset)
	case kindOptional:
		if *(*Presence)(p) != Present {
			w.Null()
			return
		}
		n.elem.writeSelected(w, unsafe.Add(p, n.offset), subset)
	case kindSQLNull:
		n.writeSQLNull(w, p, subset)
	case kindMessage:
		n.writeMessage(w, p, subset)
	case kindStruct:
		n.object.writeSelected(w, p, subset)
	case kindMap:
		n.writeEntries(w, p, subset)
	case kindStringMap:
		writeStrings(w, *(*map[string]string)(p), subset)
	default:
		n.write(w, p)
	}
}

func (c *structEncoder) writeSelected(w *wire.Writer, base unsafe.Pointer, subset *Subset) {
	w.BeginObject()
	first := true
	for _, part := range subset.fields {
		f := &c.fields[part.index]
		p := f.address(base)
		if p == nil {
			continue
		}
		w.Field(f.key, first)
		first = false
		f.value.writeSelected(w, p, part.subset)
	}
	if subset.trailer != nil {
		subset.trailer.writeNext(w, first)
	}
	w.EndObject()
}

// writeEntries writes the entries of a map that are in subset.
func (n *encoder) writeEntries(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	entries := reflect.NewAt(n.goType, p).Elem()
	if w.TooDeep() {
		w.Null()
		return
	}
	value := reflect.New(n.goType.Elem())
	write := func(entry reflect.Value, part *entrySubset) {
		w.KeyEscaped(part.name)
		value.Elem().Set(entry)
		n.elem.writeSelected(w, value.UnsafePointer(), part.subset)
	}
	w.BeginObject()
	if subset.every != nil {
		for _, e := range n.sortedEntries(w, entries) {
			write(e.value, &entrySubset{e.name, subset.every})
		}
	} else if n.key != nil { // names are found by spelling every key
		for _, e := range n.sortedEntries(w, entries) {
			if at, found := subset.findEntry(e.name); found {
				write(e.value, &subset.entries[at])
			}
		}
	} else {
		for i := range subset.entries {
			part := &subset.entries[i]
			if entry := entries.MapIndex(reflect.ValueOf(part.name).Convert(n.goType.Key())); entry.IsValid() {
				write(entry, part)
			}
		}
	}
	w.EndObject()
}

// writeStrings writes the entries of a map of strings that are in subset.
func writeStrings(w *wire.Writer, entries map[string]string, subset *Subset) {
	w.BeginObject()
	for _, part := range subset.entries {
		if s, ok := entries[part.name]; ok {
			w.KeyEscaped(part.name)
			w.String(s)
		}
	}
	w.EndObject()
}
