package scan

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// checkRequest checks the parameters of an operation, and sets what follows from its category.
func (b *builder) checkRequest(o operation, handler *handled) {
	update := handler.Operation.Category == gen.Update
	if update && !hasInput(handler.request) {
		b.nestInput(o, handler)
	}
	b.mergeThroughGetter(o, handler)
	input := -1
	eachField(handler.result, make(map[*shapes.Shape]bool), b.checkNoDryRun)
	for i, f := range handler.request.Fields {
		if naming.IsReservedField(f.Param.Name) {
			b.Report(f.Tag.NameAt, diag.Diagnostic{
				Code: diag.CodeName, FieldPath: f.Path, Actual: f.Param.Name,
				Message:    fmt.Sprintf("parameter name %q begins with an underscore, which is for metadata", f.Param.Name),
				Suggestion: naming.Use(f.Param.Name),
			})
			continue
		}
		b.checkProtocolName(f)
		for _, key := range []string{"readonly", "appendonly", "preset", "filter", "sort", "group", "sum", "search"} {
			if item, ok := f.Tag.Item(key); ok {
				b.Report(item.At, diag.Diagnostic{
					Code: diag.CodeType, FieldPath: f.Path,
					Message:    fmt.Sprintf("%s has no meaning on a request parameter; it is for the fields of resources", key),
					Suggestion: "remove it",
				})
			}
		}
		b.checkDryRun(handler, i)
		if f.Param.Name == "input" && update {
			input = i
		}
		if shapes.Indirect(f.Shape).Kind == shapes.Patch &&
			(!update || f.Param.Name != "input" || f.Shape.Kind == shapes.Pointer) {
			b.Report(f.Tag.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: f.Path, Actual: b.text(f.Var.Type()),
				Message:    fmt.Sprintf("field %s: aql.Patch is for the parameter input of an UPDATE operation", f.Path),
				Suggestion: "name the field Input with type aql.Patch[T] and use category=UPDATE",
			})
		}
	}
	b.addComputed(handler)
	b.checkCollection(o, handler)
	b.checkSelection(handler)
	if !update || input < 0 && handler.request.Faulty {
		return
	}
	if input < 0 {
		b.Report(o.itemsAt, diag.Diagnostic{
			Code: diag.CodeMissing, FieldPath: o.name(), Expected: "a field with the wire name input",
			Message: fmt.Sprintf("UPDATE operation %s has no parameter input: what changes travels in a nested object",
				handler.Operation.Name),
			Suggestion: b.inputSuggestion(o, handler.request),
		})
		return
	}
	field := &handler.request.Fields[input]
	if kind := shapes.Indirect(field.Shape).Kind; kind != shapes.Patch && kind != shapes.Struct {
		b.Report(field.Tag.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: field.Path, Expected: "aql.Patch[T] or a struct", Actual: b.text(field.Var.Type()),
			Message:    "input of an UPDATE operation must be an object",
			Suggestion: "use aql.Patch[T] or a struct whose fields are pointers",
		})
	}
	field.Param.Required = true // MCP-AQL core §4.5
	b.describeInput(o, handler, input)
}

// tokenName is the parameter of the protocol by which a request is confirmed. It never reaches a handler.
const tokenName = "confirmation_token"

// checkProtocolName reports a parameter that requests cannot give, because its name is one of the protocol's.
func (b *builder) checkProtocolName(f shapes.Field) {
	if f.Param.Name != tokenName && !slices.Contains(f.Param.Aliases, tokenName) {
		return
	}
	b.Report(f.Tag.NameAt, diag.Diagnostic{
		Code: diag.CodeName, FieldPath: f.Path, Actual: tokenName,
		Message: fmt.Sprintf("parameter name %q is the protocol's: it confirms a request and does not reach the handler",
			tokenName),
		Suggestion: "choose another name with name=",
	})
}

// inputSuggestion suggests how an update gets its input. A request with one object may only need another name for it.
func (b *builder) inputSuggestion(o operation, request *shapes.Shape) string {
	for _, field := range request.Fields {
		if shapes.Indirect(field.Shape).Kind == shapes.Struct && !b.Editable(field.Var.Pkg()) {
			return fmt.Sprintf("name what changes with //aql:param %s name=input, or the identifiers with ids=",
				field.Param.Name)
		}
	}
	if o.adopted != nil {
		return "name the parameters that identify what changes with ids=; the others travel in input"
	}
	return "add a field such as Input aql.Patch[T] `json:\"input\"`, or name the identifiers with ids="
}

func hasInput(request *shapes.Shape) bool {
	return slices.ContainsFunc(request.Fields, func(f shapes.Field) bool { return f.Param.Name == "input" })
}
