package scan

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/load"
)

// program is one load: its packages and all that was found out about them.
type program struct {
	loaded      *load.Program
	fset        *token.FileSet
	packages    map[*types.Package]*packages.Package
	syntax      map[*types.Package]*syntaxIndex
	foreign     map[*ast.File]*syntaxIndex // files of packages that came from export data
	generated   map[string][]byte
	diagnostics []Diagnostic
	uncertain   bool // a declaration from export data was not found in its file
}

func newProgram(loaded *load.Program) *program {
	return &program{
		loaded:    loaded,
		fset:      loaded.Fset,
		packages:  make(map[*types.Package]*packages.Package),
		syntax:    make(map[*types.Package]*syntaxIndex),
		foreign:   make(map[*ast.File]*syntaxIndex),
		generated: loaded.Generated,
	}
}

// syntaxIndex finds declarations by the position of the name they declare, which is what go/types objects know.
type syntaxIndex struct {
	fields map[token.Pos]*ast.Field
	types  map[token.Pos]typeSyntax
	values map[token.Pos]*ast.CommentGroup // docs of constants
}

// typeSyntax is a type declaration with its doc comment.
type typeSyntax struct {
	spec *ast.TypeSpec
	doc  *ast.CommentGroup
}

func newSyntaxIndex() *syntaxIndex {
	return &syntaxIndex{
		fields: make(map[token.Pos]*ast.Field),
		types:  make(map[token.Pos]typeSyntax),
		values: make(map[token.Pos]*ast.CommentGroup),
	}
}

// syntaxOf indexes a package that was loaded from source when it is first asked about.
func (p *program) syntaxOf(pkg *types.Package) *syntaxIndex {
	if index, ok := p.syntax[pkg]; ok {
		return index
	}
	index := newSyntaxIndex()
	p.syntax[pkg] = index
	if loaded := p.packages[pkg]; loaded != nil {
		for _, file := range loaded.Syntax {
			ast.Inspect(file, index.add)
		}
	}
	return index
}

// declared finds the index that has the declaration of object, and the position to look it up with. The file of an object
// from export data is parsed for it.
func (p *program) declared(object types.Object) (*syntaxIndex, token.Pos) {
	pos, file, err := p.loaded.Real(object.Pos())
	if err != nil {
		p.uncertain = true
	}
	if file == nil {
		return p.syntaxOf(object.Pkg()), pos
	}
	index := p.foreign[file]
	if index == nil {
		index = newSyntaxIndex()
		ast.Inspect(file, index.add)
		p.foreign[file] = index
	}
	_, isField := index.fields[pos]
	_, isType := index.types[pos]
	_, isValue := index.values[pos]
	if !isField && !isType && !isValue {
		p.uncertain = true
	}
	return index, pos
}

// fieldSyntax is the declaration of a struct field.
func (p *program) fieldSyntax(v *types.Var) *ast.Field {
	index, pos := p.declared(v)
	return index.fields[pos]
}

// typeSyntax is the declaration of a type.
func (p *program) typeSyntax(object types.Object) typeSyntax {
	index, pos := p.declared(object)
	return index.types[pos]
}

// valueDoc is the doc comment of a constant.
func (p *program) valueDoc(object types.Object) *ast.CommentGroup {
	index, pos := p.declared(object)
	return index.values[pos]
}

// scopeOf is the scope of a package with all its exported names.
func (p *program) scopeOf(pkg *types.Package) *types.Scope {
	if err := p.loaded.Complete(pkg); err != nil {
		p.uncertain = true
	}
	return pkg.Scope()
}

func (x *syntaxIndex) add(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.GenDecl:
		for _, spec := range node.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				x.types[spec.Name.Pos()] = typeSyntax{spec, firstComment(spec.Doc, ungrouped(node), spec.Comment)}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					x.values[name.Pos()] = firstComment(spec.Doc, ungrouped(node), spec.Comment)
				}
			}
		}
	case *ast.StructType:
		for _, field := range node.Fields.List {
			for _, name := range field.Names {
				x.fields[name.Pos()] = field
			}
			if len(field.Names) == 0 {
				x.fields[embeddedName(field.Type)] = field
			}
		}
	}
	return true
}

// ungrouped is the doc comment of a declaration without parentheses.
func ungrouped(decl *ast.GenDecl) *ast.CommentGroup {
	if decl.Lparen.IsValid() {
		return nil
	}
	return decl.Doc
}

func firstComment(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, group := range groups {
		if group != nil {
			return group
		}
	}
	return nil
}

// embeddedName is where the name of an embedded field stands.
func embeddedName(expr ast.Expr) token.Pos {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return embeddedName(expr.X)
	case *ast.ParenExpr:
		return embeddedName(expr.X)
	case *ast.SelectorExpr:
		return expr.Sel.Pos()
	case *ast.IndexExpr:
		return embeddedName(expr.X)
	case *ast.IndexListExpr:
		return embeddedName(expr.X)
	}
	return expr.Pos()
}

// inMainModule reports whether the user can edit a package.
func inMainModule(pkg *packages.Package) bool { return load.InMainModule(pkg) }

// editable is inMainModule for the package of an object, which is nil for what the language itself declares.
func (p *program) editable(pkg *types.Package) bool {
	return pkg != nil && inMainModule(p.packages[pkg])
}

// before orders positions by file name and offset. token.Pos itself depends on which file was parsed first.
func (p *program) before(a, b token.Pos) int {
	fileA, offsetA := p.loaded.Place(a)
	fileB, offsetB := p.loaded.Place(b)
	return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(offsetA, offsetB))
}

// index notes every package of the load by path.
func (p *program) index(roots []*packages.Package) {
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		if pkg.Types != nil {
			p.packages[pkg.Types] = pkg
		}
	})
}

// constants finds the constants of type t and of a kind in the package that declares t, in declaration order. Code in
// package own must be able to name them.
func (s *program) constants(t types.Type, own *types.Package, kind constant.Kind) []*types.Const {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	pkg := named.Obj().Pkg()
	var found []*types.Const
	scope := s.scopeOf(pkg)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), t) || c.Val().Kind() != kind {
			continue
		}
		if pkg == own || c.Exported() {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return s.before(a.Pos(), b.Pos()) })
	return found
}
