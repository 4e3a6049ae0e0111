package wiretype

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Returns describes what a handler returns. It comes after AssignNames.
func (s *Set) Returns(result *shapes.Shape) gen.Returns {
	if result == nil {
		s.nothing = true
		return gen.Returns{Name: nothing, Kind: gen.KindScalar, Description: "No data (null)."}
	}
	key := s.resultKey(result)
	if known, ok := s.results[key]; ok {
		return known
	}
	t := s.definition(s.known[key])
	s.results[key] = gen.Returns{Name: t.Name, Kind: t.Kind, Description: t.Description}
	return s.results[key]
}

// resultKey is the wire type of a whole result. Types of the protocol are never arrays, so a list is an object with
// items.
func (s *Set) resultKey(result *shapes.Shape) wireKey {
	shape := shapes.Indirect(result)
	switch shape.Kind {
	case shapes.Struct:
		return wireKey{shape, plain}
	case shapes.Slice, shapes.Array:
		if shape.Message { // a ListValue, which no object stands around
			break
		}
		return s.shared(wireKey{shapes.Indirect(shape.Elem), list})
	case shapes.Map:
		return s.shared(wireKey{shape, dictionary})
	case shapes.String:
		if len(shape.Enum) > 0 {
			return wireKey{shape, plain}
		}
	}
	return s.shared(wireKey{shape, scalar})
}

// shared is the wire type for a result whose Go type has no name: the first one that looks the same, so int and int64
// are both Integer.
func (s *Set) shared(key wireKey) wireKey {
	if key.shape.Go.Name != "" || s.known[key] != nil {
		return key
	}
	for _, t := range s.all {
		if t.key.as == key.as && looksSame(t.key.shape, key.shape) {
			return t.key
		}
	}
	return key
}

// looksSame reports whether values of two shapes are described alike. Types without names are compared by their parts.
func looksSame(a, b *shapes.Shape) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Go.Name != "" || b.Go.Name != "" || a.Kind == shapes.Struct ||
		shapes.JSONKind(a) != shapes.JSONKind(b) || (a.Elem == nil) != (b.Elem == nil) ||
		a.Elem != nil && shapes.IsNullable(a.Elem) != shapes.IsNullable(b.Elem) {
		return false
	}
	return a.Len == b.Len && sameKeys(a.Key, b.Key) && looksSame(shapes.Indirect(a.Elem), shapes.Indirect(b.Elem))
}

// sameKeys reports whether maps with these keys are described alike.
func sameKeys(a, b *shapes.Shape) bool {
	if a == nil || b == nil || a.Go.Name != b.Go.Name {
		return a == b
	}
	a, b = shapes.KeyOf(a), shapes.KeyOf(b)
	return a.Kind == b.Kind && a.Bits == b.Bits
}

// visitResult adds the wire types of a result.
func (s *Set) visitResult(result *shapes.Shape) {
	key := s.resultKey(result)
	if key.as == plain {
		s.visit(key.shape, false)
		return
	}
	whole := shapes.Indirect(result)
	s.visit(whole, false)
	s.add(key.shape, key.as)
	if key.as == list && shapes.IsNullable(whole.Elem) {
		s.nullableItems[key] = true
	}
}

// Definitions lists the wire types, sorted by name. It comes after Returns, which adds the type of operations without a
// result.
func (s *Set) Definitions() []gen.Type {
	var out []gen.Type
	for _, t := range s.all {
		out = append(out, s.definition(t))
	}
	if s.nothing {
		none := s.Returns(nil)
		out = append(out, gen.Type{Name: none.Name, Kind: none.Kind, Description: none.Description})
	}
	slices.SortFunc(out, func(a, b gen.Type) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// withheld is a field of a type as definitions show it: results leave a sensitive one out, so a type of results alone
// does not have it.
func (s *Set) withheld(of *shapes.Shape, param gen.Param) (shown gen.Param, ok bool) {
	if !param.Sensitive || !s.returned[of] {
		return param, true
	}
	param.Description = strings.TrimPrefix(strings.TrimSuffix(param.Description, ".")+". "+"Results leave it out.", ". ")
	return param, s.requested[of]
}

// definition is a wire type as introspection shows it.
func (s *Set) definition(t *wireType) gen.Type {
	shape := t.key.shape
	out := gen.Type{Name: t.name, Kind: gen.KindObject}
	switch t.key.as {
	case scalar:
		out.Kind, out.Description = gen.KindScalar, s.scalarDescription(shape)
		return out
	case dictionary:
		items := s.wireParam(shape.Elem, false)
		items.Name = "items"
		out.Items, out.Description = &items, fmt.Sprintf("Object whose members have type %s.", items.Type)
		if keys := (&gen.Param{Keys: s.keysOf(shape.Key)}).Names(); keys != "" {
			out.Description += " " + keys + "."
		}
		return out
	case list:
		items := s.wireParam(shape, false)
		items.Nullable = items.Nullable || s.nullableItems[t.key]
		out.Description = fmt.Sprintf("List of %s in items.", items.Type)
		out.Fields = []gen.Param{{Name: "items", Type: "array", Required: true, Description: "The elements.", Items: &items}}
		return out
	}
	if shape.Kind == shapes.Filter {
		return s.filter(t)
	}
	if shape.Kind == shapes.String {
		out.Kind = gen.KindEnum
		t := shape.Type
		values, declared := s.enumValues(t)
		if shape.Message {
			values = s.messageValues(shape)
		}
		out.Description, out.Values = cmp.Or(shape.Doc, s.typeDoc(t)), values
		for i, c := range declared {
			if text := s.constText(c); text.Text != "" {
				s.ConstantNames[model.EnumConstant{Type: out.Name, Value: values[i].Value}] = text
			}
		}
		return out
	}
	out.Description = cmp.Or(shape.Doc, s.typeDoc(shape.Type))
	if t.key.as == update {
		out.Changes = s.nameOf(shape, plain)
	}
	out.Fields = slices.Grow(out.Fields, len(shape.Fields))
	for _, field := range shape.Fields {
		if t.key.as == plain {
			if param, ok := s.withheld(shape, field.Param); ok {
				out.Fields = append(out.Fields, param)
			} else {
				out.Withheld = append(out.Withheld, param.Name)
			}
			continue
		}
		if field.Param.Updatable() {
			param, _ := s.withheld(shape, s.merged(field, true))
			out.Fields = append(out.Fields, param.Change())
		}
	}
	for _, field := range shape.Computed {
		if t.key.as == plain {
			out.Computed = append(out.Computed, field.Param)
		}
	}
	if t.key.as == update {
		out.Description = patchDescription(&out, shape.Fields, s.creatable[shape])
	}
	return out
}
