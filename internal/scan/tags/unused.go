package tags

import (
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// WarnUnused warns of aql tags on structs that no operation uses, in packages that have operations, unless something is
// wrong with these.
func (r *Reader) WarnUnused(roots []*packages.Package) {
	for _, root := range roots {
		if !r.in[root.Types] || r.HasErrors(root) {
			continue
		}
		for spec := range typeSpecs(root.Syntax) {
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			if field := r.unvisitedTag(st); field != nil {
				r.Report(source.SpanOf(field.Tag), diag.Diagnostic{
					Severity: diag.Warning, Code: diag.CodeUnresolved, FieldPath: spec.Name.Name,
					Message:    fmt.Sprintf("no operation reaches %s, so its aql tags have no effect", spec.Name.Name),
					Suggestion: "remove them, or use the type in a request or result",
				})
			}
		}
	}
}

// typeSpecs are the types that files declare.
func typeSpecs(files []*ast.File) iter.Seq[*ast.TypeSpec] {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, file := range files {
			for _, decl := range file.Decls {
				group, ok := decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range group.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && !yield(spec) {
						return
					}
				}
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
