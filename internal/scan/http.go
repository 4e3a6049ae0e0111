package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// httpCall is what a handler of a web framework takes: the parts of an HTTP request, as fields of one struct.
type httpCall struct {
	request types.Type
	pointer bool
	inputs  []httpInput
	body    *httpBody // nil: there is none
}

// httpInput is a parameter in the path or the query of a request.
type httpInput struct {
	field    *types.Var
	selector []string
	name     string // in the path or the query
	inPath   bool
	required bool
}

// httpBody is the field with the body of a request.
type httpBody struct {
	field    *types.Var
	selector []string
}

// isHTTPCall reports whether a function is a handler of a web framework whose handlers are calls already.
func isHTTPCall(p *source.Program, o *operation) bool {
	if o.tagged {
		return false
	}
	_, _, ok := strictTypes(o.fn)
	return ok || isHuma(p, o)
}

// openHTTP takes the request and the response of a web framework apart, for a function that isHTTPCall knows.
func (b *builder) openHTTP(o *operation, h *handled) *shapes.Fault {
	o.context, o.arguments = true, nil
	h.Adopted.Value, h.Adopted.Fails = 0, true
	open := b.openHuma
	if _, _, ok := strictTypes(o.fn); ok {
		open = b.openStrict
	}
	if fault := open(o, h); fault != nil {
		return fault
	}
	o.request, o.pointer = o.http.request, o.http.pointer
	h.Context, h.RequestPointer, h.fromHTTP = true, o.pointer, true
	return nil
}

// buildInputs makes a struct shape of the parameters of a request: those in its path and its query, and the members of
// its body.
func (b *builder) buildInputs(o operation, h *handled) bool {
	text, ok := b.spellPart(o, part{"request", o.request, b.paramSpan(o), "", "use an exported type"})
	if !ok {
		return false
	}
	h.Request = text
	request := &shapes.Shape{Kind: shapes.Struct, Type: o.request}
	if named, ok := o.request.(*types.Named); ok {
		object := named.Obj()
		request.Go = shapes.GoName{PkgPath: object.Pkg().Path(), PkgName: object.Pkg().Name(), Name: object.Name()}
	}
	h.request = request
	for _, input := range o.http.inputs {
		b.addInput(o, h, input)
	}
	if o.http.body != nil {
		b.addBody(o, h)
	}
	b.checkClashes(o, request)
	b.params.AddConstants(request)
	return !request.Faulty
}

// addInput adds a parameter of the path or the query.
func (b *builder) addInput(o operation, h *handled, input httpInput) {
	request := h.request
	path := naming.Join(requestName(o), shapes.PathOf(input.selector))
	tag := b.tags.Read(input.field, path)
	if !tag.Named || tag.FromJSON {
		tag.Name, tag.FromJSON = naming.ForField(input.name, input.field.Name()), true
		if tag.Name != input.name {
			tag.Original = input.name
		}
	}
	field := shapes.Field{
		Declaration: shapes.Declaration{Path: path, Var: input.field, Tag: tag}, Selector: input.selector,
		Position: b.Position(input.field.Pos()), Param: gen.Param{Go: shapes.PathOf(input.selector)},
	}
	shape, fault := b.shapeOf(input.field.Type(), path)
	if fault != nil {
		b.reportPart(o, part{role: "parameter " + tag.Name, t: input.field.Type(), at: o.at()}, fault)
		request.Faulty = true
		return
	}
	field.Shape = shape
	if input.required {
		demandField(&field)
	}
	b.params.FillField(&field)
	request.Fields = append(request.Fields, field)
	if input.inPath {
		h.inPath = append(h.inPath, field.Param.Name)
	}
}

// requestName is how messages call the request of an operation.
func requestName(o operation) string {
	if named, ok := o.request.(*types.Named); ok {
		return named.Obj().Name()
	}
	return o.name()
}

// addBody adds the members of the body, or the body itself where it has none of its own. An agent always sends one.
func (b *builder) addBody(o operation, h *handled) {
	body, request := o.http.body, h.request
	path := naming.Join(requestName(o), shapes.PathOf(body.selector))
	shape, fault := b.shapeOf(body.field.Type(), path)
	if fault != nil {
		b.reportPart(o, part{role: "body", t: body.field.Type(), at: o.at()}, fault)
		request.Faulty = true
		return
	}
	shape = b.needed(shape)
	content, pointer := shape, shape.Kind == shapes.Pointer
	if pointer {
		content = shape.Elem
	}
	if content.Kind != shapes.Struct {
		field := shapes.Field{
			Declaration: shapes.Declaration{Path: path, Var: body.field, Tag: b.tags.Read(body.field, path)},
			Selector:    body.selector, Shape: shape, Position: b.Position(body.field.Pos()),
			Param: gen.Param{Go: shapes.PathOf(body.selector)},
		}
		demandField(&field)
		b.params.FillField(&field)
		request.Fields = append(request.Fields, field)
		return
	}
	content = b.shapes.AsParameters(content)
	request.Faulty = request.Faulty || content.Faulty
	request.Foreign = append(request.Foreign, content.Foreign...)
	filled := false
	for _, field := range content.Fields {
		field.Selector = slices.Concat(body.selector, field.Selector)
		field.Param.Go = shapes.PathOf(field.Selector)
		filled = filled || field.Param.Required
		request.Fields = append(request.Fields, field)
	}
	h.body = content
	if pointer && !filled {
		if text, ok := b.speller.Spell(shape.Elem.Type); ok {
			h.Adopted.Body = model.Allocated{Field: shapes.PathOf(body.selector), Type: text}
		}
	}
}

// checkClashes reports parameters of one name, of which one is in the path or the query and the other in the body.
func (b *builder) checkClashes(o operation, request *shapes.Shape) {
	first := make(map[string]shapes.Field, len(request.Fields))
	for _, field := range request.Fields {
		other, taken := first[field.Param.Name]
		if !taken {
			first[field.Param.Name] = field
			continue
		}
		request.Faulty = true
		suggestion := "write a function that takes the two under names of their own and calls this one, with //aql:op"
		if _, _, generated := strictTypes(o.fn); !generated && b.Editable(field.Var.Pkg()) {
			suggestion = `give one of the two fields another name for agents, such as aql:"name=` + field.Param.Name + `_2"`
		}
		b.Report(o.at(), diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: o.name(), Actual: field.Param.Name,
			Message: fmt.Sprintf("the request of %s has two parameters %q: %s and %s", o.name(), field.Param.Name,
				shapes.PathOf(other.Selector), shapes.PathOf(field.Selector)),
			Suggestion: suggestion,
			Related:    []diag.Related{b.Related(other.Var.Pos(), other.Path+" is here")},
		})
	}
}

// demandField makes a field required, as its tag would.
func demandField(field *shapes.Field) {
	if _, required := field.Tag.Item("required"); required {
		return
	}
	item := tags.Item{At: field.Tag.At, ValueAt: field.Tag.At}
	item.Key, item.Flag = "required", true
	field.Tag.Items = append(slices.Clone(field.Tag.Items), item)
	field.Param.Required = true
}

// needed returns the shape of a body with the fields required that the framework requires, at every depth: those
// without omitempty, omitzero or a default, of which null is no value.
func (b *builder) needed(shape *shapes.Shape) *shapes.Shape {
	return requirement{known: b.needs, deep: true, demand: func(f *shapes.Field) bool {
		if f.Param.Required || !isNeeded(f) {
			return false
		}
		demandField(f)
		return true
	}}.apply(shape)
}

// isNeeded reports whether a framework demands a member of a body.
func isNeeded(f *shapes.Field) bool {
	switch text := f.Tag.Foreign.Required; {
	case text != "":
		return text == "true" || text == "1"
	case f.Param.OmitEmpty || f.Param.OmitZero || f.Tag.OmitEmpty || f.Tag.OmitZero || f.Param.Default != "":
		return false
	case f.Param.ReadOnly || f.Param.Constant != "":
		return false
	}
	switch f.Shape.Kind {
	case shapes.Pointer, shapes.Any, shapes.Optional, shapes.SQLNull:
		return false // null is what is left out
	}
	return true
}

// identifyByPath marks the parameters in the path of an update as those that identify what changes. The author may name
// others.
func (b *builder) identifyByPath(o operation, h *handled) {
	if o.http == nil || h.Operation.Category != gen.Update || hasInput(h.request) ||
		slices.ContainsFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.ID }) {
		return
	}
	h.request = h.request.Clone()
	for _, input := range o.http.inputs {
		for i := range h.request.Fields {
			if input.inPath && h.request.Fields[i].Param.Go == shapes.PathOf(input.selector) {
				h.request.Fields[i].Param.ID = true
			}
		}
	}
}

// leaveHeader leaves a header or a cookie of a request out. It is a fault where the function counts on it.
func (b *builder) leaveHeader(o *operation, what, name string, needed bool) *shapes.Fault {
	if needed {
		return &shapes.Fault{
			Message:    fmt.Sprintf("it needs the %s %s, and agents send none", what, name),
			Suggestion: "write a function that sets it and calls this one, with //aql:op",
		}
	}
	b.leaveOut(o, what+" "+name, "agents send none, so the function gets none")
	return nil
}

// withoutResult adds to a suggestion that an adopted function may return nothing.
func withoutResult(o operation, suggestion string) string {
	if o.adopted == nil {
		return suggestion
	}
	return suggestion + "; or adopt it with result=0, which returns nothing"
}

// isHidden reports whether a struct has fields that encoding/json leaves out and no method that writes them.
func isHidden(t types.Type) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok || shapes.MarshalMethod(types.Unalias(t)) != "" {
		return false
	}
	for field := range st.Fields() {
		if !field.Exported() && !field.Embedded() {
			return true
		}
	}
	return false
}

// methodNamed returns a method of a type or of a pointer to it, nil if it has none of this name.
func methodNamed(t types.Type, name string) *types.Func {
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer || types.IsInterface(t) {
		return nil
	}
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
	method, _ := object.(*types.Func)
	return method
}
