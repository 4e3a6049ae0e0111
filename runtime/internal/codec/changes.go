package codec

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// changes is what a patch does to a resource. It is recorded when the patch is validated, so that the patch need not
// be read again when it is applied. Values in it go to the first resource only: two resources must not share memory.
type changes struct {
	raw         string // the patch
	start       int    // offset of the patch in the request
	list        []change
	names       []string // of entries that are removed from maps
	mayFail     bool     // whether one of the changes fits depends on the resource
	applied     atomic.Bool
	listBuffer  [16]change // memory for list
	namesBuffer [4]string  // memory for names
}

// change is a change of a field. Changes of the fields of a struct stand between enterStruct or enterPointer, and
// leaveStruct.
type change struct {
	field    *decodedField
	value    unsafe.Pointer // of setField and mergeEntries
	from, to int32          // of mergeText: offsets in the patch; of mergeEntries: range of the names to remove
	kind     changeKind
	partial  bool // of enterStruct and enterPointer: the changes are too few for a struct that is not there yet
}

// changeKind is what a change does.
type changeKind uint8

const (
	setField     changeKind = iota
	setFieldNull            // sets the field as null does
	enterStruct             // the field is a struct, of which fields change
	enterPointer            // the field is a pointer to such a struct, which is copied first
	leaveStruct             // ends the struct
	mergeEntries            // merges entries into a map of strings
	mergeText               // merges a part of the text of the patch
)

// add records a change. c may be nil.
func (c *changes) add(change change) {
	if c == nil {
		return
	}
	if c.list == nil {
		c.list = c.listBuffer[:0]
	}
	limited := change.kind == mergeEntries && change.field.value.constraints != nil
	c.mayFail = c.mayFail || change.kind == mergeText || limited || change.inEmbedded()
	c.list = append(c.list, change)
}

// inEmbedded reports whether the field is in an embedded struct that may be absent. A change would create it, and it
// has to be whole.
func (c *change) inEmbedded() bool { return c.field != nil && len(c.field.location.steps) > 0 }

// addText records a change that merges the text between two offsets of the request. c may be nil.
func (c *changes) addText(f *decodedField, from, to int) {
	if c != nil {
		c.add(change{kind: mergeText, field: f, from: int32(from - c.start), to: int32(to - c.start)})
	}
}

// enter records that changes of the fields of a struct follow, and returns the place of the record. c may be nil.
func (c *changes) enter(kind changeKind, f *decodedField) (place int) {
	c.add(change{kind: kind, field: f})
	if c == nil {
		return 0
	}
	return len(c.list) - 1
}

// leave ends the changes that enter began. whole says that they make up a new struct. c may be nil.
func (c *changes) leave(place int, whole bool) {
	if c == nil {
		return
	}
	entered := &c.list[place]
	entered.partial = !whole
	c.mayFail = c.mayFail || !whole && (entered.kind == enterPointer || entered.field.omitZero)
	c.add(change{kind: leaveStruct})
}

// apply makes the changes in list to the struct at base, up to leaveStruct. It returns the rest of the list.
func (c *changes) apply(list []change, base unsafe.Pointer) (rest []change, ok bool) {
	ok = true
	for len(list) > 0 && ok {
		next := &list[0]
		list = list[1:]
		field := next.field
		if next.inEmbedded() && field.location.address(base) == nil {
			return nil, false
		}
		switch next.kind {
		case leaveStruct:
			return list, true
		case setFieldNull:
			ok = field.setNull(base)
		case setField:
			field.value.move(field.location.unshare(base), next.value)
		case enterStruct:
			p := field.location.unshare(base)
			if next.partial && field.absent(p) {
				return nil, false
			}
			list, ok = c.apply(list, p)
		case enterPointer:
			pointer := (*unsafe.Pointer)(field.location.unshare(base))
			if next.partial && *pointer == nil {
				return nil, false
			}
			*pointer = copied(field.value.elem.goType, *pointer)
			list, ok = c.apply(list, *pointer)
		case mergeEntries:
			ok = c.mergeMap(next, (*map[string]string)(field.location.unshare(base)))
		case mergeText:
			r := wire.NewReader(c.raw[next.from:next.to], wire.Limits{})
			field.value.merge(r, field.location.unshare(base), applying)
			ok = r.OK()
		}
	}
	return nil, ok
}

// mergeMap adds the entries of the map at p to those of the patch, and makes these the map at p.
func (c *changes) mergeMap(next *change, p *map[string]string) bool {
	entries := *(*map[string]string)(next.value)
	for name, value := range *p {
		if _, changed := entries[name]; !changed {
			entries[name] = value
		}
	}
	for _, name := range c.names[next.from:next.to] {
		delete(entries, name)
	}
	if limit := next.field.value.constraints; limit != nil &&
		(len(entries) < limit.minItems || limit.maxItems > 0 && len(entries) > limit.maxItems) {
		return false
	}
	*p = entries
	return true
}

// move copies a value from one address to another.
func (n *decoder) move(to, from unsafe.Pointer) {
	switch n.kind {
	case kindString, kindNumber:
		*(*string)(to) = *(*string)(from)
	case kindBool:
		*(*bool)(to) = *(*bool)(from)
	case kindInt:
		setInt(to, n.bits, getInt(from, n.bits))
	case kindUint:
		setUint(to, n.bits, getUint(from, n.bits))
	case kindTime:
		*(*time.Time)(to) = *(*time.Time)(from)
	case kindStrings, kindSlice, kindBytes:
		*(*sliceHeader)(to) = *(*sliceHeader)(from)
	case kindPointer:
		*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(from)
	default:
		reflect.NewAt(n.goType, to).Elem().Set(reflect.NewAt(n.goType, from).Elem())
	}
}
