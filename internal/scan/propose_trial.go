package scan

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/tagparse"
)

// trial is what became of a function that was built as an operation without being one.
type trial struct {
	handled     handled
	own         *types.Package
	misfit      *unsupported
	diagnostics []Diagnostic
	ok          bool
}

// try builds a function as the operation that directives would make of it.
func (q *proposer) try(o operation, directives []string) trial {
	kept := q.diagnostics
	q.diagnostics = nil
	defer func() { q.diagnostics = kept }()

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
	return q.build(o)
}

// build builds an operation in the way in which Load does it, with a shaper of its own: a fault that operations share is a
// fault of each.
func (q *proposer) build(o operation) trial {
	before := len(q.diagnostics)
	t := trial{own: o.pkg.Types}
	t.handled, t.ok = newBuilder(q.program, q.tags, o.pkg.Types).buildHandler(o)
	newWireTypes(q.program, o.pkg.Types).addHandler(t.handled.request, t.handled.result)
	t.diagnostics = sortDiagnostics(slices.Clone(q.diagnostics))
	q.diagnostics = q.diagnostics[:before]
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
func (t trial) hollow(shape *Shape) string {
	for shape = pointed(shape); shape != nil && (shape.Kind == ShapeSlice || shape.Kind == ShapeArray); {
		shape = pointed(shape.Elem)
	}
	if shape == nil || shape.Kind != ShapeStruct || len(shape.Fields) > 0 || shape.Type == nil {
		return ""
	}
	st, ok := shape.Type.Underlying().(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return ""
	}
	return typeText(shape.Type, t.own)
}

// params lists the wire names of the parameters.
func (t trial) params() []string {
	var names []string
	for _, field := range t.handled.request.Fields {
		names = append(names, field.Param.Name)
	}
	return names
}

// remarks are what a person who decides about the operation should know. Warnings about the name and the danger level are
// not among them: the proposal answers those.
func (t trial) remarks() []string {
	var out []string
	if t.handled.Operation.Description == "" {
		out = append(out, "it has no doc comment, which is what agents would read")
	}
	if blank := t.blanked(); len(blank) > 0 {
		out = append(out, fmt.Sprintf("what an update leaves out of %s reaches it as a zero value; pointers would tell that apart", strings.Join(blank, ", ")))
	}
	for _, d := range t.diagnostics {
		if d.Severity == SeverityWarning && d.Code != codeName && d.Code != codeMissing {
			out = append(out, d.Message)
		}
	}
	return out
}

// blanked lists the fields that an update changes and whose absence the handler cannot see.
func (t trial) blanked() []string {
	var names []string
	for _, field := range t.handled.request.Fields {
		if input := pointed(field.Shape); field.Param.Name == "input" && t.handled.Operation.Category == gen.Update && input.Kind == ShapeStruct {
			for _, part := range input.Fields {
				if !part.Param.Required && !isNilable(part.Shape) {
					names = append(names, part.Param.Name)
				}
			}
		}
	}
	return names
}
