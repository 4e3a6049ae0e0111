package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// Body is the body of a function or method in any package, nil if it has none. Loading leaves bodies out, so its file
// is parsed again.
func (p *Program) Body(fn *types.Func) *ast.BlockStmt {
	at := p.Position(fn.Pos())
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, at.File, nil, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.FuncDecl); ok && decl.Name.Name == fn.Name() &&
			fset.PositionFor(decl.Name.Pos(), false).Line == at.Line {
			return decl.Body
		}
	}
	return nil
}
