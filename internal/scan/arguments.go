package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// buildArguments makes a struct shape of a function's plain arguments. An operation without parameters has an empty one.
func (s *builder) buildArguments(o operation, h *handled) bool {
	request := &Shape{Kind: ShapeStruct}
	h.request = request
	h.Variadic = o.fn.Signature().Variadic()
	for _, v := range o.arguments {
		f := argumentDeclaration(o, v)
		shape, fault := s.shapeOf(v.Type(), f.path)
		text, spellable := s.speller.goType(v.Type())
		if fault == nil && !spellable {
			fault = &unsupported{message: fmt.Sprintf("%s cannot be named in generated code", s.text(v.Type())), suggestion: "use an exported type"}
		}
		if fault != nil {
			request.Faulty = true
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
		field := Field{Declaration: f, Selector: []string{v.Name()}, Shape: shape, Position: s.position(v.Pos()), Param: gen.Param{Go: v.Name()}}
		s.fillArgument(&field)
		request.Fields = append(request.Fields, field)
		h.Arguments = append(h.Arguments, model.Argument{Field: v.Name(), Type: text})
	}
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

// argumentDeclaration is where a plain argument is declared. Its name is all there is to read.
func argumentDeclaration(o operation, v *types.Var) Declaration {
	at := span{v.Pos(), endOf(v.Pos(), v.Name())}
	return Declaration{
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

// fillArgument is fillField for a plain argument. A Go function is always given all of them, so an argument is required
// unless it has a default or can be nil.
func (s *builder) fillArgument(field *Field) {
	s.params.fillField(field)
	if !isNilable(field.Shape) {
		field.Param.Required = field.Param.Required || field.Param.Default == "" && !field.tag.faulty
	}
}

// refine applies the //aql:param directives of a handler: to its plain arguments, or to the fields of a request struct
// whose tags cannot be edited. A struct that other operations use keeps its own parameters there.
func (s *builder) refine(o operation, h *handled) {
	if !slices.ContainsFunc(o.directives, func(d directive) bool { return d.Name == "param" }) {
		return
	}
	faulty := h.request.Faulty
	h.request = h.request.clone()
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
		i := slices.IndexFunc(request.Fields, func(f Field) bool {
			return f.Param.Name == d.Param || f.Selector[len(f.Selector)-1] == d.Param
		})
		if i < 0 {
			request.Faulty = request.Faulty || d.Param == "input"
			if !d.faulty && !faulty {
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
		field := &request.Fields[i]
		field.tag.items = append(slices.Clone(field.tag.items), d.items...)
		field.tag.faulty = field.tag.faulty || d.faulty
		for _, item := range d.items {
			if item.Key == "name" && !item.Flag {
				field.tag.name, field.tag.named, field.tag.nameAt = item.Value, true, item.value
			}
		}
		if o.request == nil {
			s.fillArgument(field)
		} else {
			s.params.fillField(field)
		}
	}
}

// markIDs applies the operation's ids: the parameters that say which resource an update is about.
func (s *builder) markIDs(o operation, h *handled) {
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
	h.request = h.request.clone()
	for _, id := range item.List {
		i := slices.IndexFunc(h.request.Fields, func(f Field) bool {
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
func (s *builder) nestInput(o operation, h *handled) bool {
	if i := changes(h.request); i >= 0 {
		h.request = h.request.clone()
		h.request.Fields[i].Param.Name = "input"
		return true
	}
	name := exported(o.name())
	if o.request != nil {
		name = typeString(o.request)
	}
	nested := &Shape{Kind: ShapeStruct, Type: types.NewStruct(nil, nil), Label: exported(name) + "Input"}
	request := &Shape{Kind: ShapeStruct, Type: o.request, Go: h.request.Go, Faulty: h.request.Faulty, Foreign: h.request.Foreign}
	for _, field := range h.request.Fields {
		if field.Param.ID {
			field.Param.Required = true
			request.Fields = append(request.Fields, field)
		} else {
			nested.Fields = append(nested.Fields, field)
		}
	}
	if len(request.Fields) == 0 || len(nested.Fields) == 0 {
		return false
	}
	for _, field := range nested.Fields {
		s.noteReplaced(field)
	}
	request.Fields = append(request.Fields, Field{
		Declaration: Declaration{path: o.name() + ".input", v: h.request.Fields[0].v, tag: fieldTag{name: "input", at: o.itemsAt, nameAt: o.itemsAt}},
		Shape:       nested,
		Param:       gen.Param{Name: "input", Required: true, Description: changesDescription},
	})
	h.request = request
	return true
}

// changesDescription describes an input that nothing else describes.
const changesDescription = "The changes; fields left out stay as they are"

// changes finds the one object beside the identifiers of an update, which is the input already, whatever it is called:
// func (s *Service) EditRecord(domain string, id int, edit *Edit). It returns -1 where there is something else, or a name
// that was chosen for the wire.
func changes(request *Shape) int {
	rest, ids := -1, 0
	for i, field := range request.Fields {
		switch {
		case field.Param.ID:
			ids++
		case rest >= 0 || pointed(field.Shape).Kind != ShapeStruct && pointed(field.Shape).Kind != ShapePatch:
			return -1
		default:
			rest = i
		}
	}
	if rest < 0 || ids == 0 || request.Fields[rest].tag.named {
		return -1
	}
	return rest
}

// noteReplaced tells that a handler cannot see whether an update mentions a field.
func (s *builder) noteReplaced(field Field) {
	if isNilable(field.Shape) || field.Param.Required {
		return
	}
	goType := s.text(field.v.Type())
	s.report(field.tag.at, Diagnostic{
		Severity: SeverityNote, Code: codeType, FieldPath: field.path, Actual: goType,
		Message: fmt.Sprintf("an update that does not mention %s gives the handler %s, the zero value of %s",
			field.Param.Name, zeroText(field.Shape), goType),
		Suggestion: "make it a pointer or an aql.Optional if the handler takes that for a change",
	})
}

// zeroText spells a zero value for people.
func zeroText(shape *Shape) string {
	switch shape.Kind {
	case ShapeBool:
		return "false"
	case ShapeInt, ShapeUint, ShapeFloat:
		return "0"
	case ShapeString:
		return `""`
	default:
		return "an empty one"
	}
}
