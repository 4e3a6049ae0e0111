package scan

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// secretField is a field that results are to leave out: it is sensitive, or an //aql:hide names it.
type secretField struct {
	of   *types.Named // the type that has it; nil: a struct without a name
	v    *types.Var
	hide *shapes.HideDirective // nil: its tag says it
}

// checkSensitive reports fields that results are to leave out, in values that are not written field by field: those of
// types with methods that write them. It warns of values of any type, where the package has a type with such fields.
func (b *builder) checkSensitive(o operation, h *handled) bool {
	ok := true
	visited := make(map[*shapes.Shape]bool)
	var walk func(shape *shapes.Shape, at shapes.Declaration)
	walk = func(shape *shapes.Shape, at shapes.Declaration) {
		if shape == nil || visited[shape] && shape.Kind != shapes.Any {
			return
		}
		visited[shape] = true
		switch shape.Kind {
		case shapes.JSON, shapes.Text:
			for _, secret := range b.secretFields(shape.Type) {
				ok = false
				b.reportSecretField(o, shape.Type, secret)
			}
		case shapes.Any:
			b.warnAny(o, at)
		}
		walk(shape.Key, at)
		walk(shape.Elem, at)
		for i := range shape.Fields {
			field := &shape.Fields[i]
			if shapes.IsRuntime(field.Var.Pkg()) && field.Param.Name == "aggregations" {
				continue // the summaries of an aql.Page have no values of sensitive fields
			}
			inner := at
			if b.Editable(field.Var.Pkg()) {
				inner = field.Declaration
			}
			if !field.Param.Sensitive {
				walk(field.Shape, inner)
			}
		}
	}
	if h.result != nil {
		walk(h.result, shapes.Declaration{Path: o.name(), Tag: tags.Tag{At: o.resultSpan()}})
	}
	return ok
}

// secretFields returns the fields to leave out in the values that a value of t consists of.
func (b *builder) secretFields(t types.Type) []secretField {
	var found []secretField
	visited := make(map[types.Type]bool)
	var walk func(t types.Type, of *types.Named)
	walk = func(t types.Type, of *types.Named) {
		t = types.Unalias(t)
		if named, ok := t.(*types.Named); ok { // an instance of a generic type may lead to ever more of them
			for arg := range named.TypeArgs().Types() {
				walk(arg, nil)
			}
			t = named.Origin()
		}
		if visited[t] {
			return
		}
		visited[t] = true
		switch t := t.(type) {
		case *types.Named:
			walk(t.Underlying(), t)
		case *types.Map:
			walk(t.Key(), nil)
			walk(t.Elem(), nil)
		case interface{ Elem() types.Type }:
			walk(t.Elem(), nil)
		case *types.Struct:
			for i := range t.NumFields() {
				v := t.Field(i)
				if !v.Exported() && !v.Embedded() && !b.Editable(v.Pkg()) {
					continue // how another module keeps its values
				}
				if hide := b.directives.Hidden[v.Origin()]; hide != nil || hasSensitive(t.Tag(i)) {
					found = append(found, secretField{of, v, hide})
					continue
				}
				walk(v.Type(), nil)
			}
		}
	}
	walk(t, nil)
	return found
}

// hasSensitive reports whether an aql tag has the item sensitive.
func hasSensitive(tag string) bool {
	return slices.Contains(strings.Split(reflect.StructTag(tag).Get("aql"), ","), "sensitive")
}

// reportSecretField reports a field to leave out in values of t, which are not written field by field, once a package.
func (b *builder) reportSecretField(o operation, t types.Type, secret secretField) {
	if b.withheld == nil {
		b.withheld = make(map[*types.Var]bool)
	}
	if b.withheld[secret.v.Origin()] {
		return
	}
	b.withheld[secret.v.Origin()] = true
	path := b.pathOf(secret)
	what, remove, at := "sensitive", "sensitive", b.tags.Read(secret.v, path).TagAt
	if secret.hide != nil {
		secret.hide.Used = true
		what, remove, at = "//aql:hide", "the directive", secret.hide.At
	}
	if secret.hide == nil && !b.Editable(secret.v.Pkg()) || at.Start == 0 {
		at = o.resultSpan()
	}
	name := b.text(t)
	method := shapes.MarshalMethod(t)
	how, suggestion := fmt.Sprintf("%s is written by its method %s", name, method),
		fmt.Sprintf("leave the field out in %s and remove %s, or remove the method", method, remove)
	switch embedded := b.promotedFrom(t, method); {
	case strings.HasPrefix(method, "Un"):
		how = fmt.Sprintf("%s has the method %s, so encoding/json writes it", name, method)
		suggestion = fmt.Sprintf("add M%s that leaves the field out and remove %s, or remove the method",
			strings.TrimPrefix(method, "Unm"), remove)
	case embedded != "":
		how = fmt.Sprintf("%s is written by the method %s of %s, which it embeds", name, method, embedded)
		suggestion = fmt.Sprintf("give the embedded %s a field name, or give %s its own %s that leaves the field out, "+
			"and remove %s", embedded, name, method, remove)
	}
	b.Report(at, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: path, Actual: name,
		Message:    fmt.Sprintf("%s has no effect on %s in results of %s: %s", what, path, o.name(), how),
		Suggestion: suggestion,
	})
}

// pathOf names a field by the type that has it.
func (b *builder) pathOf(secret secretField) string {
	if secret.of == nil {
		return secret.v.Name()
	}
	return b.text(secret.of.Origin().Obj().Type()) + "." + secret.v.Name()
}

// promotedFrom returns the embedded type that a method of t is of; empty: t has it itself.
func (b *builder) promotedFrom(t types.Type, method string) string {
	object, index, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, method)
	fn, ok := object.(*types.Func)
	if !ok || len(index) < 2 || fn.Signature().Recv() == nil {
		return ""
	}
	receiver := fn.Signature().Recv().Type()
	if pointer, ok := receiver.(*types.Pointer); ok {
		receiver = pointer.Elem()
	}
	return b.text(receiver)
}

// warnAny warns of values of any type in a result, where a type of the package has fields to leave out.
func (b *builder) warnAny(o operation, at shapes.Declaration) {
	if b.anySecret == nil {
		b.anySecret = b.firstSecret()
	}
	if b.anySecret.v == nil || b.warnedAny[at.Path] {
		return
	}
	if b.warnedAny == nil {
		b.warnedAny = make(map[string]bool)
	}
	b.warnedAny[at.Path] = true
	where := at.Tag.At
	if at.Tag.Field != nil {
		where = source.SpanOf(at.Tag.Field.Type)
	}
	b.Report(where, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeType, FieldPath: at.Path,
		Message: fmt.Sprintf("results of %s have values of any type in %s: fields that are sensitive, such as %s, are not "+
			"left out there", o.name(), at.Path, b.pathOf(*b.anySecret)),
		Suggestion: "name the type of the values; if they never have such fields, say so with //aql:nolint and why",
	})
}

// firstSecret returns the first field to leave out of the types of the package, and an empty one where there is none.
func (b *builder) firstSecret() *secretField {
	for _, name := range b.own.Scope().Names() {
		if object, ok := b.own.Scope().Lookup(name).(*types.TypeName); ok && !hasRequestTag(object.Type()) {
			for _, secret := range b.secretFields(object.Type()) {
				return &secret
			}
		}
	}
	return &secretField{}
}

// hasRequestTag reports whether a type is a request struct by its tag, which results do not have.
func hasRequestTag(t types.Type) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range st.NumFields() {
		if _, tagged := reflect.StructTag(st.Tag(i)).Lookup("aql"); tagged && st.Field(i).Name() == "_" {
			return true
		}
	}
	return false
}
