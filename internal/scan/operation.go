package scan

import (
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"time"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// handled is a handler with the shapes of what goes in and out.
type handled struct {
	model.Handler
	request *Shape // the parameters as a struct, whatever the handler takes
	result  *Shape // nil: the error alone
}

// builder makes the handlers of one package.
type builder struct {
	*program
	own     *types.Package
	shapes  *shaper
	params  *paramMaker
	speller *speller
	linting bool
}

func newBuilder(p *program, tags *tagReader, own *types.Package) *builder {
	return &builder{
		program: p, own: own, shapes: newShaper(p, tags, own), params: newParamMaker(p, own), speller: newSpeller(own),
	}
}

// shapeOf is the shape of a type that a handler mentions at place, with the parameters of all fields.
func (s *builder) shapeOf(t types.Type, place string) (*Shape, *unsupported) {
	shape, fault := s.shapes.shapeOf(t, place)
	s.params.fill(s.shapes.newStructs())
	return shape, fault
}

// text is a Go type as the user writes it.
func (s *builder) text(t types.Type) string { return typeText(t, s.own) }

// buildHandler makes the handler that o describes. Not ok: its types cannot be carried, which has been reported.
func (s *builder) buildHandler(o operation) (handled, bool) {
	h := handled{Handler: model.Handler{
		Func: o.name(), Context: o.context, RequestPointer: o.pointer, Position: s.position(o.decl.Name.Pos()),
	}}
	receiver, fault := s.receiverOf(o.fn)
	if fault != nil {
		s.report(o.at(), Diagnostic{
			Code: codeType, FieldPath: o.name(), Message: fmt.Sprintf("%s cannot be a handler: %s", o.name(), fault.message), Suggestion: fault.suggestion,
		})
		return h, false
	}
	h.Receiver = receiver
	ok := s.buildRequest(o, &h)
	if o.result != nil {
		ok = s.buildResult(o, &h) && ok
	}
	if h.request == nil {
		return h, false
	}
	s.reportForeign(o, &h)
	h.Operation = s.buildOperation(o)
	s.refine(o, &h)
	s.markIDs(o, &h)
	s.checkRequest(o, &h)
	s.addDirectives(o, &h)
	if s.linting {
		s.lint(o, &h)
	}
	return h, s.checkDirections(o, &h) && ok
}

// buildRequest shapes what the handler takes.
func (s *builder) buildRequest(o operation, h *handled) bool {
	if o.request == nil {
		return s.buildArguments(o, h)
	}
	at := s.paramSpan(o)
	request, fault := s.shapeOf(o.request, "")
	if fault == nil && request.Kind != ShapeStruct {
		fault = &unsupported{message: fmt.Sprintf("%s is not read field by field", s.text(o.request)), suggestion: "use a plain struct"}
	}
	if fault != nil {
		s.reportSignature(o, "request", at, fault)
		return false
	}
	h.request = request
	text, ok := s.speller.goType(o.request)
	if !ok {
		s.reportSignature(o, "request", at, &unsupported{
			message: fmt.Sprintf("%s cannot be named outside its package", s.text(o.request)), suggestion: "use an exported type",
		})
		return false
	}
	h.Request = text
	return true
}

// buildResult shapes what the handler returns.
func (s *builder) buildResult(o operation, h *handled) bool {
	at := spanOf(o.decl.Type.Results.List[0].Type)
	result, fault := s.shapeOf(o.result, o.name()+".Result")
	if fault == nil && pointed(result).Kind == ShapePatch {
		fault = &unsupported{message: "aql.Patch is for requests", suggestion: "return the resource"}
	}
	if fault != nil {
		s.reportSignature(o, "result", at, fault)
		return false
	}
	h.result = result
	text, ok := s.speller.goType(o.result)
	if !ok {
		s.reportSignature(o, "result", at, &unsupported{
			message: fmt.Sprintf("%s cannot be named outside its package", s.text(o.result)), suggestion: "return an exported type",
		})
		return false
	}
	h.Result = text
	return true
}

// paramSpan is where the request's type is written in the signature.
func (s *builder) paramSpan(o operation) span {
	list := o.decl.Type.Params.List
	return spanOf(list[len(list)-1].Type)
}

func (s *builder) reportSignature(o operation, role string, at span, fault *unsupported) {
	if fault.invalid {
		s.reportInvalid(s.own, at, o.name())
		return
	}
	s.report(at, Diagnostic{
		Code: codeType, FieldPath: o.name(), Suggestion: fault.suggestion,
		Message: fmt.Sprintf("%s of %s: %s", role, o.name(), fault.message),
	})
}

// receiverOf describes the receiver of a method; nil for a function.
func (s *builder) receiverOf(fn *types.Func) (*model.Receiver, *unsupported) {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil, nil
	}
	t, pointer := types.Unalias(recv.Type()), false
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = types.Unalias(p.Elem()), true
	}
	named, ok := t.(*types.Named)
	if !ok {
		return nil, &unsupported{message: "its receiver has no named type", invalid: true}
	}
	out := &model.Receiver{Type: named.Obj().Name(), Pointer: pointer}
	for param := range named.Origin().TypeParams().TypeParams() {
		constraint, ok := s.speller.goType(param.Constraint())
		if !ok {
			return nil, &unsupported{
				message:    fmt.Sprintf("type parameter %s of its receiver has a constraint that generated code cannot repeat", param.Obj().Name()),
				suggestion: "declare a named constraint, such as type Number interface { ~int | ~float64 }",
			}
		}
		out.TypeParams = append(out.TypeParams, model.TypeParam{Name: param.Obj().Name(), Constraint: constraint})
	}
	return out, nil
}

// buildOperation fills in what tag, name and doc comment say about an operation.
func (s *builder) buildOperation(o operation) gen.Operation {
	op := gen.Operation{
		Name: snakeCase(o.name()), Description: describe(o.decl.Doc, o.name()), Source: s.sourceOf(o),
	}
	nameAt := o.at()
	for _, item := range o.items {
		switch item.Key {
		case "op":
			op.Name, nameAt = item.Value, item.value
		case "category":
			op.Category = gen.Category(item.Value)
		case "danger":
			op.Danger, op.DangerSource = gen.Danger(item.Value), gen.DangerFromTag
		case "endpoint":
			op.Family = item.Value
		case "timeout":
			s.applyTimeout(&op, item)
		case "deprecated":
			op.Deprecated = item.Value
			if item.Flag {
				op.Deprecated = "Deprecated."
			}
		case "replacement":
			op.Replacement = item.Value
		}
	}
	s.checkOperationName(o, op.Name, nameAt)
	if op.Category == "" {
		if !o.faulty {
			s.report(o.itemsAt, Diagnostic{
				Code: codeMissing, FieldPath: o.name(), Expected: "CREATE, READ, UPDATE, DELETE or EXECUTE",
				Message:    fmt.Sprintf("operation %s has no category", op.Name),
				Suggestion: s.categorySuggestion(op.Name),
			})
		}
		return op
	}
	if verb, usual, known := verbCategory(op.Name); known && usual != op.Category {
		s.report(nameAt, Diagnostic{
			Severity: SeverityWarning, Code: codeName, FieldPath: o.name(), Expected: string(usual), Actual: string(op.Category),
			Message:    fmt.Sprintf("%s begins with %q, which says %s, but its category is %s", op.Name, verb, usual, op.Category),
			Suggestion: "change the category, or the name with op=",
		})
	}
	if op.DangerSource == "" {
		s.inferDanger(o, &op)
	}
	if op.Description == "" {
		s.report(o.at(), Diagnostic{
			Severity: SeverityWarning, Code: codeMissing, FieldPath: o.name(),
			Message:    fmt.Sprintf("operation %s has no description: agents see the doc comment of %s, and there is none", op.Name, o.name()),
			Suggestion: fmt.Sprintf("add a comment such as // %s does …", o.name()),
		})
	}
	return op
}

func (s *builder) categorySuggestion(name string) string {
	if _, category, known := verbCategory(name); known {
		return "add category=" + string(category)
	}
	return "add one, such as category=READ"
}

// inferDanger sets the level that name and category stand for. A name that raises the level is worth a note: harmless ones
// such as reset_password match too (T-53).
func (s *builder) inferDanger(o operation, op *gen.Operation) {
	level, pattern := inferDanger(op.Name, op.Category)
	op.Danger, op.DangerSource = level, gen.DangerFromCategory
	if pattern == "" {
		return
	}
	op.DangerSource = gen.DangerFromPattern
	usual := categoryDanger(op.Category)
	s.report(o.itemsAt, Diagnostic{
		Severity: SeverityNote, Code: codeMissing, FieldPath: o.name(), Actual: string(level),
		Message:    fmt.Sprintf("%s is %s because its name matches %s; %s alone would be %s", op.Name, level, pattern, op.Category, usual),
		Suggestion: fmt.Sprintf("say what it is: danger=%s if that is right", level),
	})
}

func (s *builder) applyTimeout(op *gen.Operation, item placedItem) {
	timeout, err := time.ParseDuration(item.Value)
	if err != nil || timeout <= 0 {
		s.report(item.value, Diagnostic{
			Code: codeType, Message: fmt.Sprintf("timeout needs a positive duration, not %q", item.Value),
			Suggestion: "write it like 30s or 2m", Actual: item.Value,
		})
		return
	}
	op.Timeout = timeout
}

// checkOperationName reports names outside the grammar and names that the protocol keeps (REQ-NM-01, REQ-NM-06).
func (s *builder) checkOperationName(o operation, name string, at span) {
	switch {
	case !isWireName(name):
		s.report(at, Diagnostic{
			Code: codeName, FieldPath: o.name(), Expected: "^[a-z][a-z0-9_]*$", Actual: name,
			Message: fmt.Sprintf("operation name %q does not match ^[a-z][a-z0-9_]*$", name), Suggestion: useName(name),
		})
	case isReserved(name):
		s.report(at, Diagnostic{
			Code: codeName, FieldPath: o.name(), Actual: name,
			Message:    fmt.Sprintf("operation name %q is reserved by the protocol", name),
			Suggestion: "choose another name with op=",
		})
	}
}

// sourceOf is "file:line" of the handler, relative to its module.
func (s *builder) sourceOf(o operation) string {
	position := s.position(o.decl.Name.Pos())
	base := filepath.Dir(position.File)
	if o.pkg.Module != nil && o.pkg.Module.Dir != "" {
		base = o.pkg.Module.Dir
	}
	file, err := filepath.Rel(base, position.File)
	if err != nil || !filepath.IsLocal(file) {
		file = filepath.Base(position.File)
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(file), position.Line)
}

// checkRequest checks what only holds for the fields of a request struct, and sets what follows from the category.
func (s *builder) checkRequest(o operation, handler *handled) {
	update := handler.Operation.Category == gen.Update
	if update && !hasInput(handler.request) {
		s.nestInput(o, handler)
	}
	input := -1
	for i, f := range handler.request.Fields {
		if isReservedPayload(f.Param.Name) {
			s.report(f.tag.nameAt, Diagnostic{
				Code: codeName, FieldPath: f.path, Actual: f.Param.Name,
				Message:    fmt.Sprintf("parameter name %q begins with an underscore, which is for metadata", f.Param.Name),
				Suggestion: useName(f.Param.Name),
			})
			continue
		}
		for _, key := range []string{"readonly", "appendonly", "preset"} {
			if item, ok := f.tag.item(key); ok {
				s.report(item.whole, Diagnostic{
					Code: codeType, FieldPath: f.path,
					Message:    fmt.Sprintf("%s has no meaning on a request parameter; it is for the fields of resources", key),
					Suggestion: "remove it",
				})
			}
		}
		if f.Param.Name == "input" && update {
			input = i
		}
		if pointed(f.Shape).Kind == ShapePatch && (!update || f.Param.Name != "input" || f.Shape.Kind == ShapePointer) {
			s.report(f.tag.at, Diagnostic{
				Code: codeType, FieldPath: f.path, Actual: s.text(f.v.Type()),
				Message:    fmt.Sprintf("field %s: aql.Patch is for the parameter input of an UPDATE operation", f.path),
				Suggestion: "name the field Input with type aql.Patch[T] and use category=UPDATE",
			})
		}
	}
	s.checkSelection(o, handler)
	if !update || input < 0 && handler.request.Faulty {
		return
	}
	if input < 0 {
		s.report(o.itemsAt, Diagnostic{
			Code: codeMissing, FieldPath: o.name(), Expected: "a field with the wire name input",
			Message:    fmt.Sprintf("UPDATE operation %s has no parameter input: what changes travels in a nested object", handler.Operation.Name),
			Suggestion: s.inputSuggestion(handler.request),
		})
		return
	}
	field := &handler.request.Fields[input]
	if kind := pointed(field.Shape).Kind; kind != ShapePatch && kind != ShapeStruct {
		s.report(field.tag.at, Diagnostic{
			Code: codeType, FieldPath: field.path, Expected: "aql.Patch[T] or a struct", Actual: s.text(field.v.Type()),
			Message:    "input of an UPDATE operation must be an object",
			Suggestion: "use aql.Patch[T] or a struct whose fields are pointers",
		})
	}
	field.Param.Required = true // REQ-UP-02
	if field.Param.Description == "" && o.request == nil {
		field.Param.Description = changesDescription
	}
}

// inputSuggestion tells how an update gets its input: a request that has one object may just call it another name.
func (s *builder) inputSuggestion(request *Shape) string {
	for _, field := range request.Fields {
		if pointed(field.Shape).Kind == ShapeStruct && !s.editable(field.v.Pkg()) {
			return fmt.Sprintf("name what changes with //aql:param %s name=input, or the identifiers with ids=", field.Param.Name)
		}
	}
	return "add a field such as Input aql.Patch[T] `json:\"input\"`, or name the identifiers with ids="
}

func hasInput(request *Shape) bool {
	return slices.ContainsFunc(request.Fields, func(f Field) bool { return f.Param.Name == "input" })
}

// checkOperationNames reports operations of one name in one package (REQ-NM-07).
func (s *builder) checkOperationNames(handlers []handled, operations []operation) {
	firsts := make(map[string]int, len(handlers))
	for i := range handlers {
		handler := &handlers[i]
		first, taken := firsts[handler.Operation.Name]
		if !taken {
			firsts[handler.Operation.Name] = i
			continue
		}
		s.report(operations[i].at(), Diagnostic{
			Code: codeDuplicate, FieldPath: handler.Func, Actual: handler.Operation.Name,
			Message:    fmt.Sprintf("operation name %q is taken by %s", handler.Operation.Name, handlers[first].Func),
			Suggestion: "give one of them another name with op=",
			Related:    []Related{s.related(operations[first].decl.Name.Pos(), handlers[first].Func+" is here")},
		})
	}
}
