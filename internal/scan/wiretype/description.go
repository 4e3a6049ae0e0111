package wiretype

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// quotedForm describes a value that travels in a string (MCP-AQL core §4.7.3).
func quotedForm(shape *shapes.Shape) string {
	if shape.Kind == shapes.Int || shape.Kind == shapes.Uint {
		return "An integer, as a string; a number is accepted between -(2^53-1) and 2^53-1."
	}
	return "A JSON " + shapes.JSONKind(shape) + ", as a string."
}

// quotedPattern is the pattern of a number in a string, empty for other values.
func quotedPattern(shape *shapes.Shape) string {
	switch shape.Kind {
	case shapes.Int:
		return gen.PatternInteger
	case shapes.Uint:
		return gen.PatternNatural
	case shapes.Float, shapes.Number:
		return gen.PatternNumber
	}
	return ""
}

// quotedEnum lists the values of a boolean in a string.
func quotedEnum(shape *shapes.Shape) []string {
	if shape.Kind == shapes.Bool {
		return []string{"true", "false"}
	}
	return nil
}

// quotesBounds reports whether the bounds of a type are told of its values in strings: where its integers have fewer
// than 64 bits.
func quotesBounds(shape *shapes.Shape) bool {
	return (shape.Kind == shapes.Int || shape.Kind == shapes.Uint) && shape.Bits > 0 && shape.Bits < 64
}

// patchDescription describes the merge rule (MCP-AQL core §4.5.1), what a new object needs if a patch may create one,
// and the fields of the resource that cannot be changed. It avoids words that the protocol's leak check takes for a
// stack trace.
func patchDescription(patch *gen.Type, fields []shapes.Field, creatable bool) string {
	var required, readOnly, appendOnly []string
	for _, field := range fields {
		if field.Param.Required && field.Param.Updatable() {
			required = append(required, field.Param.Name)
		}
		switch {
		case field.Param.ReadOnly:
			readOnly = append(readOnly, field.Param.Name)
		case field.Param.AppendOnly:
			appendOnly = append(appendOnly, field.Param.Name)
		}
	}
	text := "Changes to a " + patch.Changes + ". Absent fields keep their value, objects merge, arrays replace whole"
	if slices.ContainsFunc(patch.Fields, func(p gen.Param) bool { return p.Nullable }) {
		text += ", null removes what may be null"
	}
	text += "."
	if len(required) > 0 && creatable {
		text += " A new one needs: " + strings.Join(required, ", ") + "."
	}
	if len(readOnly) > 0 {
		text += " Read-only: " + strings.Join(readOnly, ", ") + "."
	}
	if len(appendOnly) > 0 {
		text += " Append-only: " + strings.Join(appendOnly, ", ") + "."
	}
	return text
}

// scalarDescription describes how a bare value is written.
func (s *Set) scalarDescription(shape *shapes.Shape) string {
	switch shape.Kind {
	case shapes.Int, shapes.Uint:
		if shape.Quoted {
			return "JSON integer in a string."
		}
		return strings.TrimSpace("JSON integer. " + s.integerParam(shape).Description)
	case shapes.JSON:
		if kind := shapes.JSONKind(shape); kind != "any" {
			return "JSON " + kind + "."
		}
		return "Any JSON value."
	case shapes.Time:
		return "Date and time, RFC 3339."
	case shapes.Bytes:
		return "Bytes, base64."
	case shapes.Any:
		return "Any JSON value."
	}
	return "JSON " + shapes.JSONKind(shape) + "."
}
