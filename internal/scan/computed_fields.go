package scan

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// computedField is a computed field of a resource, parallel to the Computed of its shape.
type computedField struct {
	*computation
	model model.Computed
}

// addComputed gives the resource of an operation its computed fields, if requests can select them or filter and sort by
// them (MCP-AQL computed fields).
func (b *builder) addComputed(h *handled) {
	usable := func(f shapes.Field) bool { return f.Shape.Kind == shapes.Selection || isQueryField(f) }
	if h.result == nil || !slices.ContainsFunc(h.request.Fields, usable) {
		return
	}
	resource := selectable(h.result)
	if resource == nil || b.computed[resource] != nil {
		return
	}
	named, ok := types.Unalias(resource.Type).(*types.Named)
	if !ok {
		return
	}
	b.computed[resource] = []computedField{}
	for _, c := range b.computationsOf(named) {
		b.addComputation(resource, c)
	}
}

// addComputation adds a computed field to a resource. It reports one that cannot be.
func (b *builder) addComputation(resource *shapes.Shape, c *computation) {
	name, nameAt := naming.SnakeCase(c.fn.Name()), c.at
	if item, ok := tags.Find(c.directive.items, "name"); ok {
		name, nameAt = item.Value, item.ValueAt
	}
	path := b.text(c.resource) + "." + c.fn.Name()
	fail := func(at source.Span, code, message, suggestion string) {
		b.Report(at, diag.Diagnostic{Code: code, FieldPath: path, Message: message, Suggestion: suggestion})
	}
	shape, fault := b.shapeOf(c.value, path)
	receiver, misfit := b.computingReceiver(c)
	element, named := b.speller.Spell(c.resource)
	value, spelled := b.speller.Spell(c.value)
	switch {
	case resource.Message:
		fail(c.at, diag.CodeType, fmt.Sprintf("%s is a message, which has no computed fields", b.text(c.resource)),
			"return a struct of your own")
	case !naming.IsValid(name):
		fail(nameAt, diag.CodeName, fmt.Sprintf("computed field name %q does not match ^[a-z][a-z0-9_]*$", name),
			naming.Use(name))
	case b.collides(resource, name, nameAt, path):
	case fault != nil:
		fail(c.at, diag.CodeType, fmt.Sprintf("value of %s: %s", path, fault.Message), fault.Suggestion)
	case shape.Kind == shapes.Patch || shape.Kind == shapes.Selection || shape.Kind == shapes.Filter:
		fail(c.at, diag.CodeType, fmt.Sprintf("value of %s: %s is for requests", path, b.text(c.value)),
			"return what agents are to see")
	case !spelled || !named:
		fail(c.at, diag.CodeType, fmt.Sprintf("value of %s: %s cannot be named outside its package", path,
			b.text(c.value)), "return an exported type")
	case misfit != nil:
		fail(c.at, diag.CodeType, fmt.Sprintf("%s cannot be a computed field: %s", path, misfit.Message), misfit.Suggestion)
	default:
		field := shapes.Field{
			Declaration: shapes.Declaration{
				Path: path, Var: types.NewVar(c.fn.Pos(), c.fn.Pkg(), c.fn.Name(), c.value),
				Tag: tags.Tag{GoName: c.fn.Name(), Name: name, Items: c.directive.items, At: c.at, NameAt: nameAt},
			},
			Shape: shape, Position: b.Position(c.at.Start),
			Param: gen.Param{Name: name, Description: comment.Describe(c.doc, c.fn.Name())},
		}
		if item, ok := tags.Find(c.directive.items, "preset"); ok {
			field.Param.Presets = item.List
		}
		b.checkPageKeys(c, name)
		resource.Computed = append(resource.Computed, field)
		b.computed[resource] = append(b.computed[resource], computedField{c, model.Computed{
			Func: c.fn.Name(), Receiver: receiver, Context: c.context, Page: c.page, Element: element, Value: value,
		}})
	}
}

// computingReceiver returns the receiver of a function over a page, nil for a plain function and for a method of the
// resource.
func (b *builder) computingReceiver(c *computation) (*model.Receiver, *shapes.Fault) {
	if !c.page {
		return nil, nil
	}
	return b.receiverOf(operation{fn: c.fn})
}

// collides reports a computed field with the name of another one, or of a field.
func (b *builder) collides(resource *shapes.Shape, name string, at source.Span, path string) bool {
	report := func(other shapes.Field, what string) bool {
		d := diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: path, Actual: name, Suggestion: "rename it with name=",
			Message: fmt.Sprintf("computed field %q has the name of %s %s", name, what, other.Path),
		}
		if b.isOwn(&other) {
			d.Related = []diag.Related{b.Related(other.Tag.At.Start, other.Path+" is here")}
		}
		b.Report(at, d)
		return true
	}
	for _, f := range resource.Fields {
		if f.Param.Name == name || slices.Contains(f.Param.Aliases, name) || f.Param.Name == gen.ComputedMember {
			return report(f, "field")
		}
	}
	for _, f := range resource.Computed {
		if f.Param.Name == name {
			return report(f, "computed field")
		}
	}
	return false
}

// checkPageKeys reports keys that need the value of one element, on a function that computes those of a page.
func (b *builder) checkPageKeys(c *computation, name string) {
	for _, key := range []string{"filter", "sort"} {
		if item, ok := tags.Find(c.directive.items, key); ok && c.page {
			b.Report(item.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: c.fn.Name(),
				Message: fmt.Sprintf("%s does not apply to computed field %s, which is computed of a page that is already "+
					"filtered and sorted", key, name),
				Suggestion: "remove it, or compute the field in a method of " + b.text(c.resource),
			})
		}
	}
}

// addComputedMembers adds to a collection the computed fields by which agents may filter or sort.
func (b *builder) addComputedMembers(c *collection) {
	for i := range c.resource.Computed {
		f := &c.resource.Computed[i]
		if b.computed[c.resource][i].page {
			continue // which is reported
		}
		m := member{Field: f, name: gen.ComputedPrefix + f.Param.Name}
		comparable := isComparable(f)
		if item, ok := f.Tag.Item("filter"); ok && b.checkComparable(f, item, comparable) {
			c.filterable = append(c.filterable, m)
		}
		list := shapes.Indirect(f.Shape).Kind == shapes.Slice
		if item, ok := f.Tag.Item("sort"); ok && b.checkComparable(f, item, comparable && !list) {
			c.sortable = append(c.sortable, m)
			b.lintDrift(b.computed[c.resource][i].computation, item)
		}
	}
}

// lintDrift warns of an order by what depends on the time of the call: a page may then repeat elements, or leave some
// out.
func (b *builder) lintDrift(c *computation, item tags.Item) {
	if !b.linting {
		return
	}
	body := b.Body(c.fn)
	if body == nil {
		return
	}
	clock := firstCall(body, clockOf)
	if clock == "" {
		return
	}
	b.Report(item.At, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeType, Kind: diag.KindDrift, FieldPath: c.fn.Name(),
		Message:    fmt.Sprintf("%s calls %s: between two pages that are sorted by it, elements move", c.fn.Name(), clock),
		Suggestion: "sort by the field that it is computed of, and remove sort",
	})
}

// clockOf returns how a call is written that asks what time it is; empty: the call does not.
func clockOf(call *ast.CallExpr) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !isNamed(selector.X, "time") {
		return ""
	}
	switch name := selector.Sel.Name; name {
	case "Now", "Since", "Until":
		return "time." + name
	}
	return ""
}

// modelComputed returns how generated code computes the fields, by the names of their types.
func (b *builder) modelComputed(w *wiretype.Set) map[string][]model.Computed {
	out := make(map[string][]model.Computed)
	for resource, fields := range b.computed {
		for _, f := range fields {
			name := w.NameOf(resource)
			out[name] = append(out[name], f.model)
		}
	}
	return out
}
