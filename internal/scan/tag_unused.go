package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// warnUnusedTags warns of aql tags on structs that no operation reaches, in packages that have operations: the author
// believes they say something.
func (p *tagReader) warnUnused(roots []*packages.Package) {
	hasOperations := make(map[*types.Package]bool)
	for pkg, index := range p.syntax {
		for pos := range index.fields {
			if p.seen[pos] {
				hasOperations[pkg] = true
				break
			}
		}
	}
	for _, root := range roots {
		if !hasOperations[root.Types] {
			continue
		}
		index := p.syntaxOf(root.Types)
		for _, syntax := range index.types {
			st, ok := syntax.spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			if field := p.unvisitedTag(st); field != nil {
				p.report(spanOf(field.Tag), Diagnostic{
					Severity: SeverityWarning, Code: codeUnresolved, FieldPath: syntax.spec.Name.Name,
					Message:    fmt.Sprintf("no operation reaches %s, so its aql tags have no effect", syntax.spec.Name.Name),
					Suggestion: "remove them, or use the type in a request or result",
				})
			}
		}
	}
}

// unvisitedTag finds the first aql tag of a struct none of whose fields was looked at.
func (p *tagReader) unvisitedTag(st *ast.StructType) *ast.Field {
	var first *ast.Field
	for _, field := range st.Fields.List {
		positions := []token.Pos{embeddedName(field.Type)}
		for _, name := range field.Names {
			positions = append(positions, name.Pos())
		}
		for _, pos := range positions {
			if p.seen[pos] {
				return nil
			}
		}
		if first == nil && field.Tag != nil && strings.Contains(field.Tag.Value, `aql:`) {
			first = field
		}
	}
	return first
}
