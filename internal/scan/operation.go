package scan

import (
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"time"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/params"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// handled is a handler with the shapes of what goes in and out.
type handled struct {
	model.Handler
	request *shapes.Shape // the parameters as a struct, whatever the handler takes
	result  *shapes.Shape // nil: the error alone
}

// builder makes the handlers of one package.
type builder struct {
	*source.Program
	own     *types.Package
	shapes  *shapes.Maker
	params  *params.Maker
	speller *gotype.Speller
	linting bool
}

func newBuilder(p *source.Program, tags *tags.Reader, own *types.Package) *builder {
	return &builder{
		Program: p, own: own, shapes: shapes.NewMaker(p, tags, own), params: params.NewMaker(p, own),
		speller: gotype.NewSpeller(own),
	}
}

// shapeOf is the shape of a type that a handler mentions at place, with the parameters of all fields.
func (s *builder) shapeOf(t types.Type, place string) (*shapes.Shape, *shapes.Fault) {
	shape, fault := s.shapes.Of(t, place)
	s.params.Fill(s.shapes.NewStructs())
	return shape, fault
}

// text is a Go type as the user writes it.
func (s *builder) text(t types.Type) string { return gotype.Text(t, s.own) }

// buildHandler makes the handler that o describes. Not ok: its types cannot be carried, which has been reported.
func (s *builder) buildHandler(o operation) (handled, bool) {
	h := handled{Handler: model.Handler{
		Func: o.name(), Context: o.context, RequestPointer: o.pointer, Position: s.Position(o.decl.Name.Pos()),
	}}
	receiver, fault := s.receiverOf(o.fn)
	if fault != nil {
		s.Report(o.at(), diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(),
			Message: fmt.Sprintf("%s cannot be a handler: %s", o.name(), fault.Message), Suggestion: fault.Suggestion,
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
	if fault == nil && request.Kind != shapes.Struct {
		fault = &shapes.Fault{
			Message: fmt.Sprintf("%s is not read field by field", s.text(o.request)), Suggestion: "use a plain struct",
		}
	}
	if fault != nil {
		s.reportSignature(o, "request", at, fault)
		return false
	}
	h.request = request
	text, ok := s.speller.Spell(o.request)
	if !ok {
		s.reportSignature(o, "request", at, &shapes.Fault{
			Message:    fmt.Sprintf("%s cannot be named outside its package", s.text(o.request)),
			Suggestion: "use an exported type",
		})
		return false
	}
	h.Request = text
	return true
}

// buildResult shapes what the handler returns.
func (s *builder) buildResult(o operation, h *handled) bool {
	at := source.SpanOf(o.decl.Type.Results.List[0].Type)
	result, fault := s.shapeOf(o.result, o.name()+".Result")
	if fault == nil && shapes.Indirect(result).Kind == shapes.Patch {
		fault = &shapes.Fault{Message: "aql.Patch is for requests", Suggestion: "return the resource"}
	}
	if fault != nil {
		s.reportSignature(o, "result", at, fault)
		return false
	}
	h.result = result
	text, ok := s.speller.Spell(o.result)
	if !ok {
		s.reportSignature(o, "result", at, &shapes.Fault{
			Message:    fmt.Sprintf("%s cannot be named outside its package", s.text(o.result)),
			Suggestion: "return an exported type",
		})
		return false
	}
	h.Result = text
	return true
}

// paramSpan is where the request's type is written in the signature.
func (s *builder) paramSpan(o operation) source.Span {
	list := o.decl.Type.Params.List
	return source.SpanOf(list[len(list)-1].Type)
}

func (s *builder) reportSignature(o operation, role string, at source.Span, fault *shapes.Fault) {
	if fault.Invalid {
		s.ReportInvalid(s.own, at, o.name())
		return
	}
	s.Report(at, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: o.name(), Suggestion: fault.Suggestion,
		Message: fmt.Sprintf("%s of %s: %s", role, o.name(), fault.Message),
	})
}

// receiverOf describes the receiver of a method; nil for a function.
func (s *builder) receiverOf(fn *types.Func) (*model.Receiver, *shapes.Fault) {
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
		return nil, &shapes.Fault{Message: "its receiver has no named type", Invalid: true}
	}
	out := &model.Receiver{Type: named.Obj().Name(), Pointer: pointer}
	for param := range named.Origin().TypeParams().TypeParams() {
		constraint, ok := s.speller.Spell(param.Constraint())
		if !ok {
			return nil, &shapes.Fault{
				Message: fmt.Sprintf("type parameter %s of its receiver has a constraint that generated code cannot repeat",
					param.Obj().Name()),
				Suggestion: "declare a named constraint, such as type Number interface { ~int | ~float64 }",
			}
		}
		out.TypeParams = append(out.TypeParams, model.TypeParam{Name: param.Obj().Name(), Constraint: constraint})
	}
	return out, nil
}

// buildOperation fills in what tag, name and doc comment say about an operation.
func (s *builder) buildOperation(o operation) gen.Operation {
	op := gen.Operation{
		Name: naming.SnakeCase(o.name()), Description: comment.Describe(o.decl.Doc, o.name()), Source: s.sourceOf(o),
	}
	nameAt := o.at()
	for _, item := range o.items {
		switch item.Key {
		case "op":
			op.Name, nameAt = item.Value, item.ValueAt
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
			s.Report(o.itemsAt, diag.Diagnostic{
				Code: diag.CodeMissing, FieldPath: o.name(), Expected: "CREATE, READ, UPDATE, DELETE or EXECUTE",
				Message:    fmt.Sprintf("operation %s has no category", op.Name),
				Suggestion: s.categorySuggestion(op.Name),
			})
		}
		return op
	}
	if verb, usual, known := naming.VerbCategory(op.Name); known && usual != op.Category {
		s.Report(nameAt, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeName, FieldPath: o.name(), Expected: string(usual),
			Actual: string(op.Category),
			Message: fmt.Sprintf("%s begins with %q, which says %s, but its category is %s", op.Name, verb, usual,
				op.Category),
			Suggestion: "change the category, or the name with op=",
		})
	}
	if op.DangerSource == "" {
		s.inferDanger(o, &op)
	}
	if op.Description == "" {
		s.Report(o.at(), diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeMissing, FieldPath: o.name(),
			Message: fmt.Sprintf("operation %s has no description: agents see the doc comment of %s, and there is none",
				op.Name, o.name()),
			Suggestion: fmt.Sprintf("add a comment such as // %s does …", o.name()),
		})
	}
	return op
}

func (s *builder) categorySuggestion(name string) string {
	if _, category, known := naming.VerbCategory(name); known {
		return "add category=" + string(category)
	}
	return "add one, such as category=READ"
}

// inferDanger sets the level that name and category stand for. A name that raises the level is worth a note: harmless
// ones such as reset_password match too (T-53).
func (s *builder) inferDanger(o operation, op *gen.Operation) {
	level, pattern := naming.InferDanger(op.Name, op.Category)
	op.Danger, op.DangerSource = level, gen.DangerFromCategory
	if pattern == "" {
		return
	}
	op.DangerSource = gen.DangerFromPattern
	usual := naming.CategoryDanger(op.Category)
	s.Report(o.itemsAt, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeMissing, FieldPath: o.name(), Actual: string(level),
		Message: fmt.Sprintf("%s is %s because its name matches %s; %s alone would be %s", op.Name, level, pattern,
			op.Category, usual),
		Suggestion: fmt.Sprintf("say what it is: danger=%s if that is right", level),
	})
}

func (s *builder) applyTimeout(op *gen.Operation, item tags.Item) {
	timeout, err := time.ParseDuration(item.Value)
	if err != nil || timeout <= 0 {
		s.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, Message: fmt.Sprintf("timeout needs a positive duration, not %q", item.Value),
			Suggestion: "write it like 30s or 2m", Actual: item.Value,
		})
		return
	}
	op.Timeout = timeout
}

// checkOperationName reports names outside the grammar and names that the protocol keeps (REQ-NM-01, REQ-NM-06).
func (s *builder) checkOperationName(o operation, name string, at source.Span) {
	switch {
	case !naming.IsValid(name):
		s.Report(at, diag.Diagnostic{
			Code: diag.CodeName, FieldPath: o.name(), Expected: "^[a-z][a-z0-9_]*$", Actual: name,
			Message: fmt.Sprintf("operation name %q does not match ^[a-z][a-z0-9_]*$", name), Suggestion: naming.Use(name),
		})
	case naming.IsReserved(name):
		s.Report(at, diag.Diagnostic{
			Code: diag.CodeName, FieldPath: o.name(), Actual: name,
			Message:    fmt.Sprintf("operation name %q is reserved by the protocol", name),
			Suggestion: "choose another name with op=",
		})
	}
}

// sourceOf is "file:line" of the handler, relative to its module.
func (s *builder) sourceOf(o operation) string {
	position := s.Position(o.decl.Name.Pos())
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
		if naming.IsReservedField(f.Param.Name) {
			s.Report(f.Tag.NameAt, diag.Diagnostic{
				Code: diag.CodeName, FieldPath: f.Path, Actual: f.Param.Name,
				Message:    fmt.Sprintf("parameter name %q begins with an underscore, which is for metadata", f.Param.Name),
				Suggestion: naming.Use(f.Param.Name),
			})
			continue
		}
		for _, key := range []string{"readonly", "appendonly", "preset"} {
			if item, ok := f.Tag.Item(key); ok {
				s.Report(item.At, diag.Diagnostic{
					Code: diag.CodeType, FieldPath: f.Path,
					Message:    fmt.Sprintf("%s has no meaning on a request parameter; it is for the fields of resources", key),
					Suggestion: "remove it",
				})
			}
		}
		if f.Param.Name == "input" && update {
			input = i
		}
		if shapes.Indirect(f.Shape).Kind == shapes.Patch &&
			(!update || f.Param.Name != "input" || f.Shape.Kind == shapes.Pointer) {
			s.Report(f.Tag.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: f.Path, Actual: s.text(f.Var.Type()),
				Message:    fmt.Sprintf("field %s: aql.Patch is for the parameter input of an UPDATE operation", f.Path),
				Suggestion: "name the field Input with type aql.Patch[T] and use category=UPDATE",
			})
		}
	}
	s.checkSelection(handler)
	if !update || input < 0 && handler.request.Faulty {
		return
	}
	if input < 0 {
		s.Report(o.itemsAt, diag.Diagnostic{
			Code: diag.CodeMissing, FieldPath: o.name(), Expected: "a field with the wire name input",
			Message: fmt.Sprintf("UPDATE operation %s has no parameter input: what changes travels in a nested object",
				handler.Operation.Name),
			Suggestion: s.inputSuggestion(handler.request),
		})
		return
	}
	field := &handler.request.Fields[input]
	if kind := shapes.Indirect(field.Shape).Kind; kind != shapes.Patch && kind != shapes.Struct {
		s.Report(field.Tag.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: field.Path, Expected: "aql.Patch[T] or a struct", Actual: s.text(field.Var.Type()),
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
func (s *builder) inputSuggestion(request *shapes.Shape) string {
	for _, field := range request.Fields {
		if shapes.Indirect(field.Shape).Kind == shapes.Struct && !s.Editable(field.Var.Pkg()) {
			return fmt.Sprintf("name what changes with //aql:param %s name=input, or the identifiers with ids=",
				field.Param.Name)
		}
	}
	return "add a field such as Input aql.Patch[T] `json:\"input\"`, or name the identifiers with ids="
}

func hasInput(request *shapes.Shape) bool {
	return slices.ContainsFunc(request.Fields, func(f shapes.Field) bool { return f.Param.Name == "input" })
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
		s.Report(operations[i].at(), diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: handler.Func, Actual: handler.Operation.Name,
			Message:    fmt.Sprintf("operation name %q is taken by %s", handler.Operation.Name, handlers[first].Func),
			Suggestion: "give one of them another name with op=",
			Related:    []diag.Related{s.Related(operations[first].decl.Name.Pos(), handlers[first].Func+" is here")},
		})
	}
}
