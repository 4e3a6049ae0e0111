package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// listed is a package as the go command lists it.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
	ImportMap  map[string]string
	Standard   bool
	Incomplete bool
	Error      *struct{ Err string }
	Module     *struct {
		Main      bool
		GoVersion string
		Replace   *struct{ Version string }
	}

	syntax []*ast.File
	types  *types.Package
	err    error
}

// fromSource type-checks packages and all they import from their sources, and returns the export data of those named.
func (s *session) fromSource(importPaths []string) (map[string][]byte, error) {
	all, err := s.list(importPaths)
	if err != nil {
		return nil, err
	}
	byPath := make(map[string]*listed)
	for _, p := range all {
		byPath[p.ImportPath] = p
	}
	fset := token.NewFileSet()
	if err := parseListed(s, fset, all); err != nil {
		return nil, err
	}
	dependencies := func(p *listed) []*listed {
		var needed []*listed
		for _, importPath := range p.Imports {
			if imported := byPath[importPath]; imported != nil {
				needed = append(needed, imported)
			}
		}
		return needed
	}
	if err := inOrder(s.ctx, all, dependencies, func(p *listed) { p.check(s, fset, byPath) }); err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.err != nil {
			return nil, unusual("%s: %v", p.ImportPath, p.err)
		}
		p.syntax = nil
	}
	positions, err := byteLines(fset)
	if err != nil {
		return nil, err
	}
	made := make(map[string][]byte)
	for _, importPath := range importPaths {
		p := byPath[importPath]
		if p == nil {
			return nil, unusual("the go command does not know %s", importPath)
		}
		var out bytes.Buffer
		if err := gcexportdata.Write(&out, positions, p.types); err != nil {
			return nil, fmt.Errorf("writing export data of %s: %w", importPath, err)
		}
		made[importPath] = out.Bytes()
	}
	return made, nil
}

// list runs go list for packages and all that they import. It compiles nothing.
func (s *session) list(importPaths []string) ([]*listed, error) {
	args := []string{
		"list", "-e", "-deps",
		"-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Imports,ImportMap,Standard,Incomplete,Error,Module",
	}
	if len(s.opts.Tags) > 0 {
		args = append(args, "-tags="+strings.Join(s.opts.Tags, ","))
	}
	out, err := goCommand(s.ctx, s.opts, s.modules.current.dir, append(append(args, "--"), importPaths...)...)
	if err != nil {
		return nil, err
	}
	var all []*listed
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		p := new(listed)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says: %w", err)
		}
		switch {
		case p.ImportPath == "unsafe":
			continue
		case p.Error != nil:
			return nil, unusual("%s: %s", p.ImportPath, p.Error.Err)
		case p.Incomplete:
			return nil, unusual("%s is incomplete", p.ImportPath)
		case p.Module != nil && (p.Module.Main || p.Module.Replace != nil && p.Module.Replace.Version == ""):
			// Its types exist already, from its source.
			return nil, unusual("a foreign package needs %s", p.ImportPath)
		}
		all = append(all, p)
	}
}

func parseListed(s *session, fset *token.FileSet, all []*listed) error {
	var (
		files sync.WaitGroup
		mu    sync.Mutex
		fault error
	)
	for _, p := range all {
		names := append(p.GoFiles, p.CgoFiles...)
		p.syntax = make([]*ast.File, len(names))
		for i, name := range names {
			s.gate <- struct{}{}
			files.Go(func() {
				defer func() { <-s.gate }()
				filename := filepath.Join(p.Dir, name)
				content, err := os.ReadFile(filename)
				if err == nil {
					p.syntax[i], err = parseEmptied(fset, filename, content, false)
				}
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					fault = unusual("%v", err)
				}
			})
		}
	}
	files.Wait()
	return fault
}

// check type-checks a package whose imports are done.
func (p *listed) check(s *session, fset *token.FileSet, byPath map[string]*listed) {
	config := &types.Config{
		Importer: importerFunc(func(importPath string) (*types.Package, error) {
			if importPath == "unsafe" {
				return types.Unsafe, nil
			}
			if actual, ok := p.ImportMap[importPath]; ok {
				importPath = actual
			}
			if imported := byPath[importPath]; imported != nil && imported.types != nil {
				return imported.types, nil
			}
			return nil, fmt.Errorf("package %s is not loaded", importPath)
		}),
		Error: func(err error) {
			if p.err == nil {
				p.err = err
			}
		},
		IgnoreFuncBodies: true, DisableUnusedImportCheck: true, FakeImportC: true, Sizes: s.sizes,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	p.types = types.NewPackage(p.ImportPath, p.Name)
	_ = types.NewChecker(config, fset, p.types, nil).Files(p.syntax) // config.Error has seen every error
	if p.err == nil && len(p.CgoFiles) > 0 && !p.Standard && mentionsC(p.types) {
		p.err = errors.New("its exported declarations mention C")
	}
}

// mentionsC reports whether exported declarations have types that only cgo knows.
func mentionsC(pkg *types.Package) bool {
	seen := make(map[types.Type]bool)
	var invalid func(t types.Type) bool
	invalid = func(t types.Type) bool {
		if t == nil || seen[t] {
			return false
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Basic:
			return t.Kind() == types.Invalid
		case *types.Alias:
			return invalid(types.Unalias(t))
		case *types.Named:
			if t.Obj().Pkg() != pkg {
				return false
			}
			for method := range t.Methods() {
				if invalid(method.Type()) {
					return true
				}
			}
			return invalid(t.Underlying())
		case *types.Map:
			return invalid(t.Key()) || invalid(t.Elem())
		case *types.Struct:
			for field := range t.Fields() {
				if invalid(field.Type()) {
					return true
				}
			}
		case *types.Tuple:
			for v := range t.Variables() {
				if invalid(v.Type()) {
					return true
				}
			}
		case *types.Signature:
			return invalid(t.Params()) || invalid(t.Results())
		case *types.Interface:
			for method := range t.Methods() {
				if invalid(method.Type()) {
					return true
				}
			}
		case interface{ Elem() types.Type }:
			return invalid(t.Elem())
		}
		return false
	}
	for _, name := range pkg.Scope().Names() {
		if token.IsExported(name) && invalid(pkg.Scope().Lookup(name).Type()) {
			return true
		}
	}
	return false
}

// byteLines returns fset with a line for every byte; see pieceSize.
func byteLines(fset *token.FileSet) (*token.FileSet, error) {
	longest := 0
	for file := range fset.Iterate {
		longest = max(longest, file.Size())
	}
	if longest > 1<<24 {
		return nil, unusual("a source file of %d bytes", longest)
	}
	lines := make([]int, longest)
	for i := range lines {
		lines[i] = i
	}
	out := token.NewFileSet()
	for file := range fset.Iterate {
		copied := out.AddFile(file.Name(), file.Base(), file.Size())
		copied.SetLines(lines[:file.Size()])
		for i := 0; i*pieceSize < file.Size(); i++ {
			copied.AddLineColumnInfo(i*pieceSize, pieceName(file.Name(), i), 1, 1)
		}
	}
	return out, nil
}
