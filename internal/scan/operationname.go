package scan

import (
	"fmt"
	"path/filepath"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// checkOperationName reports a name outside the grammar of names (MCP-AQL core §8.5.2), or one that the protocol
// reserves.
func (b *builder) checkOperationName(o operation, name string, at source.Span) {
	switch {
	case !naming.IsValid(name):
		b.Report(at, diag.Diagnostic{
			Code: diag.CodeName, FieldPath: o.name(), Expected: "^[a-z][a-z0-9_]*$", Actual: name,
			Message: fmt.Sprintf("operation name %q does not match ^[a-z][a-z0-9_]*$", name), Suggestion: naming.Use(name),
		})
	case naming.IsReserved(name):
		b.Report(at, diag.Diagnostic{
			Code: diag.CodeName, FieldPath: o.name(), Actual: name,
			Message:    fmt.Sprintf("operation name %q is reserved by the protocol", name),
			Suggestion: "choose another name with op=",
		})
	}
}

// checkOperationNames reports operations of one name in one package.
func (b *builder) checkOperationNames(handlers []handled, operations []operation) {
	firsts := make(map[string]int, len(handlers))
	for i := range handlers {
		handler := &handlers[i]
		first, taken := firsts[handler.Operation.Name]
		if !taken {
			firsts[handler.Operation.Name] = i
			continue
		}
		b.Report(operations[i].at(), diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: handler.Func, Actual: handler.Operation.Name,
			Message:    fmt.Sprintf("operation name %q is taken by %s", handler.Operation.Name, handlers[first].Func),
			Suggestion: "give one of them another name with op=",
			Related:    []diag.Related{b.Related(operations[first].at().Start, handlers[first].Func+" is here")},
		})
	}
}

// sourceOf is "file:line" of the handler, relative to its module.
func (b *builder) sourceOf(o operation) string {
	position := b.Position(o.at().Start)
	base := filepath.Dir(position.File)
	if o.pkg.Module != nil && o.pkg.Module.Dir != "" {
		base = o.pkg.Module.Dir
	}
	file, err := filepath.Rel(base, position.File)
	if err != nil || !filepath.IsLocal(file) {
		file = filepath.Base(position.File)
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(file), position.Line)
}
