package scan

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
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

// handled is a handler with the shapes of its parameters and its result.
type handled struct {
	model.Handler
	request  *shapes.Shape // the parameters as a struct
	result   *shapes.Shape // nil: the handler returns only an error
	replaces bool          // an update that empties what its input leaves out
	fromHTTP bool          // request and result are parts of HTTP messages
	inPath   []string      // parameters in the path of an HTTP request
	body     *shapes.Shape // the body of an HTTP request, of which the parameters are fields; nil: there is none
}

// builder makes the handlers of one package.
type builder struct {
	*source.Program
	own     *types.Package
	shapes  *shapes.Maker
	params  *params.Maker
	speller *gotype.Speller
	linting bool
	tags    *tags.Reader
	left    []leftOut

	demanded map[*shapes.Shape]*shapes.Shape // structs that replace, with their fields required
	needs    map[*shapes.Shape]*shapes.Shape // bodies of HTTP requests, with what their framework requires required
	readers  *readers                        // of the package; nil: //aql:update is not applied

	directives *typeDirectives
	secrets    map[*types.Var]bool      // fields of results that lint has reported
	ownJSON    map[*types.TypeName]bool // types that write their own JSON, and that lint has reported

	collections  map[*shapes.Shape]*collection     // types of which operations list elements
	pages        map[pageKey]*shapes.Shape         // results of such operations, as a style of paging has them
	computations []*computation                    // of the package
	computed     map[*shapes.Shape][]computedField // of resources
	nested       map[*types.Var]bool               // fields of structs in these by which agents filter or sort
	declared     *types.Package                    // package aql, where the program has none

	withheld  map[*types.Var]bool // fields that results cannot leave out, which were reported
	warnedAny map[string]bool     // places of values of any type that were reported
	anySecret *secretField        // a field to leave out of the package's types
}

func newBuilder(p *source.Program, tags *tags.Reader, own *types.Package) *builder {
	return readDirectives(p, own).builder(p, tags, own)
}

// directives are what comments of a package say about all of its operations.
type directives struct {
	types    *typeDirectives
	verbatim bool              // //aql:names keeps names
	faults   []diag.Diagnostic // of //aql:names
}

func readDirectives(p *source.Program, own *types.Package) directives {
	before := len(p.Diagnostics)
	d := directives{types: readTypeDirectives(p, own), verbatim: keepsNames(p, own)}
	d.faults = slices.Clone(p.Diagnostics[before:])
	p.Diagnostics = p.Diagnostics[:before]
	return d
}

// builder returns a builder that knows no shapes yet.
func (d directives) builder(p *source.Program, tags *tags.Reader, own *types.Package) *builder {
	p.Diagnostics = append(p.Diagnostics, d.faults...)
	b := &builder{
		Program: p, own: own, tags: tags, shapes: shapes.NewMaker(p, tags, own), params: params.NewMaker(p, own),
		speller: gotype.NewSpeller(own), demanded: make(map[*shapes.Shape]*shapes.Shape),
		needs:      make(map[*shapes.Shape]*shapes.Shape),
		directives: d.types, collections: make(map[*shapes.Shape]*collection),
		pages: make(map[pageKey]*shapes.Shape), nested: make(map[*types.Var]bool),
		computed: make(map[*shapes.Shape][]computedField),
	}
	b.shapes.Directives = d.types.Directives
	b.shapes.Verbatim = d.verbatim
	return b
}

// shapeOf is the shape of a type that a handler mentions at place, with the parameters of all fields.
func (b *builder) shapeOf(t types.Type, place string) (*shapes.Shape, *shapes.Fault) {
	shape, fault := b.shapes.Of(t, place)
	b.params.Fill(b.shapes.NewStructs())
	return shape, fault
}

// text is a Go type as the user writes it.
func (b *builder) text(t types.Type) string { return gotype.Text(t, b.own) }

// buildHandler makes the handler of an operation. It returns false if a type cannot be carried, which it has reported.
func (b *builder) buildHandler(o operation) (handled, bool) {
	h := handled{Handler: model.Handler{
		Func: o.name(), Context: o.context, RequestPointer: o.pointer, Position: b.Position(o.at().Start),
	}}
	receiver, fault := b.receiverOf(o)
	if fault != nil {
		b.Report(o.at(), diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(),
			Message: fmt.Sprintf("%s cannot be a handler: %s", o.name(), fault.Message), Suggestion: fault.Suggestion,
		})
		return h, false
	}
	h.Receiver = receiver
	if !b.buildAdopted(&o, &h) {
		return h, false
	}
	b.buildQueried(&o, &h)
	ok := b.buildRequest(o, &h)
	if o.result != nil {
		ok = b.buildResult(o, &h) && ok
	}
	if h.request == nil {
		return h, false
	}
	b.reportForeign(o, &h)
	h.Operation = b.buildOperation(o)
	_, h.Guessed = tags.Find(o.items, "guessed")
	b.addQuery(o, &h)
	b.addLifecycle(o, &h)
	b.applyParamDirectives(o, &h)
	b.markIDs(o, &h)
	b.identifyByPlace(o, &h)
	b.identifyByPath(o, &h)
	b.requireBody(o, &h)
	b.checkRequest(o, &h)
	b.addDirectives(o, &h)
	if b.linting {
		b.lint(o, &h)
	}
	ok = b.checkSensitive(o, &h) && ok
	return h, b.checkDirections(o, &h) && ok
}

// part is the request or the result of a handler.
type part struct {
	role   string // request or result
	t      types.Type
	at     source.Span // where the type is written
	place  string      // Go path for struct types without a name
	advice string      // what to do about a type that cannot be named
}

// buildRequest shapes the request of a handler.
func (b *builder) buildRequest(o operation, h *handled) bool {
	switch {
	case o.http != nil:
		return b.buildInputs(o, h)
	case o.request == nil:
		return b.buildArguments(o, h)
	}
	p := part{"request", o.request, b.paramSpan(o), "", "use an exported type"}
	shape, ok := b.shapePart(o, p)
	if !ok {
		return false
	}
	if shape.Kind != shapes.Struct {
		b.reportPart(o, p, &shapes.Fault{
			Message: fmt.Sprintf("%s is not read field by field", b.text(o.request)), Suggestion: "use a plain struct",
		})
		return false
	}
	if h.request = b.shapes.AsParameters(shape); h.request != shape {
		b.params.AddConstants(h.request)
	}
	h.Request, ok = b.spellPart(o, p)
	return ok
}

// buildResult shapes the result of a handler.
func (b *builder) buildResult(o operation, h *handled) bool {
	p := part{
		"result", o.result, o.resultSpan(), o.name() + ".Result", "return an exported type",
	}
	shape, ok := b.shapePart(o, p)
	if !ok {
		return false
	}
	if shapes.Indirect(shape).Kind == shapes.Patch {
		b.reportPart(o, p, &shapes.Fault{Message: "aql.Patch is for requests", Suggestion: "return the resource"})
		return false
	}
	h.result = shape
	h.Result, ok = b.spellPart(o, p)
	return ok
}

// shapePart returns the shape of a part. It reports why there is none.
func (b *builder) shapePart(o operation, p part) (*shapes.Shape, bool) {
	shape, fault := b.shapeOf(p.t, p.place)
	if fault != nil {
		b.reportPart(o, p, fault)
	}
	return shape, fault == nil
}

// spellPart returns the type of a part as generated code names it. It reports a type that cannot be named.
func (b *builder) spellPart(o operation, p part) (model.GoType, bool) {
	text, ok := b.speller.Spell(p.t)
	if !ok {
		b.reportPart(o, p, &shapes.Fault{
			Message: fmt.Sprintf("%s cannot be named outside its package", b.text(p.t)), Suggestion: p.advice,
		})
	}
	return text, ok
}

// reportPart reports a fault of a part.
func (b *builder) reportPart(o operation, p part, fault *shapes.Fault) {
	if fault.Invalid {
		b.ReportInvalid(b.own, p.at, o.name())
		return
	}
	b.Report(p.at, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: o.name(), Suggestion: fault.Suggestion,
		Message: fmt.Sprintf("%s of %s: %s", p.role, o.name(), fault.Message),
	})
}

// paramSpan is where the request's type is written in the signature.
func (b *builder) paramSpan(o operation) source.Span {
	if o.adopted != nil {
		return o.adopted.at
	}
	list := o.decl.Type.Params.List
	if o.run {
		list = list[:len(list)-1]
	}
	return source.SpanOf(list[len(list)-1].Type)
}

// receiverOf returns the receiver of a method, nil for a function.
func (b *builder) receiverOf(o operation) (*model.Receiver, *shapes.Fault) {
	if o.adopted != nil {
		return b.adoptedReceiver(o)
	}
	recv := o.fn.Signature().Recv()
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
		constraint, ok := b.speller.Spell(param.Constraint())
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

// buildOperation makes the definition of an operation from its tag, its name and its doc comment.
func (b *builder) buildOperation(o operation) gen.Operation {
	op := gen.Operation{
		Name: naming.SnakeCase(o.name()), Description: comment.Describe(o.doc(), o.name()), Source: b.sourceOf(o),
	}
	if o.http != nil {
		op.Description = strings.TrimSpace(route.ReplaceAllString(op.Description, ""))
	}
	if o.adopted != nil && !b.Editable(o.fn.Pkg()) {
		op.Description = comment.Synopsis(op.Description)
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
			b.applyTimeout(&op, item)
		case "deprecated":
			op.Deprecated = item.Value
			if item.Flag {
				op.Deprecated = "Deprecated."
			}
		case "replacement":
			op.Replacement = item.Value
		case "desc":
			op.Description = item.Value
		}
	}
	b.checkOperationName(o, op.Name, nameAt)
	if op.Category == "" {
		if !o.faulty {
			b.Report(o.itemsAt, diag.Diagnostic{
				Code: diag.CodeMissing, FieldPath: o.name(), Expected: "CREATE, READ, UPDATE, DELETE or EXECUTE",
				Message:    fmt.Sprintf("operation %s has no category", op.Name),
				Suggestion: b.categorySuggestion(op.Name),
			})
		}
		return op
	}
	if verb, usual, known := naming.VerbCategory(op.Name); known && usual != op.Category && !o.run {
		b.Report(nameAt, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeName, Kind: diag.KindCategory, FieldPath: o.name(),
			Expected: string(usual), Actual: string(op.Category),
			Message: fmt.Sprintf("%s begins with %q, which says %s, but its category is %s", op.Name, verb, usual,
				op.Category),
			Suggestion: "change the category, or the name with op=",
		})
	}
	if op.DangerSource == "" {
		b.inferDanger(o, &op)
	}
	b.checkDanger(o, &op)
	if op.Description == "" {
		suggestion := fmt.Sprintf("add a comment such as // %s does …", o.name())
		if o.adopted != nil && !b.Editable(o.fn.Pkg()) {
			suggestion = "say what it does: desc='…'"
		}
		b.Report(o.at(), diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeMissing, Kind: diag.KindOperation, FieldPath: o.name(),
			Suggestion: suggestion,
			Message: fmt.Sprintf("operation %s has no description: agents see the doc comment of %s, and there is none",
				op.Name, o.name()),
		})
	}
	return op
}

func (b *builder) categorySuggestion(name string) string {
	if _, category, known := naming.VerbCategory(name); known {
		return "add category=" + string(category)
	}
	return "add one, such as category=READ"
}

// inferDanger sets the danger level that follows from name and category. A level that the name raised is noted, because
// harmless names such as reset_password match too.
func (b *builder) inferDanger(o operation, op *gen.Operation) {
	level, pattern := naming.InferDanger(op.Name, op.Category)
	op.Danger, op.DangerSource = level, gen.DangerFromCategory
	if pattern == "" {
		return
	}
	op.DangerSource = gen.DangerFromPattern
	if b.linting {
		return // lint warns of it
	}
	usual := naming.CategoryDanger(op.Category)
	b.Report(o.itemsAt, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeMissing, FieldPath: o.name(), Actual: string(level),
		Message: fmt.Sprintf("%s is %s because its name matches %s; %s alone would be %s", op.Name, level, pattern,
			op.Category, usual),
		Suggestion: fmt.Sprintf("say what it is: danger=%s if that is right", level),
	})
}

func (b *builder) applyTimeout(op *gen.Operation, item tags.Item) {
	timeout, err := time.ParseDuration(item.Value)
	if err != nil || timeout <= 0 {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, Message: fmt.Sprintf("timeout needs a positive duration, not %q", item.Value),
			Suggestion: "write it like 30s or 2m", Actual: item.Value,
		})
		return
	}
	op.Timeout = timeout
}
