package codec

import (
	"encoding/json"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/wire"
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
func removalOf(f *field, t reflect.Type, p *model.Param) removal {
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

// remove does what null does to the field of the struct at base.
func (f *field) remove(r *wire.Reader, base unsafe.Pointer) {
	switch f.removal {
	case refused:
		r.NullRefused(f.value.expected)
	case defaulted:
		f.fallback.set(f.owned(base))
	case marked:
		place := f.owned(base)
		f.value.clear(place)
		*(*Presence)(place) = Null
	case emptied:
		if !f.value.admitsZero() {
			r.NullRefused(f.value.expected)
			return
		}
		fallthrough
	case zeroed:
		if f.location.present(base) != nil {
			f.value.clear(f.owned(base))
		}
	}
}

// merge merges the object ahead into the struct at base: what is absent stays as it is, null removes (RFC 7396, MCP-AQL core
// §4.5.1). What base points to is not changed: others may hold it too. An identifier says which resource is meant, so inside
// a patch it is unknown (requirements REQ-UP-06).
func (o *object) merge(r *wire.Reader, base unsafe.Pointer) {
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
			r.Repeated(f.name)
		case f.readOnly:
			r.ReadOnly()
		case f.append:
			r.AppendOnly()
		case r.Null():
			f.remove(r, base)
		default:
			f.value.merge(r, f.owned(base))
		}
	}
}

// merge merges the value ahead, which is not null, into p. Objects merge at every depth, everything else replaces.
func (n *reading) merge(r *wire.Reader, p unsafe.Pointer) {
	switch n.kind {
	case kindStruct:
		n.object.merge(r, p)
	case kindPointer:
		n.mergePointer(r, p)
	case kindMap, kindStringMap:
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

func (n *reading) mergePointer(r *wire.Reader, p unsafe.Pointer) {
	pointer := (*unsafe.Pointer)(p)
	switch n.elem.kind {
	case kindStruct, kindMap, kindStringMap, kindAny, kindRaw, kindJSON, kindPointer:
		*pointer = copied(n.goType.Elem(), *pointer)
		n.elem.merge(r, *pointer)
	default:
		n.read(r, p, false)
	}
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
