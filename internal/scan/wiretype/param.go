package wiretype

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// wireParam is the wire type of a value of a shape. For `type Tree []Tree` it is a list of lists, whose description
// says what they hold.
func (s *Set) wireParam(shape *shapes.Shape, inPatch bool) gen.Param {
	elem := func(inPatch bool) *gen.Param {
		outer := slices.Index(s.open, shape)
		s.open = append(s.open, shape)
		defer func() { s.open = s.open[:len(s.open)-1] }()
		if outer >= 0 { // it describes the inner one
			return nil
		}
		param := s.wireParam(shape.Elem, inPatch)
		return &param
	}
	if shape.Own != nil {
		return s.ownParam(shape)
	}
	switch shape.Kind {
	case shapes.Bool, shapes.Number:
		return gen.Param{Type: shapes.JSONKind(shape)}
	case shapes.Float:
		param := gen.Param{Type: "number"}
		if shape.Bits == 32 {
			param.Format = gen.FormatFloat
		}
		return param
	case shapes.Any:
		return gen.Param{Type: "any", Nullable: true}
	case shapes.Int, shapes.Uint:
		return s.integerParam(shape)
	case shapes.Selection:
		return gen.Param{Type: gen.TypeSelection}
	case shapes.Text:
		param := gen.Param{Type: "string", Format: textFormat(shape.Type)}
		if param.Format == "" {
			param.Description = ownForm
		}
		return param
	case shapes.JSON:
		return gen.Param{Type: "any"}
	case shapes.String:
		param := gen.Param{Type: "string"}
		if len(shape.Enum) > 0 {
			param.Type = s.nameOf(shape, plain)
			for _, constant := range shape.Enum {
				param.Enum = append(param.Enum, constant.Value)
			}
			return param
		}
		param.Description = s.knownValues(shape.Type)
		return param
	case shapes.Time:
		return gen.Param{Type: "string", Format: "date-time"}
	case shapes.Bytes:
		return gen.Param{Type: "string", Format: "byte"}
	case shapes.Pointer, shapes.Optional, shapes.SQLNull:
		param := s.wireParam(shape.Elem, inPatch)
		param.Nullable = true
		return param
	case shapes.Slice, shapes.Array:
		param := gen.Param{Type: "array", Items: elem(false)}
		param.Description = cmp.Or(formOfItems(param.Items), s.likeOuter(shape, "elements", "list"))
		if shape.Kind == shapes.Array {
			param.MinItems, param.MaxItems = shape.Len, shape.Len
		}
		return param
	case shapes.Map:
		param := gen.Param{Type: "object", Items: elem(inPatch), Keys: s.keysOf(shape.Key)}
		param.Description = cmp.Or(formOfItems(param.Items), s.likeOuter(shape, "values", "map"))
		return param
	case shapes.Patch:
		return gen.Param{Type: s.nameOf(shape.Elem, update)}
	case shapes.Filter:
		return gen.Param{Type: s.nameOf(shape, plain)}
	case shapes.Struct:
		if inPatch {
			return gen.Param{Type: s.nameOf(shape, update)}
		}
		return gen.Param{Type: s.nameOf(shape, plain)}
	}
	return gen.Param{Type: "any"}
}

// ownParam is the wire type of a type that writes itself and of which something is known, or of one that an //aql:type
// constrains.
func (s *Set) ownParam(shape *shapes.Shape) gen.Param {
	if shape.Kind == shapes.JSON || shape.Kind == shapes.Text {
		param := *shape.Own
		param.Format = cmp.Or(param.Format, textFormat(shape.Type))
		return param
	}
	plain := *shape
	plain.Own = nil
	param, own := s.wireParam(&plain, false), shape.Own
	param.MinLength, param.MaxLength, param.Pattern, param.Format = own.MinLength, own.MaxLength, own.Pattern, own.Format
	param.Minimum, param.Maximum = cmp.Or(own.Minimum, param.Minimum), cmp.Or(own.Maximum, param.Maximum)
	param.Description = cmp.Or(own.Description, param.Description)
	if len(own.Enum) > 0 {
		param.Type, param.Enum = "string", own.Enum
	}
	return param
}

// ownForm describes a text that only its type can read.
const ownForm = "In a form that the service checks."

// likeOuter describes the elements of a list or map in itself, whose wire type ends there; empty: it is not in itself.
func (s *Set) likeOuter(shape *shapes.Shape, elements, kind string) string {
	switch outer := slices.Index(s.open, shape); {
	case outer < 0:
		return ""
	case outer == len(s.open)-1:
		return fmt.Sprintf("Its %s are like those of the %s around it.", elements, kind)
	default:
		return fmt.Sprintf("Its %s are like those of the %s %d levels further out.", elements, kind, len(s.open)-outer)
	}
}

// formOfItems describes the form of the elements of a list or map, which have no description of their own.
func formOfItems(items *gen.Param) string {
	if items != nil && items.Description == ownForm {
		return "Values are in a form that the service checks."
	}
	return ""
}

// keysOf is the wire type of the keys of a map; nil: every text is one.
func (s *Set) keysOf(key *shapes.Shape) *gen.Param {
	switch key = shapes.KeyOf(key); key.Kind {
	case shapes.Int, shapes.Uint:
		param := s.integerParam(key)
		return &param
	case shapes.Text:
		return &gen.Param{Type: "string", Format: textFormat(key.Type)}
	case shapes.Time:
		return &gen.Param{Type: "string", Format: "date-time"}
	}
	return nil
}

// merged is the parameter of a field: the wire type of its shape with what its tags add.
func (s *Set) merged(field shapes.Field, inPatch bool) gen.Param {
	param, wire := field.Param, s.wireParam(field.Shape, inPatch)
	if field.Param.Quoted {
		shape := shapes.Indirect(field.Shape)
		wire.Description = strings.TrimSpace(wire.Description + " " + quotedForm(shape))
		param.Pattern = cmp.Or(quotedPattern(shape), param.Pattern)
		wire.Format, wire.Enum = "", slices.Concat(wire.Enum, quotedEnum(shape))
	} else {
		param.Pattern = cmp.Or(param.Pattern, wire.Pattern)
		param.MinLength, param.MaxLength = cmp.Or(param.MinLength, wire.MinLength), cmp.Or(param.MaxLength, wire.MaxLength)
	}
	param.Type, param.Keys = wire.Type, wire.Keys
	param.Items = mergeItems(param.Items, wire.Items, shapes.Indirect(field.Shape).Elem)
	param.FormatRule = isFormatRule(shapes.Indirect(field.Shape), param.Format)
	param.Format = cmp.Or(param.Format, wire.Format)
	if !field.Param.Quoted && param.Minimum == "" && param.Maximum == "" {
		param.Minimum, param.Maximum = wire.Minimum, wire.Maximum
	}
	if shape := shapes.Indirect(field.Shape); !field.Param.Quoted || quotesBounds(shape) {
		low, high := shapes.TypeBounds(shape)
		param.Minimum, param.Maximum = cmp.Or(param.Minimum, low), cmp.Or(param.Maximum, high)
		if shape.Kind == shapes.JSON || shape.Kind == shapes.Float {
			param.Minimum, param.Maximum = cmp.Or(param.Minimum, wire.Minimum), cmp.Or(param.Maximum, wire.Maximum)
		}
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

// isFormatRule reports whether a format, which requests have to have, is that of a text.
func isFormatRule(shape *shapes.Shape, format string) bool {
	return shape.Kind == shapes.String && (format == "date" || format == "date-time")
}

// mergeItems is the wire type of a field's elements with what tags add.
func mergeItems(said, wire *gen.Param, shape *shapes.Shape) *gen.Param {
	if said == nil || wire == nil {
		return wire
	}
	out := *wire
	out.MinLength, out.MaxLength = cmp.Or(said.MinLength, wire.MinLength), cmp.Or(said.MaxLength, wire.MaxLength)
	out.MinItems, out.MaxItems = max(said.MinItems, wire.MinItems), cmp.Or(said.MaxItems, wire.MaxItems)
	out.Minimum, out.Maximum = cmp.Or(said.Minimum, wire.Minimum), cmp.Or(said.Maximum, wire.Maximum)
	out.Pattern, out.Format = cmp.Or(said.Pattern, wire.Pattern), cmp.Or(said.Format, wire.Format)
	out.FormatRule = isFormatRule(shapes.Indirect(shape), said.Format)
	if len(said.Enum) > 0 {
		if len(wire.Enum) > 0 && !slices.Equal(said.Enum, wire.Enum) {
			out.Type = "string" // the field allows less than the type of its elements
		}
		out.Enum = said.Enum
	}
	shape = shapes.Indirect(shape)
	out.Items = mergeItems(said.Items, wire.Items, shape.Elem)
	if said.Quoted {
		out.Type, out.Quoted, out.Description, out.Pattern = "string", true, quotedForm(shape), quotedPattern(shape)
		out.Minimum, out.Maximum = said.Minimum, said.Maximum
		if quotesBounds(shape) {
			low, high := shapes.TypeBounds(shape)
			out.Minimum, out.Maximum = cmp.Or(said.Minimum, low), cmp.Or(said.Maximum, high)
		}
	}
	return &out
}

// isNullable reports whether a field of a struct is nullable. In a resource it is if results write null for it. In any
// other request null is absence, from which only an aql.Optional distinguishes it.
func isNullable(field shapes.Field, resource bool) bool {
	switch shape := field.Shape; {
	case shape.Kind == shapes.Optional:
		return resource || !field.Param.Required
	case !resource:
		return false
	case !field.Param.OmitEmpty && !field.Param.OmitZero:
		return shapes.IsNullable(shape)
	default:
		return shape.Kind == shapes.Pointer && shapes.IsNullable(shape.Elem) || shape.Kind == shapes.SQLNull
	}
}

// Complete fills in what the parameters of all fields in a shape get from their types. It comes after AssignNames.
func (s *Set) Complete(shape *shapes.Shape) {
	if shape == nil || s.completed[shape] {
		return
	}
	s.completed[shape] = true
	s.Complete(shape.Key)
	s.Complete(shape.Elem)
	for _, arg := range shape.Go.Args {
		s.Complete(arg)
	}
	for i := range shape.Fields {
		field := &shape.Fields[i]
		s.Complete(field.Shape)
		field.Param = s.merged(*field, false)
		field.Param.Nullable = isNullable(*field, s.resources[shape])
	}
	for i := range shape.Computed {
		field := &shape.Computed[i]
		s.Complete(field.Shape)
		field.Param = s.merged(*field, false)
		field.Param.Nullable = isNullable(*field, true)
	}
	excludeOthers(shape.Fields)
}

// excludeOthers says of each member of a oneof which fields exclude it.
func excludeOthers(fields []shapes.Field) {
	for i := range fields {
		f := &fields[i]
		f.Param.Excludes = nil
		for j := range fields {
			if i != j && f.OneOf != "" && fields[j].OneOf == f.OneOf && fields[j].Param.Constant == "" {
				f.Param.Excludes = append(f.Param.Excludes, fields[j].Param.Name)
			}
		}
	}
}
