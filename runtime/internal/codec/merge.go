package codec

import (
	"encoding/json"
	"maps"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// set gives the field at p its default.
func (f *fallback) set(p unsafe.Pointer) {
	if f.fixed.IsValid() {
		reflect.NewAt(f.goType, p).Elem().Set(f.fixed)
		return
	}
	f.value.clear(p)
	f.value.read(wire.NewReader(f.text, wire.Limits{}), p, false)
}

// removal is what null does to a field in an update.
type removal uint8

const (
	refused   removal = iota // null is no value it may have
	zeroed                   // nil, or a zero value that its constraints allow
	defaulted                // its default
	marked                   // the type itself tells null from absence
	emptied                  // zero, if no field of the struct is required: of a recursive type that is known later
)

// removalOf tells what null does to a field: it becomes nil, or its default, or zero, and is refused where none of these
// is a value the field may have (requirements REQ-UP-09).
func removalOf(f *field, t reflect.Type, p *gen.Param) removal {
	switch {
	case p.Required:
		return refused
	case f.value.kind == kindOptional:
		return marked
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Map, t.Kind() == reflect.Slice, t.Kind() == reflect.Interface:
		return zeroed
	case f.fallback != nil:
		return defaulted
	case p.OmitZero, p.OmitEmpty && f.value.kind != kindStruct && f.value.kind != kindArray:
		return zeroed // which is how absence is written
	case f.value.kind == kindStruct:
		return emptied
	case f.value.admitsZero():
		return zeroed
	default:
		return refused
	}
}

// remove does what null does to the field of the struct at base. It returns false, having done nothing, where null is no
// value the field may have.
func (f *field) remove(base unsafe.Pointer) bool {
	switch f.removal {
	case refused:
		return false
	case defaulted:
		f.fallback.set(f.owned(base))
	case marked:
		place := f.owned(base)
		f.value.clear(place)
		*(*Presence)(place) = Null
	case emptied:
		if !f.value.admitsZero() {
			return false
		}
		fallthrough
	case zeroed:
		if f.location.present(base) != nil {
			f.value.clear(f.owned(base))
		}
	}
	return true
}

// merge merges the object ahead into the struct at base: what is absent stays as it is, null removes (RFC 7396, MCP-AQL core
// §4.5.1). What base points to is not changed: others may hold it too. An identifier says which resource is meant, so inside
// a patch it is unknown (requirements REQ-UP-06). What is done goes on record.
func (o *object) merge(r *wire.Reader, base unsafe.Pointer, record *changes) {
	if !r.Object() {
		return
	}
	var seen bits
	next := 0
	for {
		i, more := o.nextField(r, &next)
		if !more {
			break
		}
		if i < 0 || o.fields[i].id {
			r.Unknown(o.updatable)
			continue
		}
		f := &o.fields[i]
		switch {
		case seen.add(i):
			r.Duplicate(f.name)
		case f.readOnly:
			r.ReadOnly()
		case f.append:
			r.AppendOnly()
		case r.Null():
			if !f.remove(base) {
				r.NullRefused(f.value.expected)
			}
			record.add(change{do: removes, field: f})
		default:
			f.merge(r, base, record)
		}
	}
}

// merge merges the value ahead, which is not null, into the field of the struct at base.
func (f *field) merge(r *wire.Reader, base unsafe.Pointer, record *changes) {
	n, p := f.value, f.owned(base)
	pointed := n.kind == kindPointer && n.elem.kind == kindStruct
	switch {
	case n.kind == kindStruct:
		record.add(change{do: enters, field: f})
		n.object.merge(r, p, record)
		record.add(change{do: leaves})
	case pointed:
		record.add(change{do: points, field: f})
		pointer := (*unsafe.Pointer)(p)
		*pointer = copied(n.elem.goType, *pointer)
		n.elem.object.merge(r, *pointer, record)
		record.add(change{do: leaves})
	case n.kind == kindStringMap:
		from, to := n.mergeStringMap(r, (*map[string]string)(p), record)
		record.add(change{do: putsEntries, field: f, value: p, from: from, to: to})
	case n.merges():
		r.Kind()
		start := r.Offset()
		n.merge(r, p)
		record.addText(f, start, r.Offset())
	default:
		n.read(r, p, false)
		record.add(change{do: sets, field: f, value: p})
	}
}

// merges reports whether a value of the type changes with what a patch brings, rather than being replaced by it.
func (n *reading) merges() bool {
	switch n.kind {
	case kindStruct, kindMap, kindStringMap, kindAny, kindRaw, kindJSON, kindOptional:
		return true
	case kindPointer:
		return n.elem.merges()
	default:
		return false
	}
}

// merge merges the value ahead, which is not null, into p. Objects merge at every depth, everything else replaces.
func (n *reading) merge(r *wire.Reader, p unsafe.Pointer) {
	switch n.kind {
	case kindStruct:
		n.object.merge(r, p, nil)
	case kindPointer:
		if !n.merges() {
			n.read(r, p, false)
			return
		}
		pointer := (*unsafe.Pointer)(p)
		*pointer = copied(n.elem.goType, *pointer)
		n.elem.merge(r, *pointer)
	case kindStringMap:
		n.mergeStringMap(r, (*map[string]string)(p), nil)
	case kindMap:
		n.mergeMap(r, p)
	case kindAny:
		*(*any)(p) = r.MergeAny(*(*any)(p))
	case kindRaw:
		if text := mergedText(r, string(*(*json.RawMessage)(p))); r.Fault() == nil {
			*(*json.RawMessage)(p) = json.RawMessage(text)
		}
	case kindJSON:
		n.mergeJSON(r, p)
	case kindOptional:
		*(*Presence)(p) = Present
		n.elem.merge(r, unsafe.Add(p, n.offset))
	default:
		n.read(r, p, false)
	}
}

// mergeStringMap merges the object ahead into a map. It puts the names that are removed on record, and returns which ones
// these are.
func (n *reading) mergeStringMap(r *wire.Reader, p *map[string]string, record *changes) (from, to int32) {
	var removed []string
	if record != nil {
		if record.names == nil {
			record.names = record.few[:0]
		}
		removed = record.names
		from, to = int32(len(removed)), int32(len(removed))
	}
	if !r.Object() {
		return from, to
	}
	entries := maps.Clone(*p)
	if entries == nil {
		entries = make(map[string]string)
	}
	for r.Next() {
		name := r.Name()
		if r.Null() {
			delete(entries, name)
			if record != nil {
				removed = append(removed, r.Retain(name))
			}
		} else if s, ok := r.String(); ok {
			entries[r.Retain(name)] = s
		}
	}
	// How few entries there may be shows only in the merged map, which a patch alone does not tell.
	if n.checks == nil || n.checks.maxItems == 0 || r.MaxItems(len(entries), n.checks.maxItems) {
		*p = entries
	}
	if record != nil {
		record.names, to = removed, int32(len(removed))
	}
	return from, to
}

func (n *reading) mergeMap(r *wire.Reader, p unsafe.Pointer) {
	if !r.Object() {
		return
	}
	old := reflect.NewAt(n.goType, p).Elem()
	entries := reflect.MakeMapWithSize(n.goType, old.Len())
	for iterator := old.MapRange(); iterator.Next(); {
		entries.SetMapIndex(iterator.Key(), iterator.Value())
	}
	key, elem := reflect.New(n.goType.Key()).Elem(), reflect.New(n.goType.Elem()).Elem()
	for r.Next() {
		known := n.readKey(r, key)
		if r.Null() {
			if known {
				entries.SetMapIndex(key, reflect.Value{})
			}
			continue
		}
		elem.SetZero()
		if known {
			if entry := entries.MapIndex(key); entry.IsValid() {
				elem.Set(entry)
			}
		}
		n.elem.merge(r, elem.Addr().UnsafePointer())
		if known {
			entries.SetMapIndex(key, elem)
		}
	}
	// How few entries there may be shows only in the merged map, which a patch alone does not tell.
	if n.checks == nil || n.checks.maxItems == 0 || r.MaxItems(entries.Len(), n.checks.maxItems) {
		old.Set(entries)
	}
}
