package scan

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/model"
)

// loader is a function with an //aql:relation directive.
type loader struct {
	operation // what the function is apart from that
	directive directive
}

// noteLoaders remembers the relations that a function loads.
func (s *scanner) noteLoaders(o operation) {
	for _, d := range o.directives {
		if d.Name == "relation" {
			s.loaders = append(s.loaders, loader{o, d})
		}
	}
}

// relation is a relation of a package that is being built.
type relation struct {
	model.Relation
	loader    loader
	of        *shapes.Shape // what has it
	target    *shapes.Shape // what it leads to
	directive directive
}

// relations builds the relations of a package.
type relations struct {
	*builder
	handlers []handled
	types    *wiretype.Set
	all      []relation
}

// buildRelations returns the relations that the functions of a package load. It comes after the types have names.
func (s *scanner) buildRelations(
	b *builder, root *packages.Package, handlers []handled, types *wiretype.Set,
) []model.Relation {
	r := &relations{builder: b, handlers: handlers, types: types}
	for _, l := range s.loaders {
		if l.pkg == root && !l.directive.faulty {
			r.build(l)
		}
	}
	out := make([]model.Relation, 0, len(r.all))
	for i := range r.all {
		r.resolveInverse(&r.all[i])
		out = append(out, r.all[i].Relation)
	}
	r.checkRoots()
	r.tellPresets()
	r.lintRelations()
	return slices.Clip(out)
}

// report reports what is wrong with a relation.
func (r *relations) report(l *loader, at source.Span, code, message, suggestion string) {
	r.Report(at, diag.Diagnostic{
		Code: code, FieldPath: l.directive.About, Message: "//aql:relation: " + message, Suggestion: suggestion,
	})
}

// build adds the relation of a directive, unless something is wrong with it.
func (r *relations) build(l loader) {
	about := l.directive.About
	dot := strings.LastIndexByte(about, '.')
	start := l.directive.text.Start
	typeAt := source.Span{Start: start, End: source.EndOf(start, about[:dot])}
	nameAt := source.Span{Start: source.EndOf(start, about[:dot+1]), End: source.EndOf(start, about)}
	built := relation{loader: l, directive: l.directive}
	built.Name, built.Func, built.Position = about[dot+1:], l.name(), r.Position(l.at().Start)
	object, message, suggestion := (&resolver{r.Program, r.own, r.fileOf(l)}).find(about[:dot])
	if object == nil {
		r.report(&l, typeAt, diag.CodeUnresolved, message, suggestion)
		return
	}
	var ok bool
	if built.of, built.Of, ok = r.resource(&l, object.Type(), typeAt); !ok {
		return
	}
	ok = r.checkName(&built, nameAt)
	ok = r.signature(&built) && ok
	if !r.findKey(&built, object) {
		ok, built.Key.Text = false, "" // no parameter is held against it
	}
	ok = r.findOperation(&built) && ok
	if item, found := tags.Find(l.directive.items, "type"); found {
		built.Type = item.Value
		ok = r.checkIdentifiers(&built, item) && ok
	}
	built.Description = comment.Describe(l.decl.Doc, l.name())
	if item, found := tags.Find(l.directive.items, "desc"); found {
		built.Description = item.Value
	}
	ok = r.selectable(&built) && ok
	if ok {
		r.all = append(r.all, built)
	}
}

// selectable reads to which presets a relation belongs, and reports presets of one that requests cannot select.
func (r *relations) selectable(built *relation) bool {
	built.Opaque = built.of.Message || built.target != nil && built.target.Message
	item, found := tags.Find(built.directive.items, "preset")
	built.Presets = item.List
	if !found || !built.Opaque {
		return true
	}
	r.report(&built.loader, item.At, diag.CodeType,
		fmt.Sprintf("requests cannot select %s, since it leads from or to a message", built.directive.About),
		"remove preset=")
	return false
}

// tellPresets adds the presets of relations to those that requests may name.
func (r *relations) tellPresets() {
	for i := range r.handlers {
		h := &r.handlers[i]
		if !slices.ContainsFunc(h.request.Fields, func(f shapes.Field) bool { return f.Shape.Kind == shapes.Selection }) {
			continue // what it returns need not be a resource
		}
		resource := selectable(h.result)
		var presets []string
		for k := range r.all {
			if r.all[k].of == resource {
				presets = append(presets, r.all[k].Presets...)
			}
		}
		if resource != nil && presets != nil {
			fillSelection(h, resource, presets)
		}
	}
}

// fileOf is the file in which a loader is declared.
func (r *relations) fileOf(l loader) *ast.File {
	for _, file := range r.Packages[r.own].Syntax {
		if file.FileStart <= l.decl.Pos() && l.decl.Pos() < file.FileEnd {
			return file
		}
	}
	return new(ast.File)
}

// resource returns the shape of a type and its name for agents. It reports a type that no operation mentions.
func (r *relations) resource(l *loader, t types.Type, at source.Span) (*shapes.Shape, string, bool) {
	shape, fault := r.shapeOf(t, "")
	name, known := "", false
	if fault == nil && shape.Kind == shapes.Struct {
		name, known = r.types.Name(shape)
	}
	if !known {
		r.report(l, at, diag.CodeUnresolved,
			fmt.Sprintf("no operation of this package takes or returns a struct %s", r.text(t)),
			"name a type that operations return, and write an operation that returns it")
	}
	return shape, name, known
}

// checkName reports a name that is none for agents, and one that the type has already.
func (r *relations) checkName(built *relation, at source.Span) bool {
	name, l := built.Name, &built.loader
	if !naming.IsValid(name) {
		r.report(l, at, diag.CodeName, fmt.Sprintf("%q does not match ^[a-z][a-z0-9_]*$", name), naming.Use(name))
		return false
	}
	for _, field := range built.of.Fields {
		if field.Param.Name == name || slices.Contains(field.Param.Aliases, name) {
			r.Report(at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: l.directive.About, Actual: name, Suggestion: "give the relation another name",
				Message: fmt.Sprintf("//aql:relation: %s has a field %q", built.Of, name),
				Related: []diag.Related{r.Related(field.Tag.NameAt.Start, "the field is here")},
			})
			return false
		}
	}
	for i := range r.all {
		if other := &r.all[i]; other.Of == built.Of && other.Name == name {
			r.Report(at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: l.directive.About, Actual: name, Suggestion: "give one of them another name",
				Message: fmt.Sprintf("//aql:relation: %s has two relations %q", built.Of, name),
				Related: []diag.Related{r.Related(other.directive.at.Start, "the other one is here")},
			})
			return false
		}
	}
	return true
}

// signature reads what a loader takes and returns, and reports one that is no loader.
func (r *relations) signature(built *relation) bool {
	l := &built.loader
	_, built.Many = tags.Find(l.directive.items, "many")
	wrong := func(message string) bool {
		r.report(l, l.at(), diag.CodeType, fmt.Sprintf("%s cannot load %s: %s", l.name(), l.directive.About, message),
			r.wantedSignature(built))
		return false
	}
	signature := l.fn.Signature()
	params, results := signature.Params(), signature.Results()
	if signature.TypeParams().Len() > 0 || params.Len() != 2 || signature.Variadic() || results.Len() != 2 ||
		!gotype.Is(params.At(0).Type(), "context", "Context") || !isError(results.At(1).Type()) {
		return wrong("it has another signature")
	}
	keys, isSlice := params.At(1).Type().Underlying().(*types.Slice)
	found, isMap := results.At(0).Type().Underlying().(*types.Map)
	if !isSlice || !isMap || !types.Identical(keys.Elem(), found.Key()) {
		return wrong("it does not take keys and return a map from them")
	}
	value := found.Elem()
	list, isList := value.Underlying().(*types.Slice)
	if isList != built.Many {
		if isList {
			return wrong("it loads lists, and the directive does not say many")
		}
		return wrong("the directive says many, and it loads no lists")
	}
	if isList {
		value = list.Elem()
	}
	pointer, isPointer := types.Unalias(value).(*types.Pointer)
	if !isPointer {
		return wrong("it returns no pointers")
	}
	var ok, spelt bool
	if built.target, built.Target, ok = r.resource(l, pointer.Elem(), source.SpanOf(l.decl.Type.Results)); !ok {
		return false
	}
	if built.Key, spelt = r.speller.Spell(keys.Elem()); !spelt || !isKeyType(keys.Elem()) {
		return wrong("its keys are neither texts nor integers")
	}
	if built.Elem, spelt = r.speller.Spell(pointer.Elem()); !spelt {
		return wrong(r.text(pointer.Elem()) + " cannot be named in generated code")
	}
	if built.From, spelt = r.speller.Spell(built.of.Type); !spelt {
		return wrong(r.text(built.of.Type) + " cannot be named in generated code")
	}
	return r.receiver(built)
}

// isKeyType reports whether keys have a type that is a text or an integer.
func isKeyType(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsString|types.IsInteger) != 0
}

// wantedSignature is how a loader is written.
func (r *relations) wantedSignature(built *relation) string {
	value := "*V"
	if built.Many {
		value = "[]*V"
	}
	return fmt.Sprintf("func %s(ctx context.Context, keys []K) (map[K]%s, error)", built.Func, value)
}

// receiver finds the receiver of a loader, which has to be one of handlers.
func (r *relations) receiver(built *relation) bool {
	l := &built.loader
	receiver, fault := r.receiverOf(l.operation)
	if fault != nil {
		r.report(l, l.at(), diag.CodeType, fmt.Sprintf("%s cannot load it: %s", l.name(), fault.Message), fault.Suggestion)
		return false
	}
	if receiver == nil {
		return true
	}
	known := slices.ContainsFunc(r.handlers, func(h handled) bool {
		return h.Receiver != nil && h.Receiver.Type == receiver.Type && h.Receiver.Package == receiver.Package
	})
	if !known || len(receiver.TypeParams) > 0 {
		what := "has no handlers among its methods"
		if known {
			what = "has type parameters"
		}
		r.report(l, l.at(), diag.CodeType, fmt.Sprintf("%s is a method of %s, which %s", l.name(), receiver.Type, what),
			"make it a method of a type that has handlers and no type parameters, or a function")
		return false
	}
	built.Receiver = receiver
	return true
}

// findKey finds the field with the key, and reports one of another type than the loader takes.
func (r *relations) findKey(built *relation, object *types.TypeName) bool {
	l := &built.loader
	item, _ := tags.Find(l.directive.items, "by")
	v, names := (&resolver{r.Program, r.own, nil}).field(object, item.Value)
	if v == nil {
		r.report(l, item.ValueAt, diag.CodeUnresolved, fmt.Sprintf("%s has no field %s", object.Name(), item.Value),
			diag.DidYouMean(item.Value, names))
		return false
	}
	built.Field = v.Name()
	for _, field := range built.of.Fields {
		if field.Var != v {
			continue
		}
		built.By, built.Field = field.Param.Name, strings.Join(field.Selector, ".")
		if field.Param.Sensitive {
			r.report(l, item.ValueAt, diag.CodeType,
				fmt.Sprintf("%s.%s is sensitive, and a relation would show what it leads to", object.Name(), v.Name()),
				"use another field")
			return false
		}
	}
	built.Through = pointersTo(object.Type(), built.Field, v.Pkg())
	if built.Key.Text == "" {
		return true // which is reported
	}
	keys := l.fn.Signature().Params().At(1).Type().Underlying().(*types.Slice).Elem()
	held := v.Type()
	if pointer, ok := types.Unalias(held).(*types.Pointer); ok {
		held, built.Pointer = pointer.Elem(), true
	}
	if !types.Identical(held, keys) {
		r.report(l, item.ValueAt, diag.CodeType,
			fmt.Sprintf("%s.%s is %s, and %s takes keys of type %s", object.Name(), v.Name(), r.text(v.Type()), l.name(),
				r.text(keys)), fmt.Sprintf("take []%s", r.text(held)))
		return false
	}
	return true
}

// pointersTo returns the Go paths of the pointers in a struct through which the Go path of one of its fields leads.
func pointersTo(t types.Type, path string, pkg *types.Package) (pointers []string) {
	var at []string
	for _, name := range strings.Split(path, ".") {
		_, index, _ := types.LookupFieldOrMethod(t, true, pkg, name)
		for _, i := range index {
			if pointer, ok := t.Underlying().(*types.Pointer); ok {
				pointers, t = append(pointers, strings.Join(at, ".")), pointer.Elem()
			}
			field := t.Underlying().(*types.Struct).Field(i)
			at, t = append(at, field.Name()), field.Type()
		}
	}
	return pointers
}
