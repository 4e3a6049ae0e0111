package scan

import (
	"fmt"
	"go/types"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// lintOwnJSON warns of types that write their own JSON, and of which nothing is known, each once for a package: at the
// field, or at the operation where the field is in another module.
func (b *builder) lintOwnJSON(o operation, h *handled) {
	visited := make(map[*shapes.Shape]bool)
	eachField(h.request, visited, func(_ *shapes.Shape, field *shapes.Field) bool {
		b.warnOwnJSON(field.Shape, field.Path, b.typeSpan(field, o.at()))
		return true
	})
	if h.result == nil {
		return
	}
	b.warnOwnJSON(h.result, o.name(), o.resultSpan())
	eachField(h.result, visited, func(_ *shapes.Shape, field *shapes.Field) bool {
		b.warnOwnJSON(field.Shape, field.Path, b.typeSpan(field, o.resultSpan()))
		return true
	})
}

// typeSpan is where the type of a field is, or another place if the user cannot edit that.
func (b *builder) typeSpan(field *shapes.Field, otherwise source.Span) source.Span {
	switch {
	case !b.isOwn(field):
		return otherwise
	case field.Tag.Field != nil:
		return source.SpanOf(field.Tag.Field.Type)
	default:
		return field.Tag.At
	}
}

func (b *builder) warnOwnJSON(shape *shapes.Shape, path string, at source.Span) {
	shape = innermost(shape)
	if shape == nil || shape.Kind != shapes.JSON || shape.Own != nil || shape.Message {
		return
	}
	named, ok := shape.Type.(*types.Named)
	if !ok { // no directive can name it
		return
	}
	object := named.Origin().Obj()
	if b.ownJSON[object] {
		return
	}
	if b.ownJSON == nil {
		b.ownJSON = make(map[*types.TypeName]bool)
	}
	b.ownJSON[object] = true
	b.Report(at, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeMissing, Kind: diag.KindOwnJSON, FieldPath: path, Actual: b.text(named),
		Message: fmt.Sprintf("agents see values of %s as any: it writes its own JSON", b.text(named)),
		Suggestion: fmt.Sprintf("say in package %s what they are, such as //aql:type %s string; describe values of several "+
			"kinds with desc= alone", b.own.Name(), b.nameFor(object.Pkg(), object.Name(), at)),
	})
}

// innermost is the shape of the elements of lists and maps in a shape; nil: there is none.
func innermost(shape *shapes.Shape) *shapes.Shape {
	for range 16 {
		shape = shapes.Indirect(shape)
		if shape == nil || !shapes.HasItems(shape) {
			break
		}
		shape = shape.Elem
	}
	return shape
}
