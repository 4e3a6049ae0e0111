package scan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/runtime/gen"
)

// addDirectives adds the examples, reasons and confirmation message above a handler to its operation.
func (b *builder) addDirectives(o operation, handler *handled) {
	op := &handler.Operation
	confirmed := false
	for _, d := range o.directives {
		if d.faulty || handler.request.Faulty {
			continue
		}
		switch d.Name {
		case "example":
			b.addExample(o, d, handler)
		case "reason":
			op.Reasons = append(op.Reasons, d.Text)
		case "confirm":
			if confirmed {
				b.Report(d.at, diag.Diagnostic{
					Code: diag.CodeDuplicate, FieldPath: o.name(), Message: "there is more than one //aql:confirm",
					Suggestion: "remove one of them",
				})
				continue
			}
			confirmed = true
			op.Confirm = d.Text
			b.checkTemplate(o, d, handler.request)
			if d.Param != "" {
				b.addTyped(d, handler)
			}
		}
	}
}

// addExample adds an example request if the operation would accept it.
func (b *builder) addExample(o operation, d directive, handler *handled) {
	fail := func(at source.Span, code, message, suggestion string) {
		b.Report(at, diag.Diagnostic{Code: code, FieldPath: o.name(), Message: message, Suggestion: suggestion})
	}
	text := strings.TrimSpace(d.Example)
	at := source.Span{Start: d.text.Start, End: source.EndOf(d.text.Start, text)}
	value, err := jsonvalue.Parse(text)
	if err != nil {
		fail(at, diag.CodeType, fmt.Sprintf("example is not valid JSON: %v", err),
			`write it like //aql:example {"title":"Buy milk"} text`)
		return
	}
	params, ok := value.(map[string]any)
	if !ok {
		fail(at, diag.CodeType, fmt.Sprintf("example must be an object with parameters, not %s", jsonvalue.KindOf(value)),
			`write it like {"title":"Buy milk"}`)
		return
	}
	faults := jsonvalue.CheckObject(handler.request, params)
	for _, fault := range faults {
		place, suggestion := at, ""
		name, offset := named(text, fault.Path)
		if offset >= 0 && fault.Code != diag.CodeMissing {
			start := at.Start + token.Pos(offset)
			place = source.Span{Start: start, End: source.EndOf(start, jsonvalue.Quote(name))}
		}
		if len(fault.Allowed) > 0 {
			suggestion = diag.DidYouMean(name, fault.Allowed)
		}
		message := fault.Message
		if fault.Code == diag.CodeType {
			message = fmt.Sprintf("parameter %q: %s", fault.Path, message)
		}
		fail(place, fault.Code, "example: "+message, suggestion)
	}
	if len(faults) == 0 {
		handler.Operation.Examples = append(handler.Operation.Examples, gen.Example{
			Params: jsonvalue.Compact(text), Description: d.Description,
		})
	}
}

// named returns the name in a JSON text in which a path ends, and its offset; -1: the text does not have it. The names
// of filters may be paths themselves.
func named(text, path string) (name string, offset int) {
	start := strings.LastIndexByte(path, '.') + 1
	last, _, _ := strings.Cut(path[start:], "[")
	for {
		name, _, _ = strings.Cut(path[start:], "[")
		if offset = strings.Index(text, jsonvalue.Quote(name)); offset >= 0 {
			return name, offset
		}
		if start == 0 {
			return last, -1
		}
		start = strings.LastIndexByte(path[:start-1], '.') + 1
	}
}

// checkTemplate reports names in a confirmation message that are not parameters of the operation.
func (b *builder) checkTemplate(o operation, d directive, request *shapes.Shape) {
	var names []string
	for _, field := range request.Fields {
		names = append(names, field.Param.Name)
	}
	for offset := 0; ; {
		open := strings.IndexByte(d.Text[offset:], '{')
		if open < 0 {
			return
		}
		open += offset
		length := strings.IndexByte(d.Text[open:], '}')
		if length < 0 {
			start := d.text.Start + token.Pos(open)
			b.Report(source.Span{Start: start, End: start + 1}, diag.Diagnostic{
				Code: diag.CodeUnresolved, FieldPath: o.name(), Message: "{ without } in the confirmation message",
				Suggestion: "write {param}",
			})
			return
		}
		name := d.Text[open+1 : open+length]
		// {input.title} is a part of the parameter input.
		if top, _, _ := strings.Cut(name, "."); !slices.Contains(names, top) {
			start := d.text.Start + token.Pos(open)
			b.Report(source.Span{Start: start, End: start + token.Pos(length) + 1}, diag.Diagnostic{
				Code: diag.CodeUnresolved, FieldPath: o.name(), Actual: name,
				Message:    fmt.Sprintf("confirmation message names {%s}, and there is no such parameter", name),
				Suggestion: diag.DidYouMean(name, names),
			})
		}
		offset = open + length + 1
	}
}
