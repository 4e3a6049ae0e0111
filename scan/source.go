package scan

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// program is one load: its packages and all that was found out about them.
type program struct {
	fset        *token.FileSet
	packages    map[*types.Package]*packages.Package
	syntax      map[*types.Package]*syntaxIndex
	visited     map[token.Pos]bool // struct fields that belong to an operation
	diagnostics []Diagnostic
	goroot      string
	linting     bool

	mu        sync.Mutex // guards generated while files are parsed
	generated map[string][]byte
}

func newProgram() *program {
	p := &program{
		fset:      token.NewFileSet(),
		packages:  make(map[*types.Package]*packages.Package),
		syntax:    make(map[*types.Package]*syntaxIndex),
		visited:   make(map[token.Pos]bool),
		generated: make(map[string][]byte),
	}
	if build.Default.GOROOT != "" {
		p.goroot = filepath.Join(build.Default.GOROOT, "src") + string(filepath.Separator)
	}
	return p
}

// parseFile parses declarations only. Generated files do not take part, whatever state they are in: a stale one would
// declare names that the source now declares itself. Function bodies are dropped, which is where references to
// generated names are. It is called from many goroutines.
func (p *program) parseFile(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
	if isGeneratedFile(filename, src) {
		p.mu.Lock()
		p.generated[filename] = src
		p.mu.Unlock()
		return nil, nil
	}
	mode := parser.SkipObjectResolution
	if p.goroot == "" || !strings.HasPrefix(filename, p.goroot) {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(fset, filename, src, mode)
	if file != nil {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
	}
	return file, err
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

// syntaxOf indexes a package when it is first asked about.
func (p *program) syntaxOf(pkg *types.Package) *syntaxIndex {
	if index, ok := p.syntax[pkg]; ok {
		return index
	}
	index := &syntaxIndex{
		fields: make(map[token.Pos]*ast.Field),
		types:  make(map[token.Pos]typeSyntax),
		values: make(map[token.Pos]*ast.CommentGroup),
	}
	p.syntax[pkg] = index
	if loaded := p.packages[pkg]; loaded != nil {
		for _, file := range loaded.Syntax {
			ast.Inspect(file, index.add)
		}
	}
	return index
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
