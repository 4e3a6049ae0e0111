package scan

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/tagparse"
)

// trial is what became of a function that was built as an operation without being one.
type trial struct {
	handled     handled
	shaper      *shaper
	misfit      *unsupported
	diagnostics []Diagnostic
	ok          bool
}

// try builds a function as the operation that directives would make of it, in the way in which Load does it.
func (q *proposer) try(o operation, directives []string) trial {
	kept, visited := q.diagnostics, q.visited
	q.diagnostics, q.visited = nil, make(map[token.Pos]bool)
	defer func() { q.diagnostics, q.visited = kept, visited }()

	o.directives = q.directivesOf(o.decl)
	place := func(int) token.Pos { return o.decl.Name.Pos() }
	for _, line := range directives {
		parsed, problems, _ := tagparse.ParseDirective(strings.TrimPrefix(line, "//"))
		for _, problem := range problems {
			q.reportProblem(SeverityError, problem, o.name(), place)
		}
		d := directive{Directive: parsed, at: o.at(), text: o.at(), items: placeItems(parsed.Items, place)}
		if parsed.Name == "op" {
			o.items, o.itemsAt = d.items, d.at
		}
		o.directives = append(o.directives, d)
	}
	if misfit := checkSignature(&o); misfit != nil {
		return trial{misfit: misfit}
	}
	t := trial{shaper: newShaper(q.program, o.pkg.Types)}
	t.handled, t.ok = t.shaper.buildHandler(o)
	w := &wireTypes{shaper: t.shaper, known: make(map[wireKey]*wireType)}
	if t.handled.request != nil {
		for _, field := range t.handled.request.Fields {
			w.visit(field.Shape, false)
		}
	}
	if t.handled.result != nil {
		w.visitResult(t.handled.result)
	}
	t.diagnostics = sortDiagnostics(q.diagnostics)
	return t
}

// refusal tells why the function cannot be that operation; nil: it can.
func (t trial) refusal() *refusal {
	if t.misfit != nil {
		return &refusal{message: t.misfit.message, suggestion: t.misfit.suggestion}
	}
	var first *refusal
	more := 0
	for _, d := range t.diagnostics {
		if d.Severity != SeverityError {
			continue
		}
		if first != nil {
			more++
			continue
		}
		first = &refusal{message: d.Message, suggestion: d.Suggestion, position: d.Position}
	}
	switch {
	case first != nil && more > 0:
		first.message += fmt.Sprintf(" (and %d more)", more)
		return first
	case first != nil:
		return first
	case !t.ok:
		return &refusal{message: "its types cannot be carried"}
	}
	if name := t.hollow(t.handled.request); name != "" {
		return &refusal{
			message:    fmt.Sprintf("it takes %s, which has no exported field that agents could fill in", name),
			suggestion: "take the values themselves, or a struct with exported fields",
		}
	}
	for _, field := range t.handled.request.Fields {
		if name := t.hollow(field.Shape); name != "" && t.handled.Arguments != nil {
			return &refusal{
				message:    fmt.Sprintf("its argument %s is %s, which has no exported field that agents could fill in", field.Param.Go, name),
				suggestion: "keep it in the receiver, or write a function that gets it by itself",
				position:   field.Position,
			}
		}
	}
	if name := t.hollow(t.handled.result); name != "" {
		return &refusal{
			message: fmt.Sprintf("it returns %s, which has no exported field that agents could see", name), suggestion: "return a struct with exported fields",
		}
	}
	return nil
}

// hollow names the struct that a value consists of if it has fields and none of them travels.
func (t trial) hollow(shape *model.Shape) string {
	for shape = pointed(shape); shape != nil && (shape.Kind == model.ShapeSlice || shape.Kind == model.ShapeArray); {
		shape = pointed(shape.Elem)
	}
	if shape == nil || shape.Kind != model.ShapeStruct || len(shape.Fields) > 0 || t.shaper.goTypes[shape] == nil {
		return ""
	}
	st, ok := t.shaper.goTypes[shape].Underlying().(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return ""
	}
	return t.shaper.text(t.shaper.goTypes[shape])
}

// params lists the wire names of the parameters.
func (t trial) params() []string {
	var names []string
	for _, field := range t.handled.request.Fields {
		names = append(names, field.Param.Name)
	}
	return names
}

// remarks are the warnings and notes that concern a person who decides about the operation. Those about the danger level and
// the category have been answered by the proposal.
func (t trial) remarks() []string {
	var out []string
	for _, d := range t.diagnostics {
		switch {
		case d.Severity == SeverityError || d.Code == codeName && d.Expected == string(model.Update):
		case strings.Contains(d.Message, "has no description"):
			out = append(out, "it has no doc comment, which is what agents would read")
		default:
			out = append(out, d.Message)
		}
	}
	return out
}
