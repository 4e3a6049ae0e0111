package codec

import (
	"net/netip"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Canonical returns the canonical form of the parameter with index i in the definition: the JSON text of the value that
// the handler sees. text is what the valid request gives for the parameter, or its default; request points to the
// request struct that the text was read into.
//
// In the canonical form, fields have their own names, not an alias, absent fields have their defaults, and maps have
// their keys as results spell them. What a type with methods reads is written by its own methods. null stands only
// where a handler can tell it from absence. What cannot be told, because a type does not read what it writes, is
// wire.Unjudged.
func (q *Request) Canonical(i int, text string, request unsafe.Pointer) string {
	f := &q.object.fields[i]
	c := canonicalizer{wire.NewReader(text, wire.Limits{}), wire.NewWriter(nil)}
	c.value(f.value, f.location.address(request), false)
	if !c.r.OK() || c.w.Err() != nil {
		return wire.Unjudged
	}
	return string(c.w.Bytes())
}

// canonicalizer reads a value and writes its canonical form.
type canonicalizer struct {
	r *wire.Reader
	w *wire.Writer
}

// value writes the next value, which n reads. p is where n has read it to, or nil if that is not known. patch says that
// the value is part of a merge patch.
func (c canonicalizer) value(n *decoder, p unsafe.Pointer, patch bool) {
	switch n.kind {
	case kindPointer:
		if p != nil {
			p = *(*unsafe.Pointer)(p)
		}
		c.value(n.elem, p, patch)
	case kindOptional:
		if c.r.Null() {
			c.w.Null()
			return
		}
		c.value(n.elem, part(p, n.offset), patch)
	case kindSQLNull:
		c.value(n.elem, p, patch)
	case kindMessage: // what it was read into is gone
		c.value(n.elem, nil, patch)
	case kindPatch:
		c.value(n.elem, nil, true)
	case kindStruct:
		c.object(n.object, p, patch)
	case kindSlice, kindStrings, kindArray:
		c.array(n, p)
	case kindMap, kindStringMap:
		c.entries(n, p, patch)
	case kindRaw, kindSelection, kindFilter, kindConstant:
		c.w.Raw(canonicalText(c.r.Raw()))
	case kindJSON:
		if patch && c.r.Kind() == "object" { // what comes of it depends on what is stored
			c.r.Skip()
			c.w.Raw(wire.Unjudged)
			return
		}
		c.scalar(n, p)
	case kindAny:
		if patch { // in which null removes
			p = nil
		}
		c.scalar(n, p)
	default:
		c.scalar(n, p)
	}
}

// part returns the address of a part of the value at p, or nil if p is.
func part(p unsafe.Pointer, offset uintptr) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, offset)
}

// object writes the next value, which is read into the struct at base.
func (c canonicalizer) object(o *structDecoder, base unsafe.Pointer, patch bool) {
	if !c.r.Object() {
		return
	}
	place := func(f *decodedField) unsafe.Pointer {
		if base == nil {
			return nil
		}
		return f.location.address(base)
	}
	c.w.BeginObject()
	var present bits
	next := 0
	for {
		i, more := o.nextField(c.r, &next)
		if !more {
			break
		}
		if i < 0 {
			c.r.Unknown(o.names)
			continue
		}
		f := &o.fields[i]
		if f.value.kind != kindOptional && c.r.Null() {
			if patch {
				c.w.KeyEscaped(f.name)
				c.w.Null()
			}
			continue
		}
		present.add(i)
		c.w.KeyEscaped(f.name)
		c.value(f.value, place(f), patch)
	}
	if !patch {
		for _, i := range o.requiredOrDefault {
			if f := &o.fields[i]; f.defaultValue != nil && !present.has(i) {
				c.w.KeyEscaped(f.name)
				canonicalizer{wire.NewReader(f.defaultValue.text, wire.Limits{}), c.w}.value(f.value, place(f), false)
			}
		}
	}
	c.w.EndObject()
}

// array writes the next value, which is read into the slice or array at p.
func (c canonicalizer) array(n *decoder, p unsafe.Pointer) {
	if !c.r.Array() {
		return
	}
	if p != nil && n.kind != kindArray {
		p = (*sliceHeader)(p).data
	}
	c.w.BeginArray()
	for i := uintptr(0); c.r.NextElement(); i++ {
		c.w.Element()
		c.element(n, part(p, i*n.elem.size), false)
	}
	c.w.EndArray()
}

// element writes the next value, an element of a container.
func (c canonicalizer) element(n *decoder, p unsafe.Pointer, patch bool) {
	if (patch || n.elem.mayBeNil()) && c.r.Null() {
		c.w.Null()
		return
	}
	c.value(n.elem, p, patch)
}

// entries writes the next value, which is read into the map at p. A map of which a key cannot be judged, or whose
// entries have one key twice, is unjudged.
func (c canonicalizer) entries(n *decoder, p unsafe.Pointer, patch bool) {
	if !c.r.Object() {
		return
	}
	var read reflect.Value
	if p != nil {
		read = reflect.NewAt(n.goType, p).Elem()
	}
	key := reflect.New(n.goType.Key()).Elem()
	into := canonicalizer{c.r, wire.NewWriter(nil)}
	into.w.BeginObject()
	seen, judged := make(map[string]bool), true
	for c.r.NextUnchecked() {
		name, known := "", false
		if n.readKey(c.r, key) {
			name, known = canonicalKey(n, key)
		}
		judged = judged && known && !seen[name]
		seen[name] = true
		into.w.KeyEscaped(name)
		var value unsafe.Pointer
		if read.IsValid() {
			if entry := read.MapIndex(key); entry.IsValid() {
				addressable := reflect.New(entry.Type())
				addressable.Elem().Set(entry)
				value = addressable.UnsafePointer()
			}
		}
		into.element(n, value, patch)
	}
	into.w.EndObject()
	if !judged || into.w.Err() != nil {
		c.w.Raw(wire.Unjudged)
		return
	}
	c.w.Raw(string(into.w.Bytes()))
}

// canonicalKey spells a key of the maps that n reads; false: it is written as another key than it is read as.
func canonicalKey(n *decoder, key reflect.Value) (string, bool) {
	write, err := keyWriter(n.goType.Key())
	if err != nil {
		return "", false
	}
	name := key.String()
	if write != nil && callUser(func() (err error) { name, err = write(key); return err }) != nil {
		return "", false
	}
	if n.key != nil {
		again := reflect.New(key.Type()).Elem()
		if callUser(func() error { return n.key(name, again) }) != nil || !same(key, again) {
			return "", false
		}
	}
	return unmapped(name), true
}

// scalar writes the next value as one that has no parts.
func (c canonicalizer) scalar(n *decoder, p unsafe.Pointer) {
	if p != nil {
		c.r.Skip()
	} else {
		p = reflect.New(n.goType).UnsafePointer()
		if n.read(c.r, p, false); !c.r.OK() {
			return
		}
	}
	if n.kind == kindText || n.kind == kindJSON {
		c.w.Raw(n.ownForm(p))
		return
	}
	n.scalarEncoder().write(c.w, p)
}

// scalarEncoder returns the encoder of values that have no parts, and of pointers to them.
func (n *decoder) scalarEncoder() *encoder {
	e := &encoder{kind: n.kind, goType: n.goType, bits: n.bits, size: n.size, offset: n.offset}
	if n.elem != nil {
		e.elem = n.elem.scalarEncoder()
	}
	return e
}

// ownForm returns the canonical form of the value at p, whose type has methods. It is unjudged unless the type reads
// what it writes as the same value: then no other value is written so.
func (n *decoder) ownForm(p unsafe.Pointer) string {
	w := wire.NewWriter(nil)
	(&encoder{kind: methodKind(n.goType), goType: n.goType}).write(w, p)
	text := canonicalText(string(w.Bytes()))
	if w.Err() != nil || text == wire.Unjudged {
		return wire.Unjudged
	}
	unlimited := *n
	unlimited.constraints = nil
	again, r := reflect.New(n.goType), wire.NewReader(string(w.Bytes()), wire.Limits{})
	unlimited.read(r, again.UnsafePointer(), false)
	if r.End(); !r.OK() || !same(reflect.NewAt(n.goType, p).Elem(), again.Elem()) {
		return wire.Unjudged
	}
	if plain, ok := wire.NewReader(text, wire.Limits{}).String(); ok && unmapped(plain) != plain {
		w.Reset(nil)
		w.String(unmapped(plain))
		return string(w.Bytes())
	}
	return text
}

// unmapped returns the IPv4 address that an IPv4-mapped IPv6 address is for, and every other text as it is. They reach
// the same host.
func unmapped(text string) string {
	if strings.Contains(text, ":") {
		if a, err := netip.ParseAddr(text); err == nil && a.Is4In6() && a.Zone() == "" {
			return a.Unmap().String()
		}
	}
	return text
}

// canonicalText spells a JSON text plainly. It is unjudged if it is none or has a name twice.
func canonicalText(text string) string {
	if plain, ok := wire.Plain(text); ok {
		return plain
	}
	return wire.Unjudged
}

// same reports whether two values of one type are the same to the type itself, by its method Equal, Cmp or Compare, or
// else in all of their parts.
func same(a, b reflect.Value) bool {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return true
	}
	at := a.Addr()
	// By a name that is a constant: otherwise the linker keeps every exported method of all that has become an interface.
	for _, method := range []reflect.Value{at.MethodByName("Equal"), at.MethodByName("Cmp"), at.MethodByName("Compare")} {
		for _, y := range []reflect.Value{b, b.Addr()} {
			if !method.IsValid() || method.Type().NumIn() != 1 || method.Type().In(0) != y.Type() ||
				method.Type().NumOut() != 1 {
				continue
			}
			var result any
			if callUser(func() error { result = method.Call([]reflect.Value{y})[0].Interface(); return nil }) == nil {
				return result == true || result == 0
			}
		}
	}
	return false
}
