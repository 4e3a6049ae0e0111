package codec

import (
	"maps"
	"slices"
)

// Mask is what some callers do not get of results: fields, by the names of their types. nil hides nothing. It is not
// safe for concurrent use before Of was called for all results, and is after that.
type Mask struct {
	hidden  func(typ, field string) bool
	found   map[string]bool // the fields that were hidden, as Type.field
	opaque  map[string]bool // the types of values that write themselves
	structs map[*structEncoder]*Subset
	maps    map[*encoder]*Subset
	values  map[*encoder]*Subset // of computed fields and relations
	whole   *Subset
}

// NewMask returns a mask that hides the fields that hidden reports.
func NewMask(hidden func(typ, field string) bool) *Mask {
	return &Mask{
		hidden: hidden, found: make(map[string]bool), opaque: make(map[string]bool),
		structs: make(map[*structEncoder]*Subset),
		maps:    make(map[*encoder]*Subset), whole: &Subset{whole: true},
		values: make(map[*encoder]*Subset),
	}
}

// Of returns what is left of a result. found are the hidden fields that it may have, as Type.field, and opaque the
// types that its definition names of values that write themselves, in which nothing is hidden.
func (m *Mask) Of(result *Result) (left *Subset, found, opaque map[string]bool) {
	fresh := NewMask(m.hidden) // whose structs are those of this result
	left = fresh.of(result.value)
	for c, subset := range fresh.structs {
		m.structs[c] = subset
	}
	maps.Copy(m.values, fresh.values)
	return left, fresh.found, fresh.opaque
}

// of returns what is left of the values of an encoder. What a type leads to may lead back to it: so does what is left.
func (m *Mask) of(n *encoder) *Subset {
	if n.isEndless() {
		return m.whole
	}
	switch n = n.element(); n.kind {
	case kindStruct:
		return m.ofStruct(n.object)
	case kindMap:
		left := m.maps[n]
		if left == nil {
			left = &Subset{}
			m.maps[n] = left
			left.every = m.of(n.elem)
		}
		return left
	case kindJSON, kindText:
		m.opaque[n.wireType] = true
	}
	return m.whole
}

// isEndless reports whether values are lists of themselves, as of type Tree []Tree, which have no fields.
func (n *encoder) isEndless() bool {
	for range maxPathSteps {
		switch n.kind {
		case kindPointer, kindSlice, kindArray, kindOptional, kindSQLNull, kindMessage:
			n = n.elem
		default:
			return false
		}
	}
	return true
}

func (m *Mask) ofStruct(c *structEncoder) *Subset {
	if left := m.structs[c]; left != nil {
		return left
	}
	left := &Subset{}
	m.structs[c] = left
	for i := range c.fields {
		f := &c.fields[i]
		if f.value.kind != kindConstant && m.hidden(c.name, f.name) {
			m.found[c.name+"."+f.name] = true
			m.of(f.value) // for what it finds: other callers may get the field
			continue
		}
		left.fields = append(left.fields, fieldSubset{i, m.of(f.value)})
	}
	for _, behind := range c.behind {
		behind.mask(m)
	}
	return left
}

// Within returns the part of chosen that is left of a result.
func (s *Subset) Within(left *Subset) *Subset {
	switch {
	case s == nil || s.whole:
		return left
	case left == nil || left.whole:
		return s
	}
	both := &Subset{}
	for _, f := range s.fields {
		if at, ok := left.findField(f.index); ok {
			both.fields = append(both.fields, fieldSubset{f.index, f.subset.Within(left.fields[at].subset)})
		}
	}
	for _, e := range s.entries {
		both.entries = append(both.entries, entrySubset{e.name, e.subset.Within(left.every)})
	}
	return both
}

func (s *Subset) findField(index int) (at int, found bool) {
	return slices.BinarySearchFunc(s.fields, index, func(f fieldSubset, index int) int { return f.index - index })
}

// Hides reports whether a field of a type is hidden.
func (m *Mask) Hides(typ, field string) bool { return m != nil && m.hidden(typ, field) }

// hides reports whether a field of a struct is hidden.
func (m *Mask) hides(c *structEncoder, index int) bool {
	if m == nil || m.structs[c] == nil {
		return false
	}
	_, left := m.structs[c].findField(index)
	return !left
}

// hidesPath reports whether a path that reaches something in the values of an encoder goes through a hidden field.
func (m *Mask) hidesPath(n *encoder, path string) bool {
	for deeper := m != nil; deeper; {
		n = n.element()
		var name string
		if name, path, deeper = n.step(path); n.kind != kindStruct {
			n = n.elem
			continue
		}
		at := n.object.find(name)
		if m.hides(n.object, at) {
			return true
		}
		n = n.object.fields[at].value
	}
	return false
}
