package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"

	"github.com/aqltag/aqltag/internal/load"
)

// IsGenerated reports whether a file is the generator's own.
func (p *Program) IsGenerated(filename string) bool {
	return p.generated[filename] || load.IsGenerated(filename, nil)
}

// declaredInGenerated returns the generated file in dir that declares name, empty if there is none.
func (p *Program) declaredInGenerated(dir, name string) string {
	for filename := range p.generated {
		if filepath.Dir(filename) != dir {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filename, nil, parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, declared := range DeclaredNames(file) {
			if declared == name {
				return filepath.Base(filename)
			}
		}
	}
	return ""
}

// DeclaredNames lists what a file declares in its package.
func DeclaredNames(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
