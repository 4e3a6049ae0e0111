package scan

import (
	"fmt"
	"go/types"

	"github.com/aqltag/aqltag/model"
)

// checkDirections reports types that write themselves as text and cannot read it back, or the other way round, where they
// would have to: introspection says one thing about a type, and it must hold for requests and results.
func (s *shaper) checkDirections(o operation, h *handled) bool {
	ok := true
	visited := make(map[*model.Shape]bool)
	var walk func(shape *model.Shape, method, role string, at fieldSource)
	walk = func(shape *model.Shape, method, role string, at fieldSource) {
		if shape == nil || visited[shape] {
			return
		}
		visited[shape] = true
		if shape.Kind == model.ShapeText && !hasMethod(s.goTypes[shape], method) && (method != "MarshalText" || !isText(s.goTypes[shape])) {
			ok = false
			s.report(at.tag.at, Diagnostic{
				Code: codeType, FieldPath: at.path, Actual: s.text(s.goTypes[shape]),
				Message:    fmt.Sprintf("%s travels as text, but it has no method %s, which a %s needs", s.text(s.goTypes[shape]), method, role),
				Suggestion: fmt.Sprintf("add %s to the type, or use string", method),
			})
		}
		if shape.Kind == model.ShapeJSON && role == "request" && !hasMethod(s.goTypes[shape], "UnmarshalJSON") && !hasMethod(s.goTypes[shape], "UnmarshalText") {
			where := at.tag.at
			if at.tag.field != nil {
				where = spanOf(at.tag.field.Type)
			}
			s.report(where, Diagnostic{
				Severity: SeverityWarning, Code: codeType, FieldPath: at.path, Actual: s.text(s.goTypes[shape]),
				Message:    fmt.Sprintf("%s writes its own JSON and has no method to read it back, so nothing tells agents what to send, and what it does not know passes", s.text(s.goTypes[shape])),
				Suggestion: "take a struct of your own there, or add UnmarshalJSON to the type",
			})
		}
		if shape.Key != nil && shape.Key.Kind == model.ShapeText {
			walk(shape.Key, method, role, at)
		}
		walk(shape.Elem, method, role, at)
		if source := s.structs[shape]; source != nil {
			for i, field := range shape.Fields {
				inner := at
				if f := source.fields[i]; s.editable(f.v.Pkg()) { // fields of other modules are told where the user brings them in
					inner = f
				}
				walk(field.Shape, method, role, inner)
			}
		}
	}
	handler := fieldSource{path: o.name(), tag: fieldTag{at: o.at()}}
	walk(h.request, "UnmarshalText", "request", handler)
	clear(visited)
	walk(h.result, "MarshalText", "result", handler)
	return ok
}

// isText reports whether a type that cannot write itself is written as the string it is.
func isText(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

func hasMethod(t types.Type, name string) bool {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
	_, ok := object.(*types.Func)
	return ok
}
