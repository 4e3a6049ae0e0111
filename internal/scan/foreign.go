package scan

import (
	"fmt"
	"strings"
)

// mention is a place in the user's own code that brings a type into an operation.
type mention struct {
	at   span
	role string // what it is, such as "argument options"
	path string // Go path
	text string // the type as it is written there
}

// beneath is a foreign fault with the way to it from the mention.
type beneath struct {
	foreignFault
	way string // Go selectors, such as "SignKey.Revocations[].RSASignature"
}

// reportForeign reports the fields beneath an operation that cannot travel and belong to structs of other modules: where the
// user mentions the outermost of those, for that is what can be changed.
func (s *builder) reportForeign(o operation, h *handled) {
	visited := make(map[*Shape]bool)
	var walk func(shape *Shape, way string) []beneath
	report := func(shape *Shape, m mention) { s.reportMention(m, walk(shape, "")) }
	walk = func(shape *Shape, way string) []beneath {
		if shape == nil || visited[shape] {
			return nil
		}
		visited[shape] = true
		inside := way
		if shape.Kind == ShapeSlice || shape.Kind == ShapeArray || shape.Kind == ShapeMap {
			inside += "[]"
		}
		found := append(walk(shape.Key, way), walk(shape.Elem, inside)...)
		through := make(map[*Declaration][]beneath)
		note := func(f Declaration, faults ...beneath) {
			if f.through == nil {
				found = append(found, faults...)
				return
			}
			through[f.through] = append(through[f.through], faults...)
		}
		for _, f := range shape.Foreign {
			note(f.field, beneath{f, join(way, f.field.v.Name())})
		}
		for _, field := range shape.Fields {
			if s.editable(field.v.Pkg()) {
				report(field.Shape, s.mentionOf(o, field.Declaration))
				continue
			}
			note(field.Declaration, walk(field.Shape, join(way, pathOf(field.Selector)))...)
		}
		for f, faults := range through {
			s.reportMention(s.mentionOf(o, *f), faults)
		}
		return found
	}
	request := mention{path: o.name()}
	if o.request != nil {
		request = mention{s.paramSpan(o), "request of " + o.name(), o.name(), s.text(o.request)}
	}
	report(h.request, request)
	if h.result != nil {
		clear(visited)
		report(h.result, mention{spanOf(o.decl.Type.Results.List[0].Type), "result of " + o.name(), o.name(), s.text(o.result)})
	}
}

// mentionOf is the mention of a type by a field or an argument.
func (s *builder) mentionOf(o operation, f Declaration) mention {
	m := mention{f.tag.at, "field " + f.path, f.path, s.text(f.v.Type())}
	if f.tag.field != nil {
		m.at = spanOf(f.tag.field.Type)
	} else if o.request == nil {
		m.role = "argument " + f.v.Name()
	}
	return m
}

// reportMention reports what is wrong beneath one mention, the first fields by name.
func (s *builder) reportMention(m mention, found []beneath) {
	if len(found) == 0 {
		return
	}
	suggestion := "take a struct of your own with the fields that agents may use, and fill the other from it"
	if strings.HasPrefix(m.role, "result") {
		suggestion = "return a struct of your own with the fields that agents may see"
	}
	const shown = 3
	var texts []string
	var places []Related
	for i, b := range found {
		if i == shown {
			texts = append(texts, fmt.Sprintf("%d more", len(found)-shown))
			break
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", b.way, s.text(b.field.v.Type())))
		places = append(places, s.related(b.field.v.Pos(), fmt.Sprintf("%s: %s", b.field.path, b.fault.message)))
	}
	s.report(m.at, Diagnostic{
		Code: codeType, FieldPath: m.path, Actual: m.text,
		Message:    fmt.Sprintf("%s: %s brings in fields of other modules that cannot be carried as JSON: %s", m.role, m.text, strings.Join(texts, ", ")),
		Suggestion: suggestion, Related: places,
	})
}
