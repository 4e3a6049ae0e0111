package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// lint warns of what could serve agents better: missing examples, reasons and descriptions, and texts that the
// protocol's leak check would hold back.
func (b *builder) lint(o operation, h *handled) {
	op := &h.Operation
	warn := func(kind diag.Kind, at source.Span, message, suggestion string) {
		b.Report(at, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeMissing, Kind: kind, FieldPath: o.name(), Message: message,
			Suggestion: suggestion,
		})
	}
	exemplified := slices.ContainsFunc(o.directives, func(d directive) bool { return d.Name == "example" })
	if len(op.Examples) == 0 && !exemplified { // what is wrong with one is reported
		warn(diag.KindExample, o.at(), fmt.Sprintf("operation %s has no example", op.Name),
			"add one above the function, such as //aql:example "+sampleRequest(h.request))
	}
	if op.Danger.Level() >= gen.Destructive.Level() && len(op.Reasons) == 0 {
		warn(diag.KindReason, o.at(),
			fmt.Sprintf("operation %s is %s and gives no reason, which agents see before they confirm",
				op.Name, op.Danger),
			"say above the function what it destroys, such as //aql:reason Removes the note and its history")
	}
	if op.DangerSource == gen.DangerFromPattern {
		warn(diag.KindDanger, o.itemsAt, fmt.Sprintf("operation %s is %s only because of its name", op.Name,
			op.Danger),
			fmt.Sprintf("say so: danger=%s", op.Danger))
	}
	switch {
	case op.DangerSource == gen.DangerFromInput:
		warn(diag.KindReplaces, o.itemsAt,
			fmt.Sprintf("operation %s is destructive because its input replaces what it leaves out", op.Name),
			b.replaceSuggestion(h))
	case h.replaces:
		if name := b.fittingGetter(h); name != "" {
			warn(diag.KindReplaces, o.itemsAt,
				fmt.Sprintf("the input of operation %s replaces what it leaves out", op.Name),
				"write //aql:update get="+name+" above the function, and nothing is lost")
		}
	}
	for _, d := range o.directives {
		if found := words.StaticLeak(d.Text); found != "" && (d.Name == "reason" || d.Name == "confirm") {
			b.warnLeak(d.text, o.name(), d.Name, found)
		}
	}
	visited := make(map[*shapes.Shape]bool)
	eachField(h.request, visited, func(of *shapes.Shape, field *shapes.Field) bool {
		return b.lintField(field, of == h.request)
	})
	b.lintSecrets(o, h)
	b.lintOwnJSON(o, h)
	b.lintQuery(o, h)
	if op.Category != gen.Read { // there the value that is left out filters nothing
		eachField(h.request, make(map[*shapes.Shape]bool), b.lintUnsetEnum)
	}
	clear(visited)
	eachField(h.request, visited, b.lintIdentifier)
	eachField(h.result, visited, b.lintIdentifier)
}

// lintIdentifier warns of an identifier that clients may round. It returns false for a field of another module.
func (b *builder) lintIdentifier(_ *shapes.Shape, field *shapes.Field) bool {
	if !b.isOwn(field) {
		return false
	}
	if field.IsWideIdentifier() {
		suggestion := `add string to its tag, such as aql:"string", and it travels as text in both directions`
		if field.Tag.Field == nil {
			suggestion = fmt.Sprintf("add //aql:param %s string, and it travels as text", field.Var.Name())
		}
		b.Report(field.Tag.At, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeType, Kind: diag.KindWide, FieldPath: field.Path,
			Actual: b.text(field.Var.Type()),
			Message: fmt.Sprintf("identifier %s is a JSON number of 64 bits, which clients in JavaScript round from 2^53 on",
				field.Param.Name),
			Suggestion: suggestion,
		})
	}
	return true
}

// lintUnsetEnum warns of an optional enum whose absence the handler gets as a value that it does not have. It returns
// false where that cannot be: in a patch, what is absent keeps its value.
func (b *builder) lintUnsetEnum(_ *shapes.Shape, field *shapes.Field) bool {
	if shapes.Indirect(field.Shape).Kind == shapes.Patch || !b.isOwn(field) {
		return false
	}
	p := &field.Param
	values := slices.Clone(p.Enum)
	for _, c := range field.Shape.Enum {
		values = append(values, c.Value)
	}
	if field.Shape.Kind != shapes.String || len(values) == 0 || slices.Contains(values, "") ||
		p.Required || p.Default != "" || p.Constant != "" {
		return true
	}
	b.Report(field.Tag.At, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeMissing, Kind: diag.KindUnsetEnum, FieldPath: field.Path,
		Message:    fmt.Sprintf("a request without %s gives the handler \"\", which is none of its values", p.Name),
		Suggestion: fmt.Sprintf("add default=%s or required, make it a pointer, or declare a constant for \"\"", values[0]),
	})
	return true
}

// lintField checks the texts of a field; parameter says that it is a parameter of the operation. It returns false for a
// field of another module.
func (b *builder) lintField(field *shapes.Field, parameter bool) bool {
	if !b.isOwn(field) {
		return false
	}
	if field.Param.Description == "" {
		b.Report(field.Tag.At, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeMissing, Kind: diag.KindDescription, FieldPath: field.Path,
			Message: fmt.Sprintf("parameter %s has no description", field.Param.Name), Suggestion: describeSuggestion(field),
		})
	}
	first := words.FirstSentence(strings.TrimSuffix(field.Param.Description, replaceDescription))
	if found := words.StaticLeak(first); found != "" && parameter && field.Param.Required {
		b.warnLeak(field.Tag.At, field.Path, "description", found)
	}
	return true
}

func describeSuggestion(f *shapes.Field) string {
	if f.Tag.Field == nil {
		return fmt.Sprintf("add //aql:param %s desc='…'", f.Var.Name())
	}
	return "add a comment behind the field, or desc= to its tag"
}

// warnLeak warns of a text that messages leave out.
func (b *builder) warnLeak(at source.Span, path, what, found string) {
	b.Report(at, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeName, Kind: diag.KindLeak, FieldPath: path, Actual: found,
		Message: fmt.Sprintf("the protocol's leak check takes %q in this %s for a stack trace, "+
			"so messages leave the text out",
			found, what),
		Suggestion: "word it differently; the check has no word boundaries, so any word in -at before another one counts",
	})
}

// sampleRequest is an example request with the required parameters.
func sampleRequest(request *shapes.Shape) string {
	var members []string
	for _, field := range request.Fields {
		if field.Param.Required {
			members = append(members, fmt.Sprintf("%q:%s", field.Param.Name, sampleValue(field.Shape)))
		}
	}
	return "{" + strings.Join(members, ",") + "} What it shows"
}

func sampleValue(shape *shapes.Shape) string {
	switch shape = shapes.Indirect(shape); shapes.JSONKind(shape) {
	case "boolean":
		return "true"
	case "integer", "number":
		return "1"
	case "array":
		return "[]"
	case "object":
		return "{}"
	case "date-time":
		return `"2026-01-02T15:04:05Z"`
	}
	if len(shape.Enum) > 0 {
		return fmt.Sprintf("%q", shape.Enum[0].Value)
	}
	return `"…"`
}
