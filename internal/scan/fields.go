package scan

import (
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// eachField calls visit for the fields of a shape and, where visit returns true, for those of the objects in the field.
// of is the struct that has the field. Shapes in visited are left out, and added to it.
func eachField(
	shape *shapes.Shape, visited map[*shapes.Shape]bool, visit func(of *shapes.Shape, field *shapes.Field) bool,
) {
	if shape == nil || visited[shape] {
		return
	}
	visited[shape] = true
	for i := range shape.Fields {
		if field := &shape.Fields[i]; visit(shape, field) {
			eachField(field.Shape, visited, visit)
		}
	}
	eachField(shape.Elem, visited, visit)
}

// isOwn reports whether a field is declared in the user's source. Those of aql.Query are not, also in a workspace that
// has the runtime.
func (b *builder) isOwn(field *shapes.Field) bool {
	return field.Tag.At.Start != 0 && field.Var != nil && source.InMainModule(b.Packages[field.Var.Pkg()]) &&
		!isQueryField(*field)
}
