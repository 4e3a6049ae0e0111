package propose

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// trial is the attempt to build a function as an operation.
type trial struct {
	scan.Attempt
	own *types.Package
}

// try builds a function as the operation that directives would make of it.
func (p *proposer) try(fn scan.Function, directives []string) trial {
	return trial{p.Try(fn, directives), p.root.Types}
}

// refusal returns why the function cannot be that operation, nil if it can.
func (t trial) refusal() *refusal {
	if t.Misfit != nil {
		return &refusal{message: t.Misfit.Message, suggestion: t.Misfit.Suggestion}
	}
	var first *refusal
	more := 0
	for _, d := range t.Diagnostics {
		if d.Severity != diag.Error {
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
	case !t.OK:
		return &refusal{message: "its types cannot be carried"}
	}
	if name := t.hollow(t.Request); name != "" {
		return &refusal{
			message:    fmt.Sprintf("it takes %s, which has no exported field that agents could fill in", name),
			suggestion: "take the values themselves, or a struct with exported fields",
		}
	}
	for _, field := range t.Request.Fields {
		if name := t.hollow(field.Shape); name != "" && t.Arguments != nil {
			return &refusal{
				message: fmt.Sprintf("its argument %s is %s, which has no exported field that agents could fill in",
					field.Param.Go, name),
				suggestion: "keep it in the receiver, or write a function that gets it by itself",
				position:   field.Position,
			}
		}
	}
	if name := t.hollow(t.Result); name != "" {
		return &refusal{
			message:    fmt.Sprintf("it returns %s, which has no exported field that agents could see", name),
			suggestion: "return a struct with exported fields",
		}
	}
	return nil
}

// hollow returns the name of the struct that a value consists of, if it has fields but JSON carries none of them.
func (t trial) hollow(shape *shapes.Shape) string {
	for shape = shapes.Indirect(shape); shape != nil && (shape.Kind == shapes.Slice || shape.Kind == shapes.Array); {
		shape = shapes.Indirect(shape.Elem)
	}
	if shape == nil || shape.Kind != shapes.Struct || len(shape.Fields) > 0 || shape.Type == nil {
		return ""
	}
	st, ok := shape.Type.Underlying().(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return ""
	}
	return gotype.Text(shape.Type, t.own)
}

// params lists the wire names of the parameters.
func (t trial) params() []string {
	var names []string
	for _, field := range t.Request.Fields {
		names = append(names, field.Param.Name)
	}
	return names
}

// remarks are what a person should know who decides about the operation. Warnings about the name and the danger level
// are left out, because the proposal settles those.
func (t trial) remarks() []string {
	var out []string
	if t.Operation.Description == "" {
		out = append(out, "it has no doc comment, which is what agents would read")
	}
	if blank := t.blanked(); len(blank) > 0 {
		out = append(out,
			fmt.Sprintf("what an update leaves out of %s reaches it as a zero value; pointers would tell that apart",
				strings.Join(blank, ", ")))
	}
	for _, d := range t.Diagnostics {
		if d.Severity == diag.Warning && d.Code != diag.CodeName && d.Code != diag.CodeMissing {
			out = append(out, d.Message)
		}
	}
	return out
}

// blanked lists the fields of an update's input whose absence the handler cannot see.
func (t trial) blanked() []string {
	var names []string
	for _, field := range t.Request.Fields {
		if input := shapes.Indirect(field.Shape); field.Param.Name == "input" && t.Operation.Category == gen.Update &&
			input.Kind == shapes.Struct {
			for _, part := range input.Fields {
				if !part.Param.Required && !shapes.IsNilable(part.Shape) {
					names = append(names, part.Param.Name)
				}
			}
		}
	}
	return names
}
