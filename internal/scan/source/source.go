// Package source finds declarations, comments and places in loaded packages, and collects the diagnostics about them.
package source

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
)

// Program is the result of one load, with the diagnostics about it.
type Program struct {
	Loaded      *load.Program
	Fset        *token.FileSet
	Packages    map[*types.Package]*packages.Package
	Syntax      map[*types.Package]*Index
	foreign     map[*ast.File]*Index // files of packages that came from export data
	generated   map[string]bool
	parsed      map[string]*ast.File // with the values of variables, by file name
	Diagnostics []diag.Diagnostic
	Uncertain   bool // a declaration from export data was not found in its file
}

// New makes the program of a load.
func New(loaded *load.Program) *Program {
	p := &Program{
		Loaded:    loaded,
		Fset:      loaded.Fset,
		Packages:  make(map[*types.Package]*packages.Package),
		Syntax:    make(map[*types.Package]*Index),
		foreign:   make(map[*ast.File]*Index),
		generated: loaded.Generated,
	}
	packages.Visit(loaded.Roots, nil, func(pkg *packages.Package) {
		if pkg.Types != nil {
			p.Packages[pkg.Types] = pkg
		}
	})
	return p
}

// Index finds declarations by the position of the name they declare, which is what go/types objects know.
type Index struct {
	fset   *token.FileSet
	Fields map[token.Pos]*ast.Field
	Types  map[token.Pos]TypeDecl
	values map[token.Pos]*ast.CommentGroup // docs of constants, functions and methods
}

// TypeDecl is a type declaration with its doc comment.
type TypeDecl struct {
	Spec *ast.TypeSpec
	Doc  *ast.CommentGroup
}

func newIndex(fset *token.FileSet) *Index {
	return &Index{
		fset:   fset,
		Fields: make(map[token.Pos]*ast.Field),
		Types:  make(map[token.Pos]TypeDecl),
		values: make(map[token.Pos]*ast.CommentGroup),
	}
}

// SyntaxOf returns the index of a package that was loaded from source.
func (p *Program) SyntaxOf(pkg *types.Package) *Index {
	if index, ok := p.Syntax[pkg]; ok {
		return index
	}
	index := newIndex(p.Fset)
	p.Syntax[pkg] = index
	if loaded := p.Packages[pkg]; loaded != nil {
		for _, file := range loaded.Syntax {
			ast.Inspect(file, index.add)
		}
	}
	return index
}

// Forget frees the memory of a package's index. SyntaxOf makes it again.
func (p *Program) Forget(pkg *types.Package) { delete(p.Syntax, pkg) }

// declared finds the index that has the declaration of object, and the position to look it up by. It parses the file of
// an object from export data.
func (p *Program) declared(object types.Object) (*Index, token.Pos) {
	pos, file, err := p.Loaded.Real(object.Pos())
	if err != nil {
		p.Uncertain = true
	}
	if file == nil {
		return p.SyntaxOf(object.Pkg()), pos
	}
	index := p.foreign[file]
	if index == nil {
		index = newIndex(p.Fset)
		ast.Inspect(file, index.add)
		p.foreign[file] = index
	}
	_, isField := index.Fields[pos]
	_, isType := index.Types[pos]
	_, isValue := index.values[pos]
	if !isField && !isType && !isValue {
		p.Uncertain = true
	}
	return index, pos
}

// FieldSyntax is the declaration of a struct field.
func (p *Program) FieldSyntax(v *types.Var) *ast.Field {
	index, pos := p.declared(v)
	return index.Fields[pos]
}

// TypeSyntax is the declaration of a type.
func (p *Program) TypeSyntax(object types.Object) TypeDecl {
	index, pos := p.declared(object)
	return index.Types[pos]
}

// ValueDoc is the doc comment of a constant, a function or a method.
func (p *Program) ValueDoc(object types.Object) *ast.CommentGroup {
	index, pos := p.declared(object)
	return index.values[pos]
}

// ScopeOf is the scope of a package with all its exported names.
func (p *Program) ScopeOf(pkg *types.Package) *types.Scope {
	if err := p.Loaded.Complete(pkg); err != nil {
		p.Uncertain = true
	}
	return pkg.Scope()
}

func (x *Index) add(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.GenDecl:
		for i, spec := range node.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				x.Types[spec.Name.Pos()] = TypeDecl{spec, FirstComment(x.ownDoc(node, i), spec.Comment)}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					x.values[name.Pos()] = FirstComment(x.ownDoc(node, i), spec.Comment)
				}
			}
		}
	case *ast.FuncDecl:
		x.values[node.Name.Pos()] = node.Doc
	case *ast.InterfaceType:
		for _, method := range node.Methods.List {
			for _, name := range method.Names {
				x.values[name.Pos()] = FirstComment(method.Doc, method.Comment)
			}
		}
	case *ast.StructType:
		for _, field := range node.Fields.List {
			for _, name := range field.Names {
				x.Fields[name.Pos()] = field
			}
			if len(field.Names) == 0 {
				x.Fields[EmbeddedName(field.Type)] = field
			}
		}
	}
	return true
}

// FirstComment returns the first comment group that is not nil.
func FirstComment(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, group := range groups {
		if group != nil {
			return group
		}
	}
	return nil
}

// EmbeddedName is the position of an embedded field's name.
func EmbeddedName(expr ast.Expr) token.Pos {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return EmbeddedName(expr.X)
	case *ast.ParenExpr:
		return EmbeddedName(expr.X)
	case *ast.SelectorExpr:
		return expr.Sel.Pos()
	case *ast.IndexExpr:
		return EmbeddedName(expr.X)
	case *ast.IndexListExpr:
		return EmbeddedName(expr.X)
	}
	return expr.Pos()
}

// runtimePath is the import path of the aql package.
const runtimePath = "github.com/aqltag/aqltag/runtime"

// InMainModule reports whether the user can edit a package. The packages of the runtime are nobody's to edit, also
// where they are replaced by a directory or are part of a workspace.
func InMainModule(pkg *packages.Package) bool {
	return load.InMainModule(pkg) && !ofRuntime(pkg.PkgPath)
}

// ofRuntime reports whether a package is one of those that adapters import, or has what aql.Query consists of.
func ofRuntime(path string) bool {
	within, ok := strings.CutPrefix(path, runtimePath+"/")
	return path == runtimePath || ok && (!strings.HasPrefix(within, "internal/") || within == "internal/collection")
}

// Editable reports whether the user can edit the package of an object. The package is nil for what the language
// declares.
func (p *Program) Editable(pkg *types.Package) bool {
	return pkg != nil && InMainModule(p.Packages[pkg])
}

// Before orders positions by file name and offset. The order of token.Pos depends on which file was parsed first.
func (p *Program) Before(a, b token.Pos) int {
	fileA, offsetA := p.Loaded.Place(a)
	fileB, offsetB := p.Loaded.Place(b)
	return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(offsetA, offsetB))
}

// Constants finds the constants of type t and of a kind in the package of t that code in package own can name, in
// declaration order.
func (p *Program) Constants(t types.Type, own *types.Package, kind constant.Kind) []*types.Const {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	pkg := named.Obj().Pkg()
	var found []*types.Const
	scope := p.ScopeOf(pkg)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), t) || c.Val().Kind() != kind {
			continue
		}
		if pkg == own || c.Exported() {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return p.Before(a.Pos(), b.Pos()) })
	return found
}
