package scan

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// mention is a place in the user's own code that brings a type into an operation.
type mention struct {
	at   source.Span
	role string // such as "argument options"
	path string // Go path
	text string // the type as the source has it
}

// nestedFault is a field of another module that cannot be carried, with the way to it from a mention.
type nestedFault struct {
	shapes.ForeignFault
	way string // Go selectors, such as "SignKey.Revocations[].RSASignature"
}

// reportForeign reports the fields of structs of other modules that cannot be carried. Each is reported where the
// user's own code mentions the outermost of those structs, because that is what the user can change.
func (b *builder) reportForeign(o operation, h *handled) {
	visited := make(map[*shapes.Shape]bool)
	var walk func(shape *shapes.Shape, way string) []nestedFault
	report := func(shape *shapes.Shape, m mention) { b.reportMention(m, walk(shape, "")) }
	walk = func(shape *shapes.Shape, way string) []nestedFault {
		if shape == nil || visited[shape] {
			return nil
		}
		visited[shape] = true
		inside := way
		if shape.Kind == shapes.Slice || shape.Kind == shapes.Array || shape.Kind == shapes.Map {
			inside += "[]"
		}
		found := append(walk(shape.Key, way), walk(shape.Elem, inside)...)
		through := make(map[*shapes.Declaration][]nestedFault)
		note := func(f shapes.Declaration, faults ...nestedFault) {
			if f.Through == nil {
				found = append(found, faults...)
				return
			}
			through[f.Through] = append(through[f.Through], faults...)
		}
		for _, f := range shape.Foreign {
			if shape == h.request && isQueryField(shapes.Field{Declaration: f.Field}) { // which checkQuery reports
				continue
			}
			note(f.Field, nestedFault{f, naming.Join(way, f.Field.Var.Name())})
		}
		for _, field := range shape.Fields {
			if b.Editable(field.Var.Pkg()) || shape == h.request && o.adopted != nil && o.request == nil {
				report(field.Shape, b.mentionOf(o, field.Declaration))
				continue
			}
			note(field.Declaration, walk(field.Shape, naming.Join(way, shapes.PathOf(field.Selector)))...)
		}
		for f, faults := range through {
			b.reportMention(b.mentionOf(o, *f), faults)
		}
		return found
	}
	request := mention{path: o.name()}
	if o.request != nil {
		request = mention{b.paramSpan(o), "request of " + o.name(), o.name(), b.text(o.request)}
	}
	report(h.request, request)
	if h.result != nil {
		clear(visited)
		report(h.result, mention{
			o.resultSpan(), "result of " + o.name(), o.name(), b.text(o.result),
		})
	}
}

// mentionOf is the mention of a type by a field or an argument.
func (b *builder) mentionOf(o operation, f shapes.Declaration) mention {
	m := mention{f.Tag.At, "field " + f.Path, f.Path, b.text(f.Var.Type())}
	if f.Tag.Field != nil {
		m.at = source.SpanOf(f.Tag.Field.Type)
	} else if o.request == nil {
		m.role = "argument " + f.Var.Name()
	}
	return m
}

// reportMention reports the faults beneath one mention, the first of them by name.
func (b *builder) reportMention(m mention, found []nestedFault) {
	if len(found) == 0 {
		return
	}
	suggestion := "take a struct of your own with the fields that agents may use, and fill the other from it"
	if strings.HasPrefix(m.role, "result") {
		suggestion = "return a struct of your own with the fields that agents may see"
	}
	const shown = 3
	var texts []string
	var places []diag.Related
	for i, f := range found {
		if i == shown {
			texts = append(texts, fmt.Sprintf("%d more", len(found)-shown))
			break
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", f.way, b.text(f.Field.Var.Type())))
		places = append(places, b.Related(f.Field.Var.Pos(), fmt.Sprintf("%s: %s", f.Field.Path, f.Fault.Message)))
	}
	b.Report(m.at, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: m.path, Actual: m.text,
		Message: fmt.Sprintf("%s: %s brings in fields of other modules that cannot be carried as JSON: %s", m.role, m.text,
			strings.Join(texts, ", ")),
		Suggestion: suggestion, Related: places,
	})
}
