package scan

import (
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// leftOut is a result or a variadic argument of adopted functions that agents do not see.
type leftOut struct {
	what string // such as "result *client.Response"
	why  string
	at   source.Span // of the first function
	path string
	more int // functions after the first
}

// checkAdopted returns why a function cannot be an operation whatever its types are.
func checkAdopted(o *operation) *shapes.Fault {
	signature := o.fn.Signature()
	if signature.TypeParams().Len() > 0 || o.decl != nil && signature.RecvTypeParams().Len() > 0 {
		return &shapes.Fault{
			Message:    "it has type parameters, and nothing says what they stand for",
			Suggestion: "write a function for the types that agents may use, with //aql:op",
		}
	}
	return nil
}

// adoptionOf is how a directive in another package would make an operation of a function.
func adoptionOf(o operation) *adoption {
	a := &adoption{at: source.SpanOf(o.decl.Name), doc: o.decl.Doc, value: -1}
	recv := o.fn.Signature().Recv()
	if recv == nil {
		return a
	}
	t := types.Unalias(recv.Type())
	if pointer, ok := t.(*types.Pointer); ok {
		a.pointer, t = true, types.Unalias(pointer.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		a.receiver = named.Obj()
	}
	return a
}

// buildAdopted reads the signature of an adopted function, of a handler of a web framework, or of a function that is
// queried: what its parameters and its result are. It does nothing for other operations. It returns false if the
// function cannot be one, which it has reported.
func (b *builder) buildAdopted(o *operation, h *handled) bool {
	isHTTP := isHTTPCall(b.Program, o)
	if o.adopted == nil && !isHTTP && !isQueried(o) {
		return true
	}
	signature := o.fn.Signature()
	adopted := &model.Adopted{Value: -1, Variadic: signature.Variadic()}
	for v := range signature.Params().Variables() {
		text, _ := b.speller.Spell(v.Type())
		adopted.Params = append(adopted.Params, text)
	}
	for v := range signature.Results().Variables() {
		text, _ := b.speller.Spell(v.Type())
		adopted.Results = append(adopted.Results, text)
	}
	if pkg := o.fn.Pkg(); signature.Recv() == nil && pkg != b.own {
		adopted.Package = model.Import{Path: pkg.Path(), Name: pkg.Name()}
	}
	h.Adopted = adopted
	var fault *shapes.Fault
	switch {
	case isHTTP:
		fault = b.openHTTP(o, h)
	case o.adopted != nil:
		fault = b.adoptSignature(o, h)
	default:
		adopted.Fails = isError(signature.Results().At(signature.Results().Len() - 1).Type())
		if o.result != nil {
			adopted.Value = 0
		}
	}
	if fault == nil {
		return true
	}
	b.Report(o.at(), diag.Diagnostic{
		Code: diag.CodeType, FieldPath: o.name(), Suggestion: fault.Suggestion,
		Message: fmt.Sprintf("%s cannot be an operation: %s", o.name(), fault.Message),
	})
	return false
}

// adoptSignature finds the parameters and the result of an operation among those of its function.
func (b *builder) adoptSignature(o *operation, h *handled) *shapes.Fault {
	signature := o.fn.Signature()
	if fault := b.adoptParameters(o, h, slices.Collect(signature.Params().Variables())); fault != nil {
		return fault
	}
	h.Context, h.RequestPointer = o.context, o.pointer
	return b.adoptResults(o, h, slices.Collect(signature.Results().Variables()))
}

// adoptParameters finds the parameters of an operation among those of its function.
func (b *builder) adoptParameters(o *operation, h *handled, params []*types.Var) *shapes.Fault {
	if len(params) > 0 && gotype.Is(params[0].Type(), "context", "Context") {
		o.context, params = true, params[1:]
	}
	variadic := o.fn.Signature().Variadic()
	if last := len(params) - 1; variadic && !b.carries(params[last].Type().(*types.Slice).Elem()) {
		o.adopted.rest, variadic = true, false
		b.leaveOut(o, fmt.Sprintf("argument ...%s", b.text(params[last].Type().(*types.Slice).Elem())),
			"JSON cannot carry it, and it is variadic")
		params = params[:last]
	}
	if last := len(params) - 1; last >= 0 {
		if fault, found := b.openRequest(o, h, params[last].Type()); found {
			return fault
		}
	}
	if len(params) == 1 && !variadic && isRequest(params[0].Type()) {
		o.request, o.pointer = requestType(params[0].Type(), false)
		return nil
	}
	fault := checkArguments(o, params)
	if fault != nil {
		fault.Suggestion = "write a function that calls it, with //aql:op"
	}
	return fault
}

// adoptResults finds the result of an operation among those of its function.
func (b *builder) adoptResults(o *operation, h *handled, results []*types.Var) *shapes.Fault {
	if last := len(results) - 1; last >= 0 && isError(results[last].Type()) {
		h.Adopted.Fails, results = true, results[:last]
	}
	if item, ok := tags.Find(o.items, "result"); ok {
		return b.chosenResult(o, h, results, item)
	}
	value := -1
	for i, v := range results {
		switch {
		case isResponse(v.Type()) && (len(results) > 1 || isCalledResponse(v.Type())):
			b.leaveOut(o, "result "+b.text(v.Type()), "it is the response that the others were read from")
		case value < 0:
			value = i
		case !b.carries(v.Type()):
			b.leaveOut(o, "result "+b.text(v.Type()), "JSON cannot carry it")
		default:
			return &shapes.Fault{
				Message: fmt.Sprintf("it returns %s and %s, and an operation has one result", b.text(results[value].Type()),
					b.text(v.Type())),
				Suggestion: fmt.Sprintf("say which of them agents get, such as result=%d; "+
					"or write a function that returns a struct of both, with //aql:op", value+1),
			}
		}
	}
	if h.Adopted.Value = value; value >= 0 {
		o.result = openResult(h, results[value].Type())
	}
	return nil
}

// chosenResult applies the key result of an adopted function.
func (b *builder) chosenResult(o *operation, h *handled, results []*types.Var, item tags.Item) *shapes.Fault {
	n, err := strconv.Atoi(item.Value)
	if err != nil || n > len(results) {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Actual: item.Value,
			Message:    fmt.Sprintf("%s has %s beside the error", o.name(), words.Count(len(results), "result")),
			Suggestion: "count from 1; result=0 returns nothing",
		})
		return nil
	}
	if h.Adopted.Value = n - 1; n > 0 {
		o.result = openResult(h, results[n-1].Type())
	}
	return nil
}

// carries reports whether JSON carries a type whole.
func (b *builder) carries(t types.Type) bool {
	trial := newBuilder(b.Program, b.tags, b.own)
	before := len(b.Diagnostics)
	shape, fault := trial.shapeOf(t, "")
	b.Diagnostics = b.Diagnostics[:before]
	return fault == nil && isWhole(shape, make(map[*shapes.Shape]bool))
}

// isWhole reports whether JSON carries all fields of a shape, at every depth.
func isWhole(shape *shapes.Shape, visited map[*shapes.Shape]bool) bool {
	if shape == nil || visited[shape] {
		return true
	}
	visited[shape] = true
	return !shape.Faulty && len(shape.Foreign) == 0 && isWhole(shape.Key, visited) && isWhole(shape.Elem, visited) &&
		!slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool { return !isWhole(f.Shape, visited) })
}

// isResponse reports whether a type is an HTTP response, or a struct with one, as API clients return beside what they
// read from it.
func isResponse(t types.Type) bool {
	t = gotype.Pointee(t)
	if gotype.Is(t, "net/http", "Response") {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range st.Fields() {
		if gotype.Is(gotype.Pointee(field.Type()), "net/http", "Response") {
			return true
		}
	}
	return false
}

// isCalledResponse reports whether a type is called Response. A result that stands alone may be what was asked for
// otherwise, beside the response that it came with.
func isCalledResponse(t types.Type) bool {
	named, ok := gotype.Pointee(t).(*types.Named)
	return ok && named.Obj().Name() == "Response"
}

// leaveOut records what agents do not see of an adopted function.
func (b *builder) leaveOut(o *operation, what, why string) {
	i := slices.IndexFunc(b.left, func(l leftOut) bool { return l.what == what })
	if i < 0 {
		b.left = append(b.left, leftOut{what: what, why: why, at: o.at(), path: o.name()})
		return
	}
	b.left[i].more++
}

// noteLeftOut notes, once a type, what agents do not see of adopted functions.
func (b *builder) noteLeftOut() {
	for _, l := range b.left {
		message := fmt.Sprintf("%s of %s is left out: %s", l.what, l.path, l.why)
		if l.more > 0 {
			message += fmt.Sprintf("; so it is in %s", words.Count(l.more, "more operation"))
		}
		b.Report(l.at, diag.Diagnostic{
			Severity: diag.Note, Code: diag.CodeType, FieldPath: l.path, Actual: strings.TrimPrefix(l.what, "result "),
			Message: message,
		})
	}
}

// adoptedReceiver returns the receiver of an adopted method, nil for a function.
func (b *builder) adoptedReceiver(o operation) (*model.Receiver, *shapes.Fault) {
	object := o.adopted.receiver
	if object == nil {
		return nil, nil
	}
	if _, ok := b.speller.Spell(object.Type()); !ok {
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("%s cannot be named outside its package", b.text(object.Type())),
			Suggestion: "write a function that calls it, with //aql:op",
		}
	}
	out := &model.Receiver{Type: object.Name(), Pointer: o.adopted.pointer}
	if object.Pkg() != b.own {
		out.Package = model.Import{Path: object.Pkg().Path(), Name: object.Pkg().Name()}
	}
	return out, nil
}

// identifyByPlace marks the plain values in front of the body of an adopted update as those that identify what changes:
// account, ledger and number in Edit(ctx, account, ledger string, number int, body *Body). The author may name others.
func (b *builder) identifyByPlace(o operation, h *handled) {
	if o.adopted == nil || o.request != nil || h.Operation.Category != gen.Update || hasInput(h.request) ||
		len(h.request.Fields) < 2 || slices.ContainsFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.ID }) {
		return
	}
	if _, named := tags.Find(o.items, "ids"); named {
		return
	}
	last := len(h.request.Fields) - 1
	for i, f := range h.request.Fields {
		if i < last && !isPlain(f.Shape) || i == last && shapes.Indirect(f.Shape).Kind != shapes.Struct {
			return
		}
	}
	h.request = h.request.Clone()
	for i := range last {
		h.request.Fields[i].Param.ID = true
	}
}

// isPlain reports whether values of a shape are single ones that a request always has.
func isPlain(shape *shapes.Shape) bool {
	switch shape.Kind {
	case shapes.Bool, shapes.Int, shapes.Uint, shapes.Float, shapes.String, shapes.Text, shapes.Number, shapes.Time:
		return true
	}
	return false
}

// requireBody makes the struct that an adopted CREATE takes last required: without it, the function would get nil. One
// that is called options is not a body.
func (b *builder) requireBody(o operation, h *handled) {
	last := len(h.request.Fields) - 1
	if o.adopted == nil || o.request != nil || h.Operation.Category != gen.Create || last < 0 {
		return
	}
	f := h.request.Fields[last]
	if f.Shape.Kind != shapes.Pointer || f.Shape.Elem.Kind != shapes.Struct || f.Param.Required ||
		strings.HasPrefix(strings.ToLower(f.Var.Name()), "opt") ||
		strings.HasSuffix(gotype.Name(f.Shape.Elem.Type), "Options") {
		return
	}
	h.request = h.request.Clone()
	h.request.Fields[last].Param.Required = true
}
