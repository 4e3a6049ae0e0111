// Package sourcetest type-checks source texts for tests of the scanner's stages, without the go command.
package sourcetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// Runtime is the import path of the runtime's stand-in, which Check knows.
const Runtime = "github.com/aqltag/aqltag/runtime"

// stubs are the packages that texts may import besides each other.
var stubs = map[string]string{
	"time":  "package time\n\ntype Time struct{ wall uint64 }\n\ntype Duration int64\n",
	Runtime: "package aql\n\ntype Patch[T any] struct{ raw string }\n\ntype Optional[T any] struct{ value T }\n",
}

// Check type-checks the text of package path, and of the packages that it imports, by their paths. The packages below
// example.com/app are those that the user can edit.
func Check(t *testing.T, path string, texts map[string]string) (*source.Program, *types.Package) {
	t.Helper()
	c := &checker{fset: token.NewFileSet(), texts: texts, done: make(map[string]*packages.Package)}
	root, err := c.check(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded := &load.Program{Fset: c.fset, Roots: []*packages.Package{root}}
	return source.New(loaded), root.Types
}

type checker struct {
	fset  *token.FileSet
	texts map[string]string
	done  map[string]*packages.Package
}

func (c *checker) check(path string) (*packages.Package, error) {
	if pkg := c.done[path]; pkg != nil {
		return pkg, nil
	}
	text, ok := c.texts[path]
	if !ok {
		if text, ok = stubs[path]; !ok {
			return nil, fmt.Errorf("no text for package %s", path)
		}
	}
	file, err := parser.ParseFile(c.fset, path+"/file.go", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	pkg := &packages.Package{PkgPath: path, Name: file.Name.Name, Syntax: []*ast.File{file}}
	pkg.Imports = make(map[string]*packages.Package)
	if path == "example.com/app" {
		pkg.Module = &packages.Module{Path: path, Main: true}
	}
	config := types.Config{Importer: importer(func(path string) (*types.Package, error) {
		imported, err := c.check(path)
		if err != nil {
			return nil, err
		}
		pkg.Imports[path] = imported
		return imported.Types, nil
	})}
	pkg.Types, err = config.Check(path, c.fset, pkg.Syntax, nil)
	c.done[path] = pkg
	return pkg, err
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
