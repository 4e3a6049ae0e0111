package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// buildArguments makes a struct shape of a function's plain arguments. An operation without parameters has an empty one.
func (s *shaper) buildArguments(o operation, h *handled) bool {
	request := &model.Shape{Kind: model.ShapeStruct}
	source := new(structSource)
	s.structs[request] = source
	h.request = request
	h.Variadic = o.fn.Signature().Variadic()
	for _, v := range o.arguments {
		f := s.argumentSource(o, v)
		shape, fault := s.fieldShape(v.Type(), f.path)
		text, spellable := s.goType(v.Type())
		if fault == nil && !spellable {
			fault = &unsupported{message: fmt.Sprintf("%s cannot be named in generated code", s.text(v.Type())), suggestion: "use an exported type"}
		}
		if fault != nil {
			source.faulty = true
			if fault.invalid {
				s.reportInvalid(s.own, typeSpan(o, v), f.path)
				continue
			}
			suggestion := fault.suggestion
			if isFunction(v.Type()) {
				suggestion = "write a function without it, that calls this one"
			}
			s.report(f.tag.at, Diagnostic{
				Code: codeType, FieldPath: f.path, Actual: s.text(v.Type()),
				Message: fmt.Sprintf("argument %s: %s", v.Name(), fault.message), Suggestion: suggestion,
			})
			continue
		}
		field := model.Field{Selector: []string{v.Name()}, Shape: shape, Position: s.position(v.Pos())}
		field.Param = s.argumentParam(f, shape)
		request.Fields = append(request.Fields, field)
		source.fields = append(source.fields, f)
		h.Arguments = append(h.Arguments, model.Argument{Field: v.Name(), Type: text})
	}
	return !source.faulty
}

// isFunction reports whether a value of type t, or an element of a variadic one, is a function.
func isFunction(t types.Type) bool {
	if slice, ok := t.Underlying().(*types.Slice); ok {
		t = slice.Elem()
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// argumentSource is what a plain argument says of itself: its name.
func (s *shaper) argumentSource(o operation, v *types.Var) fieldSource {
	at := span{v.Pos(), endOf(v.Pos(), v.Name())}
	return fieldSource{
		path: o.name() + "." + v.Name(), v: v,
		tag: fieldTag{goName: v.Name(), name: snakeCase(v.Name()), at: at, nameAt: at},
	}
}

// typeSpan is where the type of an argument is written.
func typeSpan(o operation, v *types.Var) span {
	for _, field := range o.decl.Type.Params.List {
		for _, name := range field.Names {
			if name.Pos() == v.Pos() {
				return spanOf(field.Type)
			}
		}
	}
	return span{v.Pos(), endOf(v.Pos(), v.Name())}
}

// argumentParam is paramOf for a plain argument. A Go function is always given all of them, so an argument is required
// unless it has a default or a value that says nothing: nil.
func (s *shaper) argumentParam(f fieldSource, shape *model.Shape) gen.Param {
	param := s.paramOf(f, shape, false)
	param.Go = f.v.Name()
	switch shape.Kind {
	case model.ShapePointer, model.ShapeSlice, model.ShapeMap, model.ShapeBytes, model.ShapeAny, model.ShapeOptional:
	default:
		param.Required = param.Required || param.Default == "" && !f.tag.faulty
	}
	return param
}

// refine applies the //aql:param directives of a handler: to its plain arguments, or to the fields of a request struct
// whose tags cannot be edited. A struct that other operations use keeps its own parameters there.
func (s *shaper) refine(o operation, h *handled) {
	if !slices.ContainsFunc(o.directives, func(d directive) bool { return d.Name == "param" }) {
		return
	}
	source := s.structs[h.request]
	request, refined := *h.request, &structSource{fields: slices.Clone(source.fields), faulty: source.faulty}
	request.Fields = slices.Clone(request.Fields)
	h.request = &request
	s.structs[h.request] = refined
	s.goTypes[h.request] = o.request
	seen := make(map[int]bool)
	for _, d := range o.directives {
		if d.Name != "param" {
			continue
		}
		var names []string
		for _, field := range request.Fields {
			names = append(names, field.Param.Name)
		}
		i := slices.IndexFunc(request.Fields, func(f model.Field) bool {
			return f.Param.Name == d.Param || f.Selector[len(f.Selector)-1] == d.Param
		})
		if i < 0 {
			refined.faulty = refined.faulty || d.Param == "input"
			if !d.faulty && !source.faulty {
				s.report(d.text, Diagnostic{
					Code: codeUnresolved, FieldPath: o.name(), Actual: d.Param,
					Message: fmt.Sprintf("%s has no parameter %q", o.name(), d.Param), Suggestion: suggestWord(d.Param, names),
				})
			}
			continue
		}
		if seen[i] {
			s.report(d.at, Diagnostic{
				Code: codeDuplicate, FieldPath: o.name(), Message: fmt.Sprintf("there is more than one //aql:param %s", d.Param),
				Suggestion: "put all that is to be said about it into one",
			})
			continue
		}
		seen[i] = true
		f := &refined.fields[i]
		f.tag.items = append(slices.Clone(f.tag.items), d.items...)
		f.tag.faulty = f.tag.faulty || d.faulty
		for _, item := range d.items {
			if item.Key == "name" && !item.Flag {
				f.tag.name, f.tag.named, f.tag.nameAt = item.Value, true, item.value
			}
		}
		field := &request.Fields[i]
		if o.request == nil {
			field.Param = s.argumentParam(*f, field.Shape)
			continue
		}
		field.Param = s.paramOf(*f, field.Shape, field.Quoted)
		field.Param.Go = pathOf(field.Selector)
	}
}

// markIDs applies the operation's ids: the parameters that say which resource an update is about.
func (s *shaper) markIDs(o operation, h *handled) {
	item, ok := findItem(o.items, "ids")
	if !ok {
		return
	}
	if h.Operation.Category != gen.Update {
		s.report(item.whole, Diagnostic{
			Code: codeType, FieldPath: o.name(), Message: "ids is for UPDATE operations: it tells the parameters that stay beside input",
			Suggestion: "remove it, or use category=UPDATE",
		})
		return
	}
	var names []string
	for _, field := range h.request.Fields {
		names = append(names, field.Param.Name)
	}
	if o.request != nil {
		request := *h.request
		request.Fields = slices.Clone(request.Fields)
		s.structs[&request], s.goTypes[&request] = s.structs[h.request], o.request
		h.request = &request
	}
	for _, id := range item.List {
		i := slices.IndexFunc(h.request.Fields, func(f model.Field) bool {
			return f.Param.Name == id || f.Selector[len(f.Selector)-1] == id
		})
		if i < 0 {
			s.report(item.value, Diagnostic{
				Code: codeUnresolved, FieldPath: o.name(), Actual: id,
				Message: fmt.Sprintf("ids names %q, and %s has no such parameter", id, o.name()), Suggestion: suggestWord(id, names),
			})
			continue
		}
		h.request.Fields[i].Param.ID = true
	}
}

// nestInput turns the flat request of an update into one with input: what is no identifier is shown and read inside it
// (design §3.1, REQ-UP-01). It returns false where nothing says which parameters are identifiers.
func (s *shaper) nestInput(o operation, h *handled) bool {
	source := s.structs[h.request]
	if i := changes(h.request, source); i >= 0 {
		if o.request != nil {
			request := *h.request
			request.Fields = slices.Clone(request.Fields)
			s.structs[&request], s.goTypes[&request] = source, o.request
			h.request = &request
		}
		h.request.Fields[i].Param.Name = "input"
		return true
	}
	flat := &model.Shape{Kind: model.ShapeStruct}
	flatSource, topSource := new(structSource), &structSource{faulty: source.faulty}
	var top []model.Field
	for i, field := range h.request.Fields {
		if field.Param.ID {
			field.Param.Required = true
			top, topSource.fields = append(top, field), append(topSource.fields, source.fields[i])
			continue
		}
		flat.Fields, flatSource.fields = append(flat.Fields, field), append(flatSource.fields, source.fields[i])
	}
	if len(top) == 0 || len(flat.Fields) == 0 {
		return false
	}
	for i, field := range flat.Fields {
		s.noteReplaced(flatSource.fields[i], field)
	}
	name := exported(o.name())
	if o.request != nil {
		name = typeString(o.request)
	}
	s.unnamed[flat] = exported(name) + "Input"
	s.structs[flat] = flatSource
	s.goTypes[flat] = types.NewStruct(nil, nil)
	input := model.Field{Shape: flat, Param: gen.Param{Name: "input", Required: true, Description: changesDescription}}
	request := &model.Shape{Kind: model.ShapeStruct, Go: h.request.Go, Fields: append(top, input)}
	topSource.fields = append(topSource.fields, fieldSource{path: o.name() + ".input", v: source.fields[0].v, tag: fieldTag{name: "input", at: o.itemsAt, nameAt: o.itemsAt}})
	s.structs[request], s.goTypes[request] = topSource, o.request
	h.request = request
	return true
}

// changesDescription describes an input that nothing else describes.
const changesDescription = "The changes; fields left out stay as they are"

// changes finds the one object beside the identifiers of an update, which is the input already, whatever it is called:
// func (s *Service) EditRecord(domain string, id int, edit *Edit). It returns -1 where there is something else, or a name
// that was chosen for the wire.
func changes(request *model.Shape, source *structSource) int {
	rest, ids := -1, 0
	for i, field := range request.Fields {
		switch {
		case field.Param.ID:
			ids++
		case rest >= 0 || pointed(field.Shape).Kind != model.ShapeStruct && pointed(field.Shape).Kind != model.ShapePatch:
			return -1
		default:
			rest = i
		}
	}
	if rest < 0 || ids == 0 || source.fields[rest].tag.named {
		return -1
	}
	return rest
}

// noteReplaced tells that a handler cannot see whether an update mentions a field.
func (s *shaper) noteReplaced(f fieldSource, field model.Field) {
	switch field.Shape.Kind {
	case model.ShapePointer, model.ShapeSlice, model.ShapeMap, model.ShapeBytes, model.ShapeAny, model.ShapeOptional:
		return
	}
	if field.Param.Required {
		return
	}
	s.report(f.tag.at, Diagnostic{
		Severity: SeverityNote, Code: codeType, FieldPath: f.path, Actual: s.text(f.v.Type()),
		Message:    fmt.Sprintf("an update that does not mention %s gives the handler %s, the zero value of %s", field.Param.Name, zeroText(field.Shape), s.text(f.v.Type())),
		Suggestion: "make it a pointer or an aql.Optional if the handler takes that for a change",
	})
}

// zeroText spells a zero value for people.
func zeroText(shape *model.Shape) string {
	switch shape.Kind {
	case model.ShapeBool:
		return "false"
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat:
		return "0"
	case model.ShapeString:
		return `""`
	default:
		return "an empty one"
	}
}
