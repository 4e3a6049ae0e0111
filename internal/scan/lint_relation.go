package scan

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// lintRelations warns of loaders that ask for one key at a time, and of relations that no request can follow.
func (r *relations) lintRelations() {
	if !r.linting {
		return
	}
	reached := r.reached()
	for i := range r.all {
		built := &r.all[i]
		r.lintLoop(built)
		if built.Type == "" && !built.Opaque && !reached[built.of] {
			r.lintUnreached(built)
		}
		r.lintRest(built)
	}
}

// warn warns of a relation, at its directive.
func (r *relations) warn(built *relation, kind diag.Kind, message, suggestion string) {
	r.Report(built.directive.at, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeMissing, Kind: kind, FieldPath: built.directive.About,
		Message: "//aql:relation: " + message, Suggestion: suggestion,
	})
}

// lintLoop warns of a loader that passes its context to a call for each of its keys.
func (r *relations) lintLoop(built *relation) {
	l := &built.loader
	var names []string
	for _, field := range l.decl.Type.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	body := r.Body(l.fn)
	if body == nil || len(names) != 2 {
		return
	}
	called := ""
	ast.Inspect(body, func(node ast.Node) bool {
		loop, ok := node.(*ast.RangeStmt)
		if !ok || called != "" || !isNamed(loop.X, names[1]) {
			return called == ""
		}
		called = firstCall(loop.Body, func(call *ast.CallExpr) string {
			if slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return isNamed(e, names[0]) }) {
				return calledName(call)
			}
			return ""
		})
		return called == ""
	})
	if called == "" {
		return
	}
	r.Report(l.at(), diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeType, Kind: diag.KindLoop, FieldPath: built.directive.About,
		Message: fmt.Sprintf("%s calls %s once for each key, so a page of %s costs as many calls as it has keys",
			l.name(), called, built.Of),
		Suggestion: "ask for all keys at once, such as by WHERE … IN",
	})
}

// firstCall returns what name returns for the first call in a body for which that is not empty; empty: it is for all.
func firstCall(body *ast.BlockStmt, name func(*ast.CallExpr) string) string {
	found := ""
	ast.Inspect(body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && found == "" {
			found = name(call)
		}
		return found == ""
	})
	return found
}

// isNamed reports whether an expression is a name and no more.
func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name && name != "_"
}

// calledName returns what a call is written as, without its arguments.
func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return "a function"
}

// reached returns the types whose relations requests can select: those of what operations with field selection return,
// and of what these lead to.
func (r *relations) reached() map[*shapes.Shape]bool {
	reached := make(map[*shapes.Shape]bool)
	for i := range r.handlers {
		h := &r.handlers[i]
		selects := func(f shapes.Field) bool { return f.Shape.Kind == shapes.Selection }
		if slices.ContainsFunc(h.request.Fields, selects) {
			if of := selectable(h.result); of != nil {
				reached[of] = true
			}
		}
	}
	for range gen.MaxRelations - 1 {
		var next []*shapes.Shape
		for i := range r.all {
			if reached[r.all[i].of] && !r.all[i].Opaque {
				next = append(next, r.all[i].target)
			}
		}
		for _, of := range next {
			reached[of] = true
		}
	}
	return reached
}

// lintUnreached warns of a relation that neither fields nor query_relationships can follow.
func (r *relations) lintUnreached(built *relation) {
	r.warn(built, diag.KindUnreached,
		fmt.Sprintf("no request can follow %s: no operation with aql.Fields returns a %s, alone or in a list, "+
			"and fields of a nested struct have no relations", built.directive.About, built.Of),
		"embed aql.Fields in the request of an operation that returns it, or add type= for query_relationships")
}

// lintRest warns of a relation to many that are cut, where the operation that is to list the rest takes no key.
func (r *relations) lintRest(built *relation) {
	if !built.Many || built.Param != "" {
		return
	}
	i := slices.IndexFunc(r.handlers, func(h handled) bool { return h.Operation.Name == built.To })
	filters := func(f shapes.Field) bool { return f.Param.Name == "filter" }
	if i < 0 || slices.ContainsFunc(r.handlers[i].request.Fields, filters) {
		return
	}
	item, _ := tags.Find(built.directive.items, "to")
	r.Report(item.ValueAt, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeMissing, Kind: diag.KindRest, FieldPath: built.directive.About,
		Message: fmt.Sprintf("//aql:relation: an answer has the first of %s alone, and agents cannot ask %s for the others: "+
			"it takes no %s", built.directive.About, built.To, cmp.Or(built.By, built.Field)),
		Suggestion: "name an operation with a parameter that takes the key, or with a filter",
	})
}
