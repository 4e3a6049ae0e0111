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

// Value is the expression that a package-level variable is declared with, in any package; nil if there is none.
// Loading may leave it out, so its file is parsed again.
func (p *Program) Value(v *types.Var) ast.Expr {
	name := p.Position(v.Pos()).File
	file, known := p.parsed[name]
	if !known {
		file, _ = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if p.parsed == nil {
			p.parsed = make(map[string]*ast.File)
		}
		p.parsed[name] = file
	}
	if file == nil {
		return nil
	}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			spec, ok := spec.(*ast.ValueSpec)
			for i := 0; ok && i < len(spec.Names) && len(spec.Values) == len(spec.Names); i++ {
				if spec.Names[i].Name == v.Name() {
					return spec.Values[i]
				}
			}
		}
	}
	return nil
}
