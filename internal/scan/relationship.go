package scan

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// findOperation finds the operation that agents would call instead, and its parameter that takes the key.
func (r *relations) findOperation(built *relation) bool {
	l := &built.loader
	item, _ := tags.Find(l.directive.items, "to")
	var reading []string
	at := -1
	for i := range r.handlers {
		if r.handlers[i].Operation.Category == gen.Read {
			reading = append(reading, r.handlers[i].Operation.Name)
		}
		if r.handlers[i].Operation.Name == item.Value {
			at = i
		}
	}
	if at < 0 {
		r.report(l, item.ValueAt, diag.CodeUnresolved, fmt.Sprintf("this package has no operation %s", item.Value),
			diag.DidYouMean(item.Value, reading))
		return false
	}
	o := &r.handlers[at].Operation
	switch {
	case o.Category == "": // which is reported
		return false
	case o.Category != gen.Read:
		r.report(l, item.ValueAt, diag.CodeType, fmt.Sprintf("%s is %s, and a relation is read", o.Name, o.Category),
			diag.DidYouMean(item.Value, reading))
		return false
	case o.Danger.Level() >= gen.Destructive.Level():
		r.report(l, item.ValueAt, diag.CodeType,
			fmt.Sprintf("%s is %s, so it needs a confirmation, which a relation cannot have", o.Name, o.Danger),
			"name an operation that needs none")
		return false
	}
	built.To = o.Name
	return r.findParam(built, &r.handlers[at], item)
}

// findParam finds the parameter of an operation that takes the key of a relation.
func (r *relations) findParam(built *relation, h *handled, to tags.Item) bool {
	l := &built.loader
	var names, required []string
	for _, field := range h.request.Fields {
		names = append(names, field.Param.Name)
		if field.Param.Required {
			required = append(required, field.Param.Name)
		}
	}
	item, said := tags.Find(l.directive.items, "param")
	switch {
	case said && !slices.Contains(names, item.Value):
		r.report(l, item.ValueAt, diag.CodeUnresolved, fmt.Sprintf("%s has no parameter %s", h.Operation.Name, item.Value),
			diag.DidYouMean(item.Value, names))
		return false
	case said:
		built.Param = item.Value
	case slices.Contains(names, built.By) && built.By != "":
		built.Param = built.By
	case len(required) == 1:
		built.Param = required[0]
	}
	at := cmp.Or(item.ValueAt, to.ValueAt)
	for _, name := range required {
		if name != built.Param {
			r.report(l, at, diag.CodeType,
				fmt.Sprintf("%s needs %s too, so the key alone does not call it", h.Operation.Name, name),
				"name an operation whose only required parameter takes the key")
			return false
		}
	}
	if built.Param == "" && !built.Many {
		r.report(l, at, diag.CodeMissing, fmt.Sprintf("nothing says which parameter of %s takes the key", h.Operation.Name),
			"add param=NAME")
		return false
	}
	return r.checkParam(built, h, at)
}

// checkParam reports a parameter of an operation that does not take the keys of a relation, nor a list of them.
func (r *relations) checkParam(built *relation, h *handled, at source.Span) bool {
	l := &built.loader
	i := slices.IndexFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.Name == built.Param })
	if i < 0 || built.Key.Text == "" {
		return true // there is none, or the loader is reported
	}
	keys := l.fn.Signature().Params().At(1).Type().Underlying().(*types.Slice).Elem()
	key, fault := r.shapeOf(keys, "")
	if fault != nil {
		return true
	}
	field := &h.request.Fields[i]
	value := shapes.Indirect(field.Shape)
	if value.Kind == shapes.Slice || value.Kind == shapes.Array {
		value = shapes.Indirect(value.Elem)
	}
	takes, gives := wireKind(value), wireKind(key)
	if field.Param.Quoted {
		takes = "string"
	}
	if takes == gives || takes == "number" && gives == "integer" || takes == "any" || gives == "any" {
		return true
	}
	r.report(l, at, diag.CodeType, fmt.Sprintf("%s takes %s in its parameter %s, and a key is %s", h.Operation.Name, takes,
		built.Param, gives), fmt.Sprintf("name an operation and a parameter that take %s", gives))
	return false
}

// wireKind returns the kind of JSON value that values of a shape are on the wire.
func wireKind(shape *shapes.Shape) string {
	kind := shapes.JSONKind(shape)
	if shape.Quoted || kind == "date-time" || kind == "bytes" {
		return "string"
	}
	return kind
}

// checkIdentifiers reports types whose resources have no name in relationships.
func (r *relations) checkIdentifiers(built *relation, item tags.Item) bool {
	ok := true
	for _, shape := range []*shapes.Shape{built.of, built.target} {
		if shape == nil {
			continue // which is reported
		}
		found := gen.Identifiers(paramsOf(shape))
		if len(found) == 1 && isIdentified(shape, found) && isIdentifier(&shape.Fields[found[0]]) {
			continue
		}
		ok = false
		r.report(&built.loader, item.At, diag.CodeMissing,
			fmt.Sprintf("nothing names a %s in relationships", r.text(shape.Type)),
			"tag the one field that identifies it, a text or an integer, with id")
	}
	return ok
}

// isIdentifier reports whether the values of a field can be the names of resources.
func isIdentifier(field *shapes.Field) bool {
	switch shapes.Indirect(field.Shape).Kind {
	case shapes.String, shapes.Int, shapes.Uint, shapes.Text:
		return !field.Param.Sensitive
	}
	return false
}

// resolveInverse finds the relation that leads back, and reports one that does not.
func (r *relations) resolveInverse(built *relation) {
	item, said := tags.Find(built.directive.items, "inverse")
	if !said {
		return
	}
	var names []string
	for i := range r.all {
		other := &r.all[i]
		name := other.directive.About
		names = append(names, name)
		if name != item.Value {
			continue
		}
		back, backSaid := tags.Find(other.directive.items, "inverse")
		switch {
		case other.Of != built.Target || other.Target != built.Of:
			r.report(&built.loader, item.ValueAt, diag.CodeType,
				fmt.Sprintf("%s leads from %s to %s, and not back from %s to %s", name, other.Of, other.Target, built.Target,
					built.Of), "name a relation that leads back")
		case backSaid && back.Value != built.directive.About:
			r.report(&built.loader, item.ValueAt, diag.CodeType,
				fmt.Sprintf("%s says that its inverse is %s", name, back.Value), "let each name the other one")
		default:
			built.Inverse = other.Name
		}
		return
	}
	r.report(&built.loader, item.ValueAt, diag.CodeUnresolved, fmt.Sprintf("there is no relation %s", item.Value),
		diag.DidYouMean(item.Value, names))
}

// checkRoots reports an operation that has the name of the built-in one, and warns of relationships at which no query
// can begin.
func (r *relations) checkRoots() {
	definitions := gen.Definitions{}
	for i := range r.handlers {
		h := &r.handlers[i]
		o := h.Operation
		for _, field := range h.request.Fields {
			o.Params = append(o.Params, field.Param)
		}
		o.Returns = r.types.Returns(h.result)
		definitions.Operations = append(definitions.Operations, o)
	}
	for i := range r.all {
		definitions.Relations = append(definitions.Relations, r.all[i].Relation.Relation)
		if of := r.all[i].of; of != nil {
			definitions.Types = append(definitions.Types, gen.Type{Name: r.all[i].Of, Fields: paramsOf(of)})
		}
	}
	for i := range r.all {
		built := &r.all[i]
		if built.Type == "" {
			continue
		}
		for k := range r.handlers {
			if h := &r.handlers[k]; h.Operation.Name == gen.QueryRelationships {
				r.report(&built.loader, built.directive.at, diag.CodeDuplicate,
					fmt.Sprintf("relationships add the operation %s, and %s is another one", gen.QueryRelationships, h.Func),
					"rename that operation with op=, or remove type=")
				return
			}
		}
		if _, _, ok := definitions.Reader(built.Of); !ok {
			item, _ := tags.Find(built.directive.items, "type")
			r.Report(item.At, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeMissing, FieldPath: built.directive.About,
				Message: fmt.Sprintf("//aql:relation: no query can begin at a %s, since no READ operation returns one by its id",
					built.Of),
				Suggestion: fmt.Sprintf("add an operation get_%s with id as its one required parameter",
					gen.ElementType(built.Of)),
			})
		}
	}
}
