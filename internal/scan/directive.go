package scan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// addDirectives adds what the directives above a handler say about its operation.
func (s *builder) addDirectives(o operation, handler *handled) {
	op := &handler.Operation
	confirmed := false
	for _, d := range o.directives {
		if d.faulty || handler.request.Faulty {
			continue
		}
		switch d.Name {
		case "example":
			s.addExample(o, d, handler)
		case "reason":
			op.Reasons = append(op.Reasons, d.Text)
		case "confirm":
			if confirmed {
				s.report(d.at, Diagnostic{
					Code: codeDuplicate, FieldPath: o.name(), Message: "there is more than one //aql:confirm", Suggestion: "remove one of them",
				})
				continue
			}
			confirmed = true
			op.Confirm = d.Text
			s.checkTemplate(o, d, handler.request)
		}
	}
}

// addExample adds an example request if it is one that the operation would accept.
func (s *builder) addExample(o operation, d directive, handler *handled) {
	fail := func(at span, code, message, suggestion string) {
		s.report(at, Diagnostic{Code: code, FieldPath: o.name(), Message: message, Suggestion: suggestion})
	}
	text := strings.TrimSpace(d.Example)
	at := span{d.text.start, endOf(d.text.start, text)}
	value, err := parseJSON(text)
	if err != nil {
		fail(at, codeType, fmt.Sprintf("example is not valid JSON: %v", err), `write it like //aql:example {"title":"Buy milk"} text`)
		return
	}
	params, ok := value.(map[string]any)
	if !ok {
		fail(at, codeType, fmt.Sprintf("example must be an object with parameters, not %s", jsonKind(value)), `write it like {"title":"Buy milk"}`)
		return
	}
	faults := checkObject(handler.request, params)
	for _, fault := range faults {
		place, suggestion := at, ""
		name := fault.path[strings.LastIndexByte(fault.path, '.')+1:]
		if name, _, _ = strings.Cut(name, "["); fault.code != codeMissing {
			if i := strings.Index(text, quoteJSON(name)); i >= 0 {
				start := at.start + token.Pos(i)
				place = span{start, endOf(start, quoteJSON(name))}
			}
		}
		if len(fault.allowed) > 0 {
			suggestion = suggestWord(name, fault.allowed)
		}
		message := fault.message
		if fault.code == codeType {
			message = fmt.Sprintf("parameter %q: %s", fault.path, message)
		}
		fail(place, fault.code, "example: "+message, suggestion)
	}
	if len(faults) == 0 {
		handler.Operation.Examples = append(handler.Operation.Examples, gen.Example{Params: compactJSON(text), Description: d.Description})
	}
}

// checkTemplate reports the parameters that a confirmation message names and the operation does not have.
func (s *builder) checkTemplate(o operation, d directive, request *Shape) {
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
			start := d.text.start + token.Pos(open)
			s.report(span{start, start + 1}, Diagnostic{
				Code: codeUnresolved, FieldPath: o.name(), Message: "{ without } in the confirmation message", Suggestion: "write {param}",
			})
			return
		}
		name := d.Text[open+1 : open+length]
		// {input.title} names a part of a parameter.
		if top, _, _ := strings.Cut(name, "."); !slices.Contains(names, top) {
			start := d.text.start + token.Pos(open)
			s.report(span{start, start + token.Pos(length) + 1}, Diagnostic{
				Code: codeUnresolved, FieldPath: o.name(), Actual: name,
				Message: fmt.Sprintf("confirmation message names {%s}, and there is no such parameter", name), Suggestion: suggestWord(name, names),
			})
		}
		offset = open + length + 1
	}
}
