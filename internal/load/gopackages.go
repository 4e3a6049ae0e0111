package load

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// loadMode leaves NeedTypesInfo out and has NeedDeps: both keep the go command from compiling.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedModule

// loadPackages loads with go/packages.
func loadPackages(ctx context.Context, opts Options) (*Program, error) {
	if err := checkRegular(opts); err != nil {
		return nil, err
	}
	program, err := loadOnce(ctx, opts, nil)
	if err != nil {
		return nil, err
	}
	if broken := brokenGenerated(program.Roots); len(broken) > 0 {
		// The go command lists no imports for a package with such a file, so it gets an overlay without content.
		return loadOnce(ctx, opts, broken)
	}
	return program, nil
}

// loadOnce has the go command list the packages, then parses and type-checks them. overlay replaces files by content.
func loadOnce(ctx context.Context, opts Options, overlay map[string][]byte) (*Program, error) {
	p := &Program{Fset: token.NewFileSet(), Generated: make(map[string]bool), goroot: sources(build.Default.GOROOT)}
	var mu sync.Mutex // guards Generated while files are parsed
	config := &packages.Config{
		Context: ctx,
		Mode:    loadMode,
		Dir:     opts.Dir,
		Env:     environ(opts),
		Fset:    p.Fset,
		Overlay: overlay,
		ParseFile: func(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
			if IsGenerated(filename, src) {
				mu.Lock()
				p.Generated[filename] = true
				mu.Unlock()
				return nil, nil
			}
			return parseDeclarations(fset, filename, src, p.goroot == "" || !strings.HasPrefix(filename, p.goroot))
		},
	}
	if len(opts.Tags) > 0 {
		config.BuildFlags = []string{"-tags=" + strings.Join(opts.Tags, ",")}
	}
	roots, err := packages.Load(config, opts.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading packages: %w", err)
	}
	p.Roots = roots
	return p, nil
}

// parseDeclarations parses a file without the bodies of its functions. Bodies refer to generated names, and go/packages
// would check them.
func parseDeclarations(fset *token.FileSet, filename string, src []byte, comments bool) (*ast.File, error) {
	file, err := parseEmptied(fset, filename, src, comments)
	if file != nil {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
	}
	return file, err
}

// parseEmptied parses a file and empties the bodies of its functions, for a type checker that ignores them.
func parseEmptied(fset *token.FileSet, filename string, src []byte, comments bool) (*ast.File, error) {
	mode := parser.SkipObjectResolution
	if comments {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(fset, filename, src, mode)
	if file != nil {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				fn.Body.List = nil
			}
		}
	}
	return file, err
}

// sources is the directory of the standard library with a separator at its end, empty if it is not known.
func sources(goroot string) string {
	if goroot == "" {
		return ""
	}
	return filepath.Join(goroot, "src") + string(filepath.Separator)
}
