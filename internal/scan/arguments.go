package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// buildArguments makes a struct shape of the arguments of a handler without a request struct. It is empty for an
// operation without parameters.
func (b *builder) buildArguments(o operation, h *handled) bool {
	request := &shapes.Shape{Kind: shapes.Struct}
	h.request = request
	h.Variadic = o.fn.Signature().Variadic() && (o.adopted == nil || !o.adopted.rest)
	for _, v := range o.arguments {
		f := argumentDeclaration(o, v)
		shape, fault := b.shapeOf(v.Type(), f.Path)
		text, spellable := b.speller.Spell(v.Type())
		if fault == nil && !spellable {
			fault = &shapes.Fault{
				Message: fmt.Sprintf("%s cannot be named in generated code", b.text(v.Type())), Suggestion: "use an exported type",
			}
		}
		if fault != nil {
			request.Faulty = true
			if fault.Invalid {
				b.ReportInvalid(b.own, typeSpan(o, v), f.Path)
				continue
			}
			suggestion := fault.Suggestion
			if isFunction(v.Type()) {
				suggestion = "write a function without it, that calls this one"
			}
			b.Report(f.Tag.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: f.Path, Actual: b.text(v.Type()),
				Message: fmt.Sprintf("argument %s: %s", v.Name(), fault.Message), Suggestion: suggestion,
			})
			continue
		}
		field := shapes.Field{
			Declaration: f, Selector: []string{v.Name()}, Shape: shape, Position: b.Position(f.Tag.At.Start),
			Param: gen.Param{Go: v.Name()},
		}
		b.fillArgument(o, &field)
		request.Fields = append(request.Fields, field)
		h.Arguments = append(h.Arguments, model.Argument{Field: v.Name(), Type: text})
	}
	b.params.AddConstants(request)
	return !request.Faulty
}

// isFunction reports whether a value of type t, or an element of a variadic one, is a function.
func isFunction(t types.Type) bool {
	if slice, ok := t.Underlying().(*types.Slice); ok {
		t = slice.Elem()
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// argumentDeclaration is where an argument is declared. It has no tag, only a name.
func argumentDeclaration(o operation, v *types.Var) shapes.Declaration {
	at := source.Span{Start: v.Pos(), End: source.EndOf(v.Pos(), v.Name())}
	if o.adopted != nil {
		at = o.adopted.at
	}
	return shapes.Declaration{
		Path: o.name() + "." + v.Name(), Var: v,
		Tag: tags.Tag{GoName: v.Name(), Name: naming.SnakeCase(v.Name()), At: at, NameAt: at},
	}
}

// typeSpan is where the type of an argument is written.
func typeSpan(o operation, v *types.Var) source.Span {
	if o.adopted != nil {
		return o.adopted.at
	}
	for _, field := range o.decl.Type.Params.List {
		for _, name := range field.Names {
			if name.Pos() == v.Pos() {
				return source.SpanOf(field.Type)
			}
		}
	}
	return source.Span{Start: v.Pos(), End: source.EndOf(v.Pos(), v.Name())}
}

// fillArgument fills in the parameter of an argument. A Go function gets all of its arguments, so each is required
// unless it has a default, can be nil, or is an optional struct.
func (b *builder) fillArgument(o operation, field *shapes.Field) {
	b.params.FillField(field)
	if isQueryField(*field) || shapes.IsNilable(field.Shape) || isOptional(o, field) {
		return
	}
	field.Param.Required = field.Param.Required || field.Param.Default == "" && !field.Tag.Faulty
}

// isOptional reports whether an argument is a struct that a request may leave out. The handler gets the zero value
// then, so an empty object has to give the same: no field is required or has a default. Of what a function writes, only
// what is called options is optional.
func isOptional(o operation, field *shapes.Field) bool {
	category, _ := tags.Find(o.items, "category")
	options := naming.IsOptions(field.Param.Name) || naming.IsOptions(naming.SnakeCase(field.Shape.Go.Name))
	return (options || category.Value == string(gen.Read)) && isEmpty(field.Shape, make(map[*shapes.Shape]bool))
}

// isEmpty reports whether a shape is a struct whose zero value is what an empty object gives.
func isEmpty(shape *shapes.Shape, visited map[*shapes.Shape]bool) bool {
	if shape.Kind != shapes.Struct || len(shape.Fields) == 0 {
		return false
	}
	visited[shape] = true
	return !slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool {
		nested := f.Shape.Kind == shapes.Struct && len(f.Shape.Fields) > 0 && !visited[f.Shape]
		return f.Param.Required || f.Param.Default != "" || nested && !isEmpty(f.Shape, visited)
	})
}

// applyParamDirectives applies the //aql:param directives of a handler, to its arguments or to the fields of a request
// struct whose tags cannot be edited. Other operations that use the struct keep their parameters.
func (b *builder) applyParamDirectives(o operation, h *handled) {
	if !slices.ContainsFunc(o.directives, func(d directive) bool { return d.Name == "param" }) {
		return
	}
	faulty := h.request.Faulty
	h.request = h.request.Clone()
	request := h.request
	seen := make(map[int]bool)
	for _, d := range o.directives {
		if d.Name != "param" {
			continue
		}
		var names []string
		for _, field := range request.Fields {
			names = append(names, field.Param.Name)
		}
		i := slices.IndexFunc(request.Fields, func(f shapes.Field) bool {
			return f.Param.Name == d.Param || f.Selector[len(f.Selector)-1] == d.Param
		})
		if i < 0 {
			request.Faulty = request.Faulty || d.Param == "input"
			if !d.faulty && !faulty {
				b.Report(d.text, diag.Diagnostic{
					Code: diag.CodeUnresolved, FieldPath: o.name(), Actual: d.Param,
					Message: fmt.Sprintf("%s has no parameter %q", o.name(), d.Param), Suggestion: diag.DidYouMean(d.Param, names),
				})
			}
			continue
		}
		if seen[i] {
			b.Report(d.at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: o.name(),
				Message:    fmt.Sprintf("there is more than one //aql:param %s", d.Param),
				Suggestion: "put all that is to be said about it into one",
			})
			continue
		}
		seen[i] = true
		field := &request.Fields[i]
		field.Tag.Items = append(slices.Clone(field.Tag.Items), d.items...)
		field.Tag.Faulty = field.Tag.Faulty || d.faulty
		for _, item := range d.items {
			if item.Key == "name" && !item.Flag {
				field.Tag.Name, field.Tag.Named, field.Tag.NameAt = item.Value, true, item.ValueAt
				field.Tag.Nested = ""
			}
		}
		if o.request == nil {
			b.fillArgument(o, field)
		} else {
			b.params.FillField(field)
		}
	}
	b.params.AddConstants(request)
}

// markIDs applies the key ids of an operation: the names of the parameters that identify the resource of an update.
func (b *builder) markIDs(o operation, h *handled) {
	item, ok := tags.Find(o.items, "ids")
	if !ok {
		return
	}
	if h.Operation.Category == "" { // which is reported
		return
	}
	if h.Operation.Category != gen.Update {
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(),
			Message:    "ids is for UPDATE operations: it tells the parameters that stay beside input",
			Suggestion: "remove it, or use category=UPDATE",
		})
		return
	}
	var names []string
	for _, field := range h.request.Fields {
		names = append(names, field.Param.Name)
	}
	h.request = h.request.Clone()
	for _, id := range item.List {
		i := slices.IndexFunc(h.request.Fields, func(f shapes.Field) bool {
			return f.Param.Name == id || f.Selector[len(f.Selector)-1] == id
		})
		if i < 0 {
			b.Report(item.ValueAt, diag.Diagnostic{
				Code: diag.CodeUnresolved, FieldPath: o.name(), Actual: id,
				Message:    fmt.Sprintf("ids names %q, and %s has no such parameter", id, o.name()),
				Suggestion: diag.DidYouMean(id, names),
			})
			continue
		}
		h.request.Fields[i].Param.ID = true
	}
}

// nestInput moves the parameters of an update that do not identify the resource into one parameter, input (MCP-AQL core
// §4.5). It returns false if no parameter is known to identify the resource.
func (b *builder) nestInput(o operation, h *handled) bool {
	if i := changes(h.request); i >= 0 {
		h.request = h.request.Clone()
		h.request.Fields[i].Param.Name = "input"
		return true
	}
	name := naming.Exported(o.name())
	if o.request != nil && o.http == nil {
		name = gotype.Name(o.request)
	}
	nested := &shapes.Shape{Kind: shapes.Struct, Type: types.NewStruct(nil, nil), Label: naming.Exported(name) + "Input"}
	request := &shapes.Shape{
		Kind: shapes.Struct, Type: o.request, Go: h.request.Go, Faulty: h.request.Faulty, Foreign: h.request.Foreign,
		Message: h.request.Message,
	}
	identified := false
	for _, field := range h.request.Fields {
		switch {
		case field.Param.ID:
			identified, field.Param.Required = true, true
			request.Fields = append(request.Fields, field)
		case field.Param.DryRun: // it is about the request, and no change
			request.Fields = append(request.Fields, field)
		default:
			shapes.AsNested(&field)
			nested.Fields = append(nested.Fields, field)
		}
	}
	if !identified || len(nested.Fields) == 0 {
		return false
	}
	b.params.AddConstants(nested)
	request.Fields = append(request.Fields, shapes.Field{
		Declaration: shapes.Declaration{
			Path: o.name() + ".input", Var: h.request.Fields[0].Var,
			Tag: tags.Tag{Name: "input", At: o.itemsAt, NameAt: o.itemsAt},
		},
		Shape: nested,
		Param: gen.Param{Name: "input", Required: true},
	})
	h.request = request
	return true
}

// changes returns the index of the one object among the parameters of an update that do not identify the resource: edit
// in func (s *Service) EditRecord(domain string, id int, edit *Edit). It is the input, whatever its name. changes
// returns -1 if there are other such parameters, or if a tag names the object.
func changes(request *shapes.Shape) int {
	rest, ids := -1, 0
	for i, field := range request.Fields {
		switch {
		case field.Param.ID:
			ids++
		case rest >= 0 || shapes.Indirect(field.Shape).Kind != shapes.Struct &&
			shapes.Indirect(field.Shape).Kind != shapes.Patch:
			return -1
		default:
			rest = i
		}
	}
	if rest < 0 || ids == 0 || request.Fields[rest].Tag.Named {
		return -1
	}
	return rest
}

// noteReplaced notes that a handler cannot tell whether an update contains a field.
func (b *builder) noteReplaced(field shapes.Field) {
	if shapes.IsNilable(field.Shape) || field.Param.Required || field.Param.Constant != "" {
		return
	}
	goType := b.text(field.Var.Type())
	b.Report(field.Tag.At, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeType, Kind: diag.KindUnset, FieldPath: field.Path, Actual: goType,
		Message: fmt.Sprintf("an update that does not mention %s gives the handler %s, the zero value of %s",
			field.Param.Name, zeroText(field.Shape), goType),
		Suggestion: "make it a pointer or an aql.Optional if the handler takes that for a change",
	})
}

// zeroText is the zero value of a shape in a message.
func zeroText(shape *shapes.Shape) string {
	switch shape.Kind {
	case shapes.Bool:
		return "false"
	case shapes.Int, shapes.Uint, shapes.Float:
		return "0"
	case shapes.String:
		return `""`
	default:
		return "an empty one"
	}
}
