package scan

import (
	"fmt"
	"go/types"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// checkDirections reports types that can be written as text but not read, or the other way round, where an operation
// needs both. Introspection describes a type once, for requests and results.
func (b *builder) checkDirections(o operation, h *handled) bool {
	ok := true
	visited := make(map[*shapes.Shape]bool)
	var walk func(shape *shapes.Shape, method, role string, at shapes.Declaration)
	walk = func(shape *shapes.Shape, method, role string, at shapes.Declaration) {
		if shape == nil || visited[shape] {
			return
		}
		visited[shape] = true
		if shape.Kind == shapes.Text && !hasMethod(shape.Type, method) && (method != "MarshalText" || !isText(shape.Type)) {
			ok = false
			b.Report(at.Tag.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: at.Path, Actual: b.text(shape.Type),
				Message: fmt.Sprintf("%s travels as text, but it has no method %s, which a %s needs", b.text(shape.Type), method,
					role),
				Suggestion: fmt.Sprintf("add %s to the type, or use string", method),
			})
		}
		if shape.Kind == shapes.JSON && !shape.Message && role == "request" && !hasMethod(shape.Type, "UnmarshalJSON") &&
			!hasMethod(shape.Type, "UnmarshalText") {
			where := at.Tag.At
			if at.Tag.Field != nil {
				where = source.SpanOf(at.Tag.Field.Type)
			}
			b.Report(where, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeType, FieldPath: at.Path, Actual: b.text(shape.Type),
				Message: fmt.Sprintf("%s writes its own JSON and has no method to read it back, "+
					"so nothing tells agents what to send, and what it does not know passes",
					b.text(shape.Type)),
				Suggestion: "take a struct of your own there, or add UnmarshalJSON to the type",
			})
		}
		if shape.Key != nil && shape.Key.Kind == shapes.Text {
			walk(shape.Key, method, role, at)
		}
		walk(shape.Elem, method, role, at)
		for _, field := range shape.Fields {
			inner := at
			if b.Editable(field.Var.Pkg()) { // faults in other modules are reported where the user's code uses the type
				inner = field.Declaration
			}
			walk(field.Shape, method, role, inner)
		}
	}
	handler := shapes.Declaration{Path: o.name(), Tag: tags.Tag{At: o.at()}}
	walk(h.request, "UnmarshalText", "request", handler)
	clear(visited)
	walk(h.result, "MarshalText", "result", handler)
	return ok
}

// isText reports whether a type without MarshalText is written as the string that it is.
func isText(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

func hasMethod(t types.Type, name string) bool {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
	_, ok := object.(*types.Func)
	return ok
}
