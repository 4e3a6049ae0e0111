package scan

import (
	"fmt"
	"go/types"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
)

// lintSecrets reports fields of results whose names mean secrets, each once for a package: at the field, or at the
// result of the first operation that has it where the field is in another module.
func (b *builder) lintSecrets(o operation, h *handled) {
	if h.result == nil {
		return
	}
	if b.secrets == nil {
		b.secrets = make(map[*types.Var]bool)
	}
	eachField(h.result, make(map[*shapes.Shape]bool), func(_ *shapes.Shape, field *shapes.Field) bool {
		if !naming.IsSecret(field.Param.Name) || field.Param.Sensitive || !holdsText(field.Shape) ||
			b.secrets[field.Var.Origin()] {
			return true
		}
		b.secrets[field.Var.Origin()] = true
		at, suggestion := field.Tag.At,
			`keep it from agents with json:"-", or from results alone with aql:"sensitive"; if agents are to see it, say why `+
				"with //aql:nolint behind the field"
		if !b.isOwn(field) {
			at = o.resultSpan()
			suggestion = fmt.Sprintf("write //aql:hide %s in this file; if agents are to see it, say why with "+
				"//aql:nolint there", b.nameFor(field.Var.Pkg(), field.Path, at))
		}
		b.Report(at, diag.Diagnostic{
			Code: diag.CodeName, Kind: diag.KindSecret, FieldPath: field.Path, Actual: field.Param.Name,
			Message:    fmt.Sprintf("results of %s show %s, whose name means a secret", h.Operation.Name, field.Param.Name),
			Suggestion: suggestion,
		})
		return true
	})
}

// holdsText reports whether a shape holds what could be a secret: texts, binary data, or anything.
func holdsText(shape *shapes.Shape) bool {
	shape = innermost(shape)
	switch {
	case shape == nil:
		return false
	case shape.Kind == shapes.String:
		return len(shape.Enum) == 0
	case shape.Kind == shapes.Bytes, shape.Kind == shapes.Text, shape.Kind == shapes.Any:
		return true
	default:
		return shape.Kind == shapes.JSON && (shapes.JSONKind(shape) == "string" || shapes.JSONKind(shape) == "any")
	}
}
