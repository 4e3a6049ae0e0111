package scan

import (
	"fmt"
	"go/ast"

	"github.com/aqltag/aqltag/internal/diag"
)

// reportPause warns of a handler that pauses its execution although the operation does not say so: the pause then
// fails. It sees what the handler calls itself, by the name that its *aql.Run has there.
func (b *builder) reportPause(o operation) {
	params := o.fn.Signature().Params()
	run, body := params.At(params.Len()-1).Name(), b.Body(o.fn)
	if body == nil {
		return
	}
	called := firstCall(body, func(call *ast.CallExpr) string { return pauseOf(call, run) })
	if called == "" {
		return
	}
	b.Report(o.itemsAt, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeMissing, FieldPath: o.name(),
		Message: fmt.Sprintf("%s calls %s, which fails: nothing tells agents that the operation may be paused", o.name(),
			called),
		Suggestion: "add asks",
	})
}

// pauseOf returns how a call is written that pauses the execution of a *aql.Run; empty: the call does not.
func pauseOf(call *ast.CallExpr, run string) string {
	fun := call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	switch name := selector.Sel.Name; {
	case isNamed(selector.X, run) && (name == "Ask" || name == "Wait"):
		return run + "." + name
	case name == "Wait" && len(call.Args) == 3 && isNamed(call.Args[1], run):
		return "aql.Wait"
	}
	return ""
}
