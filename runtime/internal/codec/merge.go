package codec

import (
	"encoding/json"
	"maps"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// nullMeaning is what null does to a field in an update.
type nullMeaning uint8

const (
	nullRefused   nullMeaning = iota // the field has no absent form
	nullIsZero                       // sets nil, or a zero value that results leave out
	nullIsDefault                    // sets the default
	nullIsNull                       // sets null, which the type distinguishes from absence
)

// nullMeaningOf returns what null does to a field, if it may do anything: it sets nil, or else the default, or else the
// zero value (MCP-AQL core §4.5.2).
func nullMeaningOf(f *decodedField, p *gen.Param) nullMeaning {
	switch {
	case !p.Removable():
		return nullRefused
	case f.value.kind == kindOptional:
		return nullIsNull
	case f.defaultValue != nil && !isNilable(f.value.goType) && f.value.kind != kindSQLNull:
		return nullIsDefault
	default:
		return nullIsZero
	}
}

// isNilable reports whether a type has the value nil.
func isNilable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return true
	default:
		return false
	}
}

// setNull does to the field of the struct at base what null does. Where null is refused, it does nothing and returns
// false.
func (f *decodedField) setNull(base unsafe.Pointer) bool {
	switch f.null {
	case nullRefused:
		return false
	case nullIsDefault:
		f.defaultValue.set(f.location.unshare(base))
	case nullIsNull:
		p := f.location.unshare(base)
		f.value.clear(p)
		*(*Presence)(p) = Null
	case nullIsZero:
		if f.location.address(base) != nil {
			f.value.clear(f.location.unshare(base))
		}
	}
	return true
}

// mergeMode is what a merge knows of the value that it merges into.
type mergeMode uint8

const (
	validating mergeMode = iota // the value stands for one that is not known yet
	applying                    // the value is part of the resource
	creating                    // the resource lacks the value: it has to be whole, as in a request that creates it
)

// within is the mode of a merge into a part of the value, which the value may lack.
func (m mergeMode) within(absent bool) mergeMode {
	if m == applying && absent {
		return creating
	}
	return m
}

// merge merges the next value, an object, into the struct at base as a JSON Merge Patch (RFC 7396, MCP-AQL core
// §4.5.1). What pointers, maps and slices in the struct refer to is copied before it changes. Identifiers are unknown
// in a patch (MCP-AQL core §4.5.3). The changes are recorded unless recorded is nil. merge reports whether the object
// has all that a new struct needs.
func (o *structDecoder) merge(r *wire.Reader, base unsafe.Pointer, recorded *changes, mode mergeMode) (whole bool) {
	if !r.Object() {
		r.Choices(wire.StageType, o.updatable)
		return false
	}
	whole = true
	var seen, given, absent bits
	if mode == applying && o.embedsPointers {
		absent = o.absentFields(base)
	}
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
		case r.AtNull() && r.Null():
			if !f.setNull(base) {
				r.NullRefused(f.value.expected)
			}
			recorded.add(change{kind: setFieldNull, field: f})
		case f.excludes != nil && o.conflict(r, f, &given, new(bits)):
		default:
			given.add(i)
			f.replaceOthers(o, base)
			whole = f.merge(r, base, recorded, mode) && whole
		}
	}
	for _, i := range o.requiredOrDefault {
		switch f := &o.fields[i]; {
		case seen.has(i), f.required && (f.readOnly || f.append || f.id): // those come from the service
		case mode != creating && (!absent.has(i) || f.location.address(base) == nil):
			whole = false
		case f.required:
			f.missing(r)
		default:
			f.defaultValue.set(f.location.allocate(base))
		}
	}
	return whole
}

// absentFields returns the fields, of those in requiredOrDefault, whose embedded struct is absent.
func (o *structDecoder) absentFields(base unsafe.Pointer) bits {
	var absent bits
	for _, i := range o.requiredOrDefault {
		if o.fields[i].location.address(base) == nil {
			absent.add(i)
		}
	}
	return absent
}

// merge merges the next value, which is not null, into the field of the struct at base. It returns false if the value
// is an object that lacks what a new one needs.
func (f *decodedField) merge(r *wire.Reader, base unsafe.Pointer, recorded *changes, mode mergeMode) (whole bool) {
	n, p := f.value, f.location.unshare(base)
	switch {
	case n.kind == kindStruct:
		entered := recorded.enter(enterStruct, f)
		whole = n.object.merge(r, p, recorded, mode.within(f.absent(p)))
		recorded.leave(entered, whole)
		return whole
	case n.kind == kindPointer && n.elem.kind == kindStruct:
		entered := recorded.enter(enterPointer, f)
		pointer := (*unsafe.Pointer)(p)
		mode = mode.within(*pointer == nil)
		*pointer = copied(n.elem.goType, *pointer)
		whole = n.elem.object.merge(r, *pointer, recorded, mode)
		recorded.leave(entered, whole)
		return whole
	case n.kind == kindStringMap:
		from, to := n.mergeStringMap(r, (*map[string]string)(p), recorded, mode)
		recorded.add(change{kind: mergeEntries, field: f, value: p, from: from, to: to})
	case n.merges():
		r.Kind() // moves to the value
		start := r.Offset()
		n.merge(r, p, mode)
		recorded.addText(f, start, r.Offset())
	default:
		n.read(r, p, false)
		recorded.add(change{kind: setField, field: f, value: p})
	}
	return true
}

// absent reports whether results leave out the struct at p, which is the field.
func (f *decodedField) absent(p unsafe.Pointer) bool {
	return f.omitZero && reflect.NewAt(f.value.goType, p).Elem().IsZero()
}

// merges reports whether a patch may change a value of the type in part, rather than replace it.
func (n *decoder) merges() bool {
	switch n.kind {
	case kindStruct, kindMap, kindStringMap, kindAny, kindRaw, kindJSON, kindOptional, kindSQLNull:
		return true
	case kindPointer, kindMessage:
		return n.elem.merges()
	default:
		return false
	}
}

// merge merges the next value, which is not null, into the value at p. Objects merge at every depth; everything else
// replaces.
func (n *decoder) merge(r *wire.Reader, p unsafe.Pointer, mode mergeMode) {
	switch n.kind {
	case kindStruct:
		n.object.merge(r, p, nil, mode)
	case kindPointer:
		if !n.merges() {
			n.read(r, p, false)
			return
		}
		pointer := (*unsafe.Pointer)(p)
		mode = mode.within(*pointer == nil)
		*pointer = copied(n.elem.goType, *pointer)
		n.elem.merge(r, *pointer, mode)
	case kindStringMap:
		n.mergeStringMap(r, (*map[string]string)(p), nil, mode)
	case kindMap:
		n.mergeMap(r, p, mode)
	case kindAny:
		*(*any)(p) = r.MergeAny(*(*any)(p))
	case kindRaw:
		if text := mergedText(r, string(*(*json.RawMessage)(p))); r.Fault() == nil {
			*(*json.RawMessage)(p) = json.RawMessage(text)
		}
	case kindJSON:
		n.mergeJSON(r, p)
	case kindOptional:
		absent := *(*Presence)(p) != Present
		if absent {
			n.clear(p)
		}
		*(*Presence)(p) = Present
		n.elem.merge(r, unsafe.Add(p, n.offset), mode.within(absent))
	case kindSQLNull:
		n.mergeSQLNull(r, p, mode)
	case kindMessage:
		n.mergeMessage(r, p, mode)
	default:
		n.read(r, p, false)
	}
}

// mergeStringMap merges the next value, an object, into the map at p. It records the names that are removed, and
// returns their range in recorded.names.
func (n *decoder) mergeStringMap(
	r *wire.Reader, p *map[string]string, recorded *changes, mode mergeMode,
) (from, to int32) {
	var removed []string
	if recorded != nil {
		if recorded.names == nil {
			recorded.names = recorded.namesBuffer[:0]
		}
		removed = recorded.names
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
			if recorded != nil {
				removed = append(removed, r.Retain(name))
			}
		} else if s, ok := r.String(); ok {
			entries[r.Retain(name)] = s
		}
	}
	if n.checkSize(r, len(entries), mode) {
		*p = entries
	}
	if recorded != nil {
		recorded.names, to = removed, int32(len(removed))
	}
	return from, to
}

// mergeMap merges the next value, an object, into the map at p.
func (n *decoder) mergeMap(r *wire.Reader, p unsafe.Pointer, mode mergeMode) {
	if !r.Object() {
		return
	}
	old := reflect.NewAt(n.goType, p).Elem()
	entries := reflect.MakeMapWithSize(n.goType, old.Len())
	for iterator := old.MapRange(); iterator.Next(); {
		entries.SetMapIndex(iterator.Key(), iterator.Value())
	}
	key, elem := reflect.New(n.goType.Key()).Elem(), reflect.New(n.goType.Elem()).Elem()
	seen := make(map[any]bool) // keys that names may spell in several ways
	for r.Next() {
		valid := n.readKey(r, key)
		if valid && n.key != nil {
			if seen[key.Interface()] {
				r.Duplicate(r.Name())
			}
			seen[key.Interface()] = true
		}
		if r.Null() {
			if valid {
				entries.SetMapIndex(key, reflect.Value{})
			}
			continue
		}
		elem.SetZero()
		known := false
		if valid {
			if entry := entries.MapIndex(key); entry.IsValid() {
				elem.Set(entry)
				known = true
			}
		}
		n.elem.merge(r, elem.Addr().UnsafePointer(), mode.within(!known))
		if valid {
			entries.SetMapIndex(key, elem)
		}
	}
	if n.checkSize(r, entries.Len(), mode) {
		old.Set(entries)
	}
}

// checkSize checks the number of entries of a merged map. The least number is not checked while a patch is validated,
// since the map has only the entries of the patch then.
func (n *decoder) checkSize(r *wire.Reader, size int, mode mergeMode) bool {
	switch c := n.constraints; {
	case c == nil:
		return true
	case mode == validating:
		return c.maxItems == 0 || r.MaxItems(size, c.maxItems)
	default:
		return c.checkItems(r, size)
	}
}
