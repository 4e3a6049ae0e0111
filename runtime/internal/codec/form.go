package codec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Form is how a handler sees the values at one path in its parameters.
type Form struct {
	// Path is the path with the keys of maps in their canonical form.
	Path   []string
	value  *decoder
	inside bool // the values are parts of what value, a type with methods, reads
}

// Form finds the values at a path such as filter.status; * stands for the elements of an array, or the values of a map.
// It fails where the path leads to nothing.
func (q *Request) Form(path []string) (Form, error) {
	f := Form{Path: slices.Clone(path), value: &decoder{kind: kindStruct, object: q.object}}
	for i, name := range path {
		if err := f.step(i, name); err != nil {
			return Form{}, err
		}
	}
	f.value = f.value.behindPointers()
	return f, nil
}

// behindPointers returns the decoder of what a pointer, an Optional, an sql.Null or a Patch holds.
func (n *decoder) behindPointers() *decoder {
	for n.kind == kindPointer || n.kind == kindOptional || n.kind == kindSQLNull || n.kind == kindPatch ||
		n.kind == kindMessage {
		n = n.elem
	}
	return n
}

// step takes the step of the path with index i.
func (f *Form) step(i int, name string) error {
	n := f.value.behindPointers()
	f.value = n
	switch n.kind {
	case kindStruct:
		at := n.object.index.find(name)
		if at < 0 {
			return fmt.Errorf("there is no field %s", name)
		}
		f.value, f.Path[i] = n.object.fields[at].value, n.object.fields[at].name
	case kindSlice, kindStrings, kindArray:
		f.value = n.elem
	case kindMap, kindStringMap:
		f.value = n.elem
		if name == "*" {
			break
		}
		key := reflect.New(n.goType.Key()).Elem()
		if n.key != nil && callUser(func() error { return n.key(name, key) }) != nil {
			return fmt.Errorf("expected '%s' as the name of an entry", n.form)
		} else if n.key == nil {
			key.SetString(name)
		}
		spelled, judged := canonicalKey(n, key)
		if !judged {
			return errors.New(
				"its entries cannot be told apart, because their names are written as others than they are read as")
		}
		f.Path[i] = spelled
	case kindAny, kindRaw:
	case kindJSON:
		f.inside = true
	default:
		return errors.New("there is nothing in it to name")
	}
	return nil
}

// Canonical returns the canonical form of a value that is given as a JSON text; it may be wire.Unjudged. ok is false
// where the text is no such value.
func (f *Form) Canonical(text string) (canonical string, ok bool) {
	if f.inside {
		canonical = canonicalText(text)
		return canonical, true
	}
	r, w := wire.NewReader(text, wire.Limits{}), wire.NewWriter(nil)
	canonicalizer{r, w}.value(f.value, nil, false)
	if r.End(); !r.OK() {
		return "", false
	}
	if w.Err() != nil {
		return wire.Unjudged, true
	}
	return string(w.Bytes()), true
}

// Zero returns the canonical form of the value that a handler may see where the request gives none. It is empty for
// values of any type, and for those that have parts.
func (f *Form) Zero() string {
	switch n := f.value; {
	case f.inside, n.object != nil, n.kind == kindAny, n.kind == kindRaw, n.kind == kindSelection,
		n.kind == kindFilter, n.kind == kindConstant,
		n.elem != nil && n.kind != kindQuoted:
		return ""
	default:
		c := canonicalizer{wire.NewReader("0", wire.Limits{}), wire.NewWriter(nil)}
		if c.scalar(n, reflect.New(n.goType).UnsafePointer()); c.w.Err() != nil {
			return wire.Unjudged
		}
		return string(c.w.Bytes())
	}
}
