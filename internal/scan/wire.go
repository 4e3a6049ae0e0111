package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// wireParam is the wire type of a value of a shape. Of `type Tree []Tree` it says that it is a list of lists.
func (w *wireTypes) wireParam(shape *Shape, inPatch bool) gen.Param {
	elem := func(inPatch bool) *gen.Param {
		w.open[shape]++
		defer func() { w.open[shape]-- }()
		if w.open[shape] > 1 { // which says all there is to say of what is inside
			return nil
		}
		param := w.wireParam(shape.Elem, inPatch)
		return &param
	}
	switch shape.Kind {
	case ShapeBool, ShapeFloat, ShapeAny, ShapeNumber:
		return gen.Param{Type: wireKind(shape)}
	case ShapeInt, ShapeUint:
		return w.integerParam(shape)
	case ShapeSelection:
		return gen.Param{Type: gen.TypeSelection}
	case ShapeText:
		param := gen.Param{Type: "string", Format: textFormat(shape.Type)}
		if param.Format == "" {
			param.Description = ownForm
		}
		return param
	case ShapeJSON:
		return gen.Param{Type: ownJSON(shape.Type)}
	case ShapeString:
		param := gen.Param{Type: "string"}
		if len(shape.Enum) > 0 {
			param.Type = w.nameOf(shape, plain)
			for _, constant := range shape.Enum {
				param.Enum = append(param.Enum, constant.Value)
			}
			return param
		}
		param.Description = w.knownValues(shape.Type)
		return param
	case ShapeTime:
		return gen.Param{Type: "string", Format: "date-time"}
	case ShapeBytes:
		return gen.Param{Type: "string", Format: "byte"}
	case ShapePointer, ShapeOptional:
		return w.wireParam(shape.Elem, inPatch)
	case ShapeSlice, ShapeArray:
		param := gen.Param{Type: "array", Items: elem(false)}
		param.Description = formOfItems(param.Items)
		if shape.Kind == ShapeArray {
			param.MinItems, param.MaxItems = shape.Len, shape.Len
		}
		return param
	case ShapeMap:
		param := gen.Param{Type: "object", Items: elem(inPatch)}
		param.Description = strings.TrimSpace(w.keysOf(shape.Key) + " " + formOfItems(param.Items))
		return param
	case ShapePatch:
		return gen.Param{Type: w.nameOf(shape.Elem, update)}
	case ShapeStruct:
		if inPatch {
			return gen.Param{Type: w.nameOf(shape, update)}
		}
		return gen.Param{Type: w.nameOf(shape, plain)}
	}
	return gen.Param{Type: "any"}
}

// ownForm describes text that a type reads by itself.
const ownForm = "In a form that the service checks."

// formOfItems says of a list or map what its elements have no place to say.
func formOfItems(items *gen.Param) string {
	if items != nil && items.Description == ownForm {
		return "Values are in a form that the service checks."
	}
	return ""
}

// keysOf describes the names of a map's members, where they are not any text.
func (w *wireTypes) keysOf(key *Shape) string {
	switch key.Kind {
	case ShapeInt, ShapeUint:
		return "Names are integers."
	case ShapeText:
		if format := textFormat(key.Type); format != "" {
			return "Names have the format " + format + "."
		}
		return "Names are in a form that the service checks."
	}
	return ""
}

// merged is the parameter of a field: the wire type of its shape with what the tags say about it.
func (w *wireTypes) merged(field Field, inPatch bool) gen.Param {
	param, wire := field.Param, w.wireParam(field.Shape, inPatch)
	if field.Param.Quoted {
		wire.Description = strings.TrimSpace(wire.Description + " A JSON " + wireKind(pointed(field.Shape)) + ", as a string.")
	}
	param.Type, param.Items = wire.Type, mergeItems(param.Items, wire.Items)
	if param.Format == "" {
		param.Format = wire.Format
	}
	if kind := pointed(field.Shape).Kind; !field.Param.Quoted && (kind == ShapeInt || kind == ShapeUint) {
		if param.Minimum == "" && param.Maximum == "" {
			param.Minimum, param.Maximum = wire.Minimum, wire.Maximum
		}
		low, high := typeBounds(pointed(field.Shape))
		param.Minimum, param.Maximum = cmp.Or(param.Minimum, low), cmp.Or(param.Maximum, high)
	}
	if !strings.HasSuffix(param.Description, wire.Description) {
		param.Description = strings.TrimPrefix(strings.TrimSuffix(param.Description, ".")+". "+wire.Description, ". ")
	}
	if len(param.Enum) == 0 {
		param.Enum = wire.Enum
	} else if len(wire.Enum) > 0 && !slices.Equal(param.Enum, wire.Enum) {
		param.Type = "string" // the field allows less than its type
	}
	if param.MaxItems == 0 && param.MinItems == 0 {
		param.MinItems, param.MaxItems = wire.MinItems, wire.MaxItems
	}
	if field.Param.Quoted {
		param.Type = "string"
	}
	return param
}

// mergeItems is what tags say about the elements of a field, with their wire type.
func mergeItems(said, wire *gen.Param) *gen.Param {
	if said == nil || wire == nil {
		return wire
	}
	out := *wire
	out.MinLength, out.MaxLength, out.MinItems, out.MaxItems = said.MinLength, said.MaxLength, max(said.MinItems, wire.MinItems), cmp.Or(said.MaxItems, wire.MaxItems)
	out.Minimum, out.Maximum = cmp.Or(said.Minimum, wire.Minimum), cmp.Or(said.Maximum, wire.Maximum)
	out.Pattern, out.Format = said.Pattern, cmp.Or(said.Format, wire.Format)
	if len(said.Enum) > 0 {
		if len(wire.Enum) > 0 && !slices.Equal(said.Enum, wire.Enum) {
			out.Type = "string" // the field allows less than the type of its elements
		}
		out.Enum = said.Enum
	}
	out.Items = mergeItems(said.Items, wire.Items)
	return &out
}

// complete fills in what the parameters of all fields beneath a shape have by their types. It comes after assignNames.
func (w *wireTypes) complete(shape *Shape) {
	if shape == nil || w.completed[shape] {
		return
	}
	w.completed[shape] = true
	w.complete(shape.Key)
	w.complete(shape.Elem)
	for _, arg := range shape.Go.Args {
		w.complete(arg)
	}
	for i := range shape.Fields {
		field := &shape.Fields[i]
		w.complete(field.Shape)
		field.Param = w.merged(*field, false)
	}
}

// returns names what a handler returns, and notes the types that only results need.
func (w *wireTypes) returns(result *Shape) gen.Returns {
	if result == nil {
		w.nothing = true
		return gen.Returns{Name: nothing, Kind: gen.KindScalar, Description: "No data (null)."}
	}
	key := w.resultKey(result)
	if known, ok := w.results[key]; ok {
		return known
	}
	t := w.definition(w.known[key])
	w.results[key] = gen.Returns{Name: t.Name, Kind: t.Kind, Description: t.Description}
	return w.results[key]
}

// resultKey is the wire type of a whole result: TypeKind has no array, so lists are objects with items (T-90).
func (w *wireTypes) resultKey(result *Shape) wireKey {
	shape := pointed(result)
	switch shape.Kind {
	case ShapeStruct:
		return wireKey{shape, plain}
	case ShapeSlice, ShapeArray:
		return w.shared(wireKey{pointed(shape.Elem), list})
	case ShapeMap:
		return w.shared(wireKey{shape, dictionary})
	case ShapeString:
		if len(shape.Enum) > 0 {
			return wireKey{shape, plain}
		}
	}
	return w.shared(wireKey{shape, scalar})
}

// shared is the wire type that stands for a result whose Go type has no name: the first one that looks the same, so that int
// and int64 are both Integer.
func (w *wireTypes) shared(key wireKey) wireKey {
	if key.shape.Go.Name != "" || w.known[key] != nil {
		return key
	}
	for _, t := range w.all {
		if t.key.as == key.as && looksSame(t.key.shape, key.shape) {
			return t.key
		}
	}
	return key
}

// looksSame reports whether values of two shapes are described alike: types without names by what they consist of.
func looksSame(a, b *Shape) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Go.Name != "" || b.Go.Name != "" || a.Kind == ShapeStruct || wireKind(a) != wireKind(b) {
		return false
	}
	return a.Len == b.Len && looksSame(pointed(a.Elem), pointed(b.Elem))
}

// visitResult notes the wire types of a result.
func (w *wireTypes) visitResult(result *Shape) {
	key := w.resultKey(result)
	if key.as == plain {
		w.visit(key.shape, false)
		return
	}
	w.visit(pointed(result), false)
	w.add(key.shape, key.as)
}

// definitions lists the wire types, sorted by name. It comes after returns, which knows of operations without a result.
func (w *wireTypes) definitions() []gen.Type {
	var out []gen.Type
	for _, t := range w.all {
		out = append(out, w.definition(t))
	}
	if w.nothing {
		none := w.returns(nil)
		out = append(out, gen.Type{Name: none.Name, Kind: none.Kind, Description: none.Description})
	}
	slices.SortFunc(out, func(a, b gen.Type) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// definition is a wire type as introspection shows it.
func (w *wireTypes) definition(t *wireType) gen.Type {
	shape := t.key.shape
	out := gen.Type{Name: t.name, Kind: gen.KindObject}
	switch t.key.as {
	case scalar:
		out.Kind, out.Description = gen.KindScalar, w.scalarDescription(shape)
		return out
	case dictionary:
		items := w.wireParam(shape.Elem, false)
		items.Name = "items"
		out.Items, out.Description = &items, fmt.Sprintf("Object whose members have type %s.", items.Type)
		return out
	case list:
		items := w.wireParam(shape, false)
		out.Description = fmt.Sprintf("List of %s in items.", items.Type)
		out.Fields = []gen.Param{{Name: "items", Type: "array", Required: true, Description: "The elements.", Items: &items}}
		return out
	}
	if shape.Kind == ShapeString {
		out.Kind = gen.KindEnum
		t := shape.Type
		values, declared := w.enumValues(t)
		out.Description, out.Values = w.typeDoc(t), values
		for i, c := range declared {
			if text := w.constText(c); text.Text != "" {
				w.constantNames[model.EnumConstant{Type: out.Name, Value: values[i].Value}] = text
			}
		}
		return out
	}
	out.Description = w.typeDoc(shape.Type)
	if t.key.as == update {
		out.Changes = w.nameOf(shape, plain)
		out.Description = patchDescription(out.Changes, shape.Fields)
	}
	out.Fields = slices.Grow(out.Fields, len(shape.Fields))
	for _, field := range shape.Fields {
		if t.key.as == plain {
			out.Fields = append(out.Fields, field.Param)
			continue
		}
		if field.Param.Updatable() {
			param := w.merged(field, true)
			param.Required, param.Default = false, ""
			out.Fields = append(out.Fields, param)
		}
	}
	return out
}

// patchDescription tells the merge rule (MCP-AQL core §4.5.1) and what cannot be changed (REQ-UP-12). It keeps clear of
// words that the protocol's leak check takes for stack traces (T-29).
func patchDescription(name string, fields []Field) string {
	var readOnly, appendOnly []string
	for _, field := range fields {
		switch {
		case field.Param.ReadOnly:
			readOnly = append(readOnly, field.Param.Name)
		case field.Param.AppendOnly:
			appendOnly = append(appendOnly, field.Param.Name)
		}
	}
	text := fmt.Sprintf("Changes to a %s. Absent fields keep their value, objects merge, arrays replace whole, null removes.", name)
	if len(readOnly) > 0 {
		text += " Read-only: " + strings.Join(readOnly, ", ") + "."
	}
	if len(appendOnly) > 0 {
		text += " Append-only: " + strings.Join(appendOnly, ", ") + "."
	}
	return text
}

// scalarDescription tells how a bare value is written.
func (w *wireTypes) scalarDescription(shape *Shape) string {
	switch shape.Kind {
	case ShapeInt, ShapeUint:
		return strings.TrimSpace("JSON integer. " + w.integerParam(shape).Description)
	case ShapeJSON:
		if kind := ownJSON(shape.Type); kind != "any" {
			return "JSON " + kind + "."
		}
		return "Any JSON value."
	case ShapeTime:
		return "Date and time, RFC 3339."
	case ShapeBytes:
		return "Bytes, base64."
	case ShapeAny:
		return "Any JSON value."
	}
	return "JSON " + wireKind(shape) + "."
}
