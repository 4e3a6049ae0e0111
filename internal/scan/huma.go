package scan

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// humaPath is the import path of huma. Its handlers are func(context.Context, *Input) (*Output, error).
const humaPath = "github.com/danielgtaylor/huma/v2"

// humaTypes returns the input and the output of a function with the signature of a handler of huma.
func humaTypes(fn *types.Func) (in, out types.Type, ok bool) {
	signature := fn.Signature()
	params, results := signature.Params(), signature.Results()
	if params.Len() != 2 || results.Len() != 2 || signature.Variadic() || signature.TypeParams().Len() > 0 ||
		!gotype.Is(params.At(0).Type(), "context", "Context") || !isError(results.At(1).Type()) {
		return nil, nil, false
	}
	in, isIn := pointedStruct(params.At(1).Type())
	out, isOut := pointedStruct(results.At(0).Type())
	return in, out, isIn && isOut
}

// pointedStruct returns the struct type that a type points to.
func pointedStruct(t types.Type) (types.Type, bool) {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return nil, false
	}
	elem := types.Unalias(pointer.Elem())
	_, ok = elem.Underlying().(*types.Struct)
	return elem, ok
}

// isHuma reports whether a function is a handler of huma: it has the signature of one, one of the packages that declare
// or adopt it imports huma, and its input has fields of a place in a request, or input and output have the fields of
// one.
func isHuma(p *source.Program, o *operation) bool {
	in, out, ok := humaTypes(o.fn)
	if !ok || !isLocated(in) && (!isHumaInput(in) || !isHumaOutput(out)) {
		return false
	}
	declaring := []*types.Package{o.fn.Pkg(), o.pkg.Types}
	for _, t := range []types.Type{in, out} {
		if named, ok := t.(*types.Named); ok {
			declaring = append(declaring, named.Obj().Pkg())
		}
	}
	return slices.ContainsFunc(declaring, func(pkg *types.Package) bool { return importsHuma(p, pkg) })
}

func importsHuma(p *source.Program, pkg *types.Package) bool {
	if loaded := p.Packages[pkg]; loaded != nil && loaded.Imports[humaPath] != nil {
		return true
	}
	return pkg != nil && slices.ContainsFunc(pkg.Imports(), func(i *types.Package) bool { return i.Path() == humaPath })
}

// humaField is a field of an input or an output, in the struct itself or in one that it embeds.
type humaField struct {
	*types.Var
	tag      reflect.StructTag
	selector []string
}

// location returns where huma reads a field of an input from, and under which name; empty: from nowhere.
func (f humaField) location() (in, name string) {
	for _, in := range []string{"path", "query", "header", "form", "cookie"} {
		if name, _, _ := strings.Cut(f.tag.Get(in), ","); name != "" {
			return in, name
		}
	}
	return "", ""
}

// flag returns the value of a tag that is true or false.
func (f humaField) flag(key string) bool {
	value, err := strconv.ParseBool(f.tag.Get(key))
	return err == nil && value
}

// isBody reports whether a field holds a body.
func (f humaField) isBody() bool {
	in, _ := f.location()
	return f.Name() == "Body" && in == "" && f.tag.Get("json") == ""
}

// humaFields lists the exported fields of a struct and of those that it embeds.
func humaFields(t types.Type) []humaField {
	var list []humaField
	visited := make(map[types.Type]bool)
	var walk func(t types.Type, selector []string)
	walk = func(t types.Type, selector []string) {
		st, ok := t.Underlying().(*types.Struct)
		if !ok || visited[t] {
			return
		}
		visited[t] = true
		for i := range st.NumFields() {
			v := st.Field(i)
			way := append(slices.Clone(selector), v.Name())
			if v.Embedded() {
				walk(types.Unalias(v.Type()), way)
			} else if v.Exported() {
				list = append(list, humaField{v, reflect.StructTag(st.Tag(i)), way})
			}
		}
	}
	walk(t, nil)
	return list
}

// isLocated reports whether a field of a struct says where in a request it comes from.
func isLocated(in types.Type) bool {
	return slices.ContainsFunc(humaFields(in), func(f humaField) bool {
		location, _ := f.location()
		return location != ""
	})
}

// isHumaInput reports whether huma fills fields of a struct, or the struct is empty.
func isHumaInput(in types.Type) bool {
	if in.Underlying().(*types.Struct).NumFields() == 0 {
		return true
	}
	return isLocated(in) || slices.ContainsFunc(humaFields(in), func(f humaField) bool {
		return f.isBody() || f.Name() == "RawBody"
	})
}

// isHumaOutput reports whether a struct has a body, or all of its fields are other parts of a response. To huma, every
// field beside a body is a header.
func isHumaOutput(out types.Type) bool {
	fields := humaFields(out)
	return slices.ContainsFunc(fields, humaField.isBody) || !slices.ContainsFunc(fields, func(f humaField) bool {
		return f.Name() != "Status" && f.tag.Get("header") == ""
	})
}

// openHuma takes the input and the output of a handler of huma apart.
func (b *builder) openHuma(o *operation, h *handled) *shapes.Fault {
	in, out, _ := humaTypes(o.fn)
	call := &httpCall{request: in, pointer: true}
	if name := embeddedPointer(in); name != "" {
		return &shapes.Fault{
			Message:    fmt.Sprintf("its input embeds a pointer to %s, which may be nil", name),
			Suggestion: "embed " + name + " itself",
		}
	}
	for _, f := range humaFields(in) {
		where, name := f.location()
		switch {
		case where == "form" || f.Name() == "RawBody":
			return &shapes.Fault{
				Message:    fmt.Sprintf("it takes %s, which is not JSON", f.Name()),
				Suggestion: "write a function that takes its values, with //aql:op",
			}
		case where == "header" || where == "cookie":
			needed := f.flag("required") || f.tag.Get("default") != ""
			if fault := b.leaveHeader(o, where, name, needed); fault != nil {
				return fault
			}
		case where != "":
			inPath := where == "path"
			call.inputs = append(call.inputs, httpInput{
				f.Var, f.selector, name, inPath, (inPath && f.tag.Get("required") == "") || f.flag("required"),
			})
		case f.isBody():
			call.body = &httpBody{f.Var, f.selector}
		}
	}
	if reader := requestReader(in); reader != "" {
		return &shapes.Fault{
			Message:    fmt.Sprintf("%s reads the HTTP request itself, and an operation has none", reader),
			Suggestion: "write a function that takes the values, with //aql:op",
		}
	}
	o.http = call
	return b.openHumaOutput(o, h, out)
}

// embeddedPointer returns the name of a struct that an input embeds by a pointer; empty: there is none.
func embeddedPointer(in types.Type) string {
	for field := range in.Underlying().(*types.Struct).Fields() {
		if !field.Embedded() {
			continue
		}
		if elem, ok := pointedStruct(field.Type()); ok {
			return gotype.Name(elem)
		}
		if _, ok := field.Type().Underlying().(*types.Struct); ok {
			if name := embeddedPointer(field.Type()); name != "" {
				return name
			}
		}
	}
	return ""
}

// openHumaOutput finds the result of an operation in the output of a handler of huma.
func (b *builder) openHumaOutput(o *operation, h *handled, out types.Type) *shapes.Fault {
	if !isHumaOutput(out) { // a function behind the handlers, which takes their inputs
		o.result = o.fn.Signature().Results().At(0).Type()
		return nil
	}
	o.result = nil
	for _, f := range humaFields(out) {
		switch {
		case f.isBody():
			h.Adopted.Field, o.result = shapes.PathOf(f.selector), f.Type()
		case f.Name() == "Status" && f.tag.Get("header") == "":
			if basic, ok := f.Type().Underlying().(*types.Basic); ok && basic.Kind() == types.Int {
				h.Adopted.Status = shapes.PathOf(f.selector)
			}
		default:
			b.leaveOut(o, "response header "+cmp.Or(f.tag.Get("header"), f.Name()), "agents see no headers")
		}
	}
	if item, ok := tags.Find(o.items, "result"); ok && item.Value == "0" {
		o.result, h.Adopted.Field = nil, ""
	}
	switch t := o.result; {
	case t == nil && h.Adopted.Status == "":
		h.Adopted.Value = -1
	case t == nil:
	case isFunction(t) || isBytes(t):
		return &shapes.Fault{
			Message:    fmt.Sprintf("it answers with %s, which is not JSON", b.text(t)),
			Suggestion: withoutResult(*o, "write a function that returns a struct, with //aql:op"),
		}
	}
	return nil
}

func isBytes(t types.Type) bool {
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	basic, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8 && shapes.MarshalMethod(types.Unalias(t)) == ""
}

// requestReader returns the name of a type in an input, at any depth, whose values huma lets read the HTTP request;
// empty: there is none.
func requestReader(t types.Type) string {
	visited := make(map[types.Type]bool)
	var walk func(t types.Type) string
	walk = func(t types.Type) string {
		t = types.Unalias(t)
		if visited[t] {
			return ""
		}
		visited[t] = true
		if m := readingMethod(t); m != nil {
			return gotype.Name(gotype.Pointee(m.Signature().Recv().Type()))
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			return walk(u.Elem())
		case *types.Slice:
			return walk(u.Elem())
		case *types.Array:
			return walk(u.Elem())
		case *types.Map:
			return walk(u.Elem())
		case *types.Struct:
			for field := range u.Fields() {
				if name := walk(field.Type()); name != "" {
					return name
				}
			}
		}
		return ""
	}
	return walk(t)
}

// readingMethod returns the method by which values of a type read an HTTP request; nil: there is none.
func readingMethod(t types.Type) *types.Func {
	if m := methodNamed(t, "Receiver"); m != nil && m.Signature().Results().Len() == 1 &&
		gotype.Is(m.Signature().Results().At(0).Type(), "reflect", "Value") {
		return m
	}
	if m := methodNamed(t, "Resolve"); m != nil && m.Signature().Params().Len() > 0 &&
		gotype.Is(m.Signature().Params().At(0).Type(), humaPath, "Context") {
		return m
	}
	return nil
}
