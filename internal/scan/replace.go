package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// What the input of an update is said to do, where nothing else describes it.
const (
	changesDescription = "The changes; fields left out stay as they are"
	shallowDescription = "The changes; fields left out stay as they are, objects are replaced whole"
	valuesDescription  = "The new values; each of them is needed"
	replaceDescription = "Replaces it: what is left out becomes empty"
)

// describeInput sets what follows from the Go type of an update's input: whether the handler can tell a field that was
// left out from one that is empty. Where it cannot, the update replaces the resource. Every field is required then that
// the author has not made optional, and the operation is destructive until its tag says otherwise (MCP-AQL core
// §4.5.1).
func (b *builder) describeInput(o operation, h *handled, input int) {
	field := &h.request.Fields[input]
	shape := shapes.Indirect(field.Shape)
	gathered := field.Param.Go == ""
	switch {
	case shape.Kind == shapes.Patch:
		if field.Param.Description == "" && o.request == nil {
			field.Param.Description = changesDescription
		}
		return
	case !loses(shape):
		if field.Param.Description == "" && (o.request == nil || gathered) {
			field.Param.Description = changesDescription
			if !slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool { return !f.Param.Required }) {
				field.Param.Description = valuesDescription
			} else if slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool { return replacedWhole(f.Shape) }) {
				field.Param.Description = shallowDescription
			}
		}
		return
	}
	h.replaces = true
	field.Shape = b.demand(field.Shape)
	if gathered {
		for _, f := range shapes.Indirect(field.Shape).Fields {
			b.noteReplaced(f)
		}
	}
	if field.Param.Description = strings.TrimSuffix(field.Param.Description, "."); field.Param.Description != "" {
		field.Param.Description += ". "
	}
	field.Param.Description += replaceDescription
	op := &h.Operation
	if op.DangerSource == gen.DangerFromTag || op.Danger.Level() >= gen.Destructive.Level() {
		return
	}
	op.Danger, op.DangerSource = gen.Destructive, gen.DangerFromInput
	if b.linting || slices.ContainsFunc(o.directives, func(d directive) bool { return d.Name == "update" }) {
		return // lint warns of it, or the directive has a mistake
	}
	b.Report(o.itemsAt, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeMissing, FieldPath: o.name(), Actual: string(gen.Destructive),
		Message:    fmt.Sprintf("%s is destructive because its input replaces what it leaves out", op.Name),
		Suggestion: b.replaceSuggestion(h),
	})
}

// replaceSuggestion suggests how an update loses nothing.
func (b *builder) replaceSuggestion(h *handled) string {
	if h.fromHTTP {
		return "write danger=reversible if nothing is lost"
	}
	if name := b.fittingGetter(h); name != "" {
		return "write //aql:update get=" + name + " above the function; or danger=reversible if nothing is lost"
	}
	return "name the handler that reads it with //aql:update get=NAME, or make the fields pointers; " +
		"or danger=reversible if nothing is lost"
}

// loses reports whether a handler that gets a struct cannot tell that a field was left out.
func loses(shape *shapes.Shape) bool { return losesWithin(shape, make(map[*shapes.Shape]bool)) }

func losesWithin(shape *shapes.Shape, visited map[*shapes.Shape]bool) bool {
	if shape.Kind != shapes.Struct || visited[shape] {
		return false
	}
	visited[shape] = true
	tells := slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool {
		return f.Shape.Kind == shapes.Pointer || f.Shape.Kind == shapes.Optional || f.Shape.Kind == shapes.SQLNull
	})
	return slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool {
		if f.Param.Required {
			return losesWithin(f.Shape, visited)
		}
		// A nil list beside pointers was left out; alone it may also be an empty one.
		return f.Param.Default != "" || !shapes.IsNilable(f.Shape) || !tells
	})
}

// replacedWhole reports whether a handler that gets a value cannot tell which part of it was left out.
func replacedWhole(shape *shapes.Shape) bool {
	shape = shapes.Indirect(shape)
	return shape.Kind == shapes.Map || shape.Kind == shapes.Any || loses(shape)
}

// demand returns the shape of a struct, or of a pointer to one, with every field required that is not optional: those
// that are never nil, and have neither a default nor omitempty.
func (b *builder) demand(shape *shapes.Shape) *shapes.Shape {
	return requirement{known: b.demanded, demand: func(f *shapes.Field) bool {
		if f.Param.Required || f.Param.Default != "" || f.Param.OmitEmpty || f.Param.OmitZero ||
			shapes.IsNilable(f.Shape) || !f.Param.Updatable() {
			return false
		}
		f.Param.Required = true
		return true
	}}.apply(shape)
}
