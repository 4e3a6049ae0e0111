package scan

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/runtime/gen"
)

// addTyped sets the parameter whose value a person types back before the operation runs. Every request has a value for
// it, which the person sees and can type.
func (b *builder) addTyped(d directive, handler *handled) {
	op := &handler.Operation
	at := source.Span{Start: d.param, End: source.EndOf(d.param, d.Param)}
	report := func(code, message, suggestion string) {
		b.Report(at, diag.Diagnostic{
			Code: code, FieldPath: handler.Func, Actual: d.Param, Message: message, Suggestion: suggestion,
		})
	}
	fields := handler.request.Fields
	i := slices.IndexFunc(fields, func(f shapes.Field) bool { return f.Param.Name == d.Param })
	if i < 0 {
		var names []string
		for _, field := range fields {
			names = append(names, field.Param.Name)
		}
		report(diag.CodeUnresolved,
			fmt.Sprintf("//aql:confirm has people type {%s}, and there is no such parameter", d.Param),
			diag.DidYouMean(d.Param, names))
		return
	}
	field := &fields[i]
	switch p := &field.Param; {
	case !typable(field.Shape):
		report(diag.CodeType,
			fmt.Sprintf("//aql:confirm has people type {%s}, which is neither a text nor a number or a boolean", p.Name),
			"name a parameter that says what the call is about, such as its identifier")
	case p.Sensitive:
		report(diag.CodeType, fmt.Sprintf("//aql:confirm has people type {%s}, which is sensitive: they would not see it",
			p.Name), "name a parameter that may be shown")
	case !p.Required:
		report(diag.CodeType, fmt.Sprintf("//aql:confirm has people type {%s}, which a request may leave out", p.Name),
			"add required to the parameter, or name one that has it")
	case op.Danger.Level() >= 0 && op.Danger.Level() < gen.Destructive.Level():
		report(diag.CodeType,
			fmt.Sprintf("//aql:confirm has people type {%s}, and %s is only %s", p.Name, op.Name, op.Danger),
			"say danger=destructive or more, or remove type=")
	default:
		op.TypeToConfirm = p.Name
	}
}

// typable reports whether people can type the values of a shape.
func typable(shape *shapes.Shape) bool {
	switch shapes.JSONKind(shapes.Indirect(shape)) {
	case "string", "integer", "number", "boolean", "date-time":
		return true
	}
	return false
}
