package codec

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// changes is what a patch does to a resource, on record since it was validated by merging it onto an empty one, so that
// applying it need not read it again. The values that are set are those that were read then: they go to the first resource
// that the patch is applied to, and to no other, since two resources must not share memory.
type changes struct {
	raw   string // the patch
	start int    // where in the request it begins
	list  []change
	names []string // of the entries that are removed from maps
	doubt bool     // one of them may still fail: whether it does depends on the resource
	spent atomic.Bool
	first [16]change
	few   [4]string // room for names
}

// change is one of them. The fields of a struct come between enters or points, and leaves.
type change struct {
	field    *field
	value    unsafe.Pointer // what sets and putsEntries take
	from, to int32          // what merges: where in the patch it begins and ends; what putsEntries removes: which of the names
	do       doing
}

type doing uint8

const (
	sets doing = iota
	removes
	enters      // the struct that is the field
	points      // to a struct of its own, a copy of the one that was there
	leaves      // the struct
	putsEntries // into a map of strings
	merges      // in a way that the value alone knows
)

// add puts a change on record, where there is one.
func (c *changes) add(change change) {
	if c == nil {
		return
	}
	if c.list == nil {
		c.list = c.first[:0]
	}
	limited := change.do == putsEntries && change.field.value.checks != nil
	c.doubt = c.doubt || change.do == merges || limited
	c.list = append(c.list, change)
}

// addText puts on record a change that merges the text between two offsets of the request.
func (c *changes) addText(f *field, from, to int) {
	if c != nil {
		c.add(change{do: merges, field: f, from: int32(from - c.start), to: int32(to - c.start)})
	}
}

// apply makes the changes in list, up to one that leaves, to the struct at base. It returns what comes behind.
func (c *changes) apply(list []change, base unsafe.Pointer) (rest []change, ok bool) {
	ok = true
	for len(list) > 0 && ok {
		next := &list[0]
		list = list[1:]
		field := next.field
		switch next.do {
		case leaves:
			return list, true
		case removes:
			ok = field.remove(base)
		case sets:
			field.value.move(field.owned(base), next.value)
		case enters:
			list, ok = c.apply(list, field.owned(base))
		case points:
			pointer := (*unsafe.Pointer)(field.owned(base))
			*pointer = copied(field.value.elem.goType, *pointer)
			list, ok = c.apply(list, *pointer)
		case putsEntries:
			ok = c.put(next, (*map[string]string)(field.owned(base)))
		case merges:
			r := wire.NewReader(c.raw[next.from:next.to], wire.Limits{})
			field.value.merge(r, field.owned(base))
			ok = r.OK()
		}
	}
	return nil, ok
}

// put merges the entries of a resource into those of the patch, which then are the resource's.
func (c *changes) put(next *change, p *map[string]string) bool {
	entries := *(*map[string]string)(next.value)
	for name, value := range *p {
		if _, changed := entries[name]; !changed {
			entries[name] = value
		}
	}
	for _, name := range c.names[next.from:next.to] {
		delete(entries, name)
	}
	if limit := next.field.value.checks; limit != nil && limit.maxItems > 0 && len(entries) > limit.maxItems {
		return false
	}
	*p = entries
	return true
}

// move copies a value of the type from one place to another.
func (n *reading) move(to, from unsafe.Pointer) {
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
		*(*slice)(to) = *(*slice)(from)
	case kindPointer:
		*(*unsafe.Pointer)(to) = *(*unsafe.Pointer)(from)
	default:
		reflect.NewAt(n.goType, to).Elem().Set(reflect.NewAt(n.goType, from).Elem())
	}
}
