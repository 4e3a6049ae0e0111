package tags

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// WarnUnused warns of aql tags on structs that no operation uses, in packages that have operations.
func (r *Reader) WarnUnused(roots []*packages.Package) {
	hasOperations := make(map[*types.Package]bool)
	for pkg, index := range r.Syntax {
		for pos := range index.Fields {
			if r.seen[pos] {
				hasOperations[pkg] = true
				break
			}
		}
	}
	for _, root := range roots {
		if !hasOperations[root.Types] {
			continue
		}
		index := r.SyntaxOf(root.Types)
		for _, syntax := range index.Types {
			st, ok := syntax.Spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			if field := r.unvisitedTag(st); field != nil {
				r.Report(source.SpanOf(field.Tag), diag.Diagnostic{
					Severity: diag.Warning, Code: diag.CodeUnresolved, FieldPath: syntax.Spec.Name.Name,
					Message:    fmt.Sprintf("no operation reaches %s, so its aql tags have no effect", syntax.Spec.Name.Name),
					Suggestion: "remove them, or use the type in a request or result",
				})
			}
		}
	}
}

// unvisitedTag finds the first aql tag of a struct none of whose fields was read.
func (r *Reader) unvisitedTag(st *ast.StructType) *ast.Field {
	var first *ast.Field
	for _, field := range st.Fields.List {
		positions := []token.Pos{source.EmbeddedName(field.Type)}
		for _, name := range field.Names {
			positions = append(positions, name.Pos())
		}
		for _, pos := range positions {
			if r.seen[pos] {
				return nil
			}
		}
		if first == nil && field.Tag != nil && strings.Contains(field.Tag.Value, `aql:`) {
			first = field
		}
	}
	return first
}
