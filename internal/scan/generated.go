package scan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"

	"github.com/aqltag/aqltag/internal/load"
)

func (p *program) isGenerated(filename string) bool {
	_, ok := p.generated[filename]
	return ok || load.IsGenerated(filename, nil)
}

// declaredInGenerated names the generated file of dir that declares name, empty if none does.
func (p *program) declaredInGenerated(dir, name string) string {
	for filename, src := range p.generated {
		if filepath.Dir(filename) != dir {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filename, src, parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, declared := range declaredNames(file) {
			if declared == name {
				return filepath.Base(filename)
			}
		}
	}
	return ""
}

// declaredNames lists what a file declares in its package.
func declaredNames(file *ast.File) []string {
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
