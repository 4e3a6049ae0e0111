package mutation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

const (
	todoDir       = "../../examples/todo/todo"
	generatedName = emit.FileName
	// driverPath is imported for its side effect only. Without it the service needs only the runtime.
	driverPath = "modernc.org/sqlite"
)

// service is the todo service, read and type-checked.
type service struct {
	fset     *token.FileSet
	files    map[string][]byte // by name, the generated one included
	syntax   map[string]*ast.File
	info     *types.Info
	pkg      *types.Package
	imports  types.Importer
	handlers []string              // names of the functions that carry out operations, sorted
	reached  map[types.Object]bool // the types of requests and results, with all that they mention
	shown    map[types.Object]bool // those of results
}

// readService reads the service as it is committed. It must compile.
func readService(t *testing.T) *service {
	t.Helper()
	s := &service{fset: token.NewFileSet(), files: map[string][]byte{}, syntax: map[string]*ast.File{}}
	entries, err := os.ReadDir(todoDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(todoDir, name))
		if err != nil {
			t.Fatal(err)
		}
		s.files[name] = bytes.Replace(data, []byte("_ "+strconv.Quote(driverPath)), nil, 1)
	}
	for name, data := range s.files {
		if filepath.Ext(name) == ".go" {
			if s.syntax[name], err = parse(s.fset, name, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.imports = loadImports(t, s.syntax)
	s.info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}}
	var faults []types.Error
	s.pkg, faults = check(s.fset, s.syntax, s.imports, s.info)
	if len(faults) > 0 {
		t.Fatalf("%s does not compile as it is: %v", todoDir, faults[0])
	}
	s.reach()
	return s
}

// sources are the names of the files that people wrote, sorted.
func (s *service) sources() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.syntax)), func(name string) bool { return name == generatedName })
}

// isHandler reports whether a function takes the request of an operation.
func (s *service) isHandler(decl *ast.FuncDecl) bool {
	return decl.Recv != nil && s.requestOf(decl) != nil
}

// requestOf returns the parameter of a function that is a struct with an aql tag on its blank field; nil: it has none.
func (s *service) requestOf(decl *ast.FuncDecl) *ast.Field {
	for _, param := range decl.Type.Params.List {
		named, ok := s.info.TypeOf(param.Type).(*types.Named)
		if !ok {
			continue
		}
		st, ok := named.Underlying().(*types.Struct)
		for i := range fieldsOf(st, ok) {
			if st.Field(i).Name() == "_" && strings.HasPrefix(st.Tag(i), "aql:") {
				return param
			}
		}
	}
	return nil
}

func fieldsOf(st *types.Struct, ok bool) int {
	if !ok {
		return 0
	}
	return st.NumFields()
}

// reach finds the handlers, and the types of the package that requests and results consist of.
func (s *service) reach() {
	s.reached, s.shown = map[types.Object]bool{}, map[types.Object]bool{}
	for _, file := range s.sources() {
		for _, decl := range s.syntax[file].Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && s.isHandler(fn) {
				s.handlers = append(s.handlers, fn.Name.Name)
				signature := s.info.Defs[fn.Name].Type().(*types.Signature)
				s.visit(signature.Results().At(0).Type(), s.shown)
				s.visit(s.info.TypeOf(s.requestOf(fn).Type), s.reached)
			}
		}
	}
	slices.Sort(s.handlers)
	maps.Copy(s.reached, s.shown)
}

// visit adds the types of the package that a type mentions.
func (s *service) visit(t types.Type, found map[types.Object]bool) {
	switch t := t.(type) {
	case *types.Pointer:
		s.visit(t.Elem(), found)
	case *types.Slice:
		s.visit(t.Elem(), found)
	case *types.Map:
		s.visit(t.Elem(), found)
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			s.visit(arg, found)
		}
		if t.Obj().Pkg() != s.pkg || found[t.Obj()] {
			return
		}
		found[t.Obj()] = true
		st, ok := t.Underlying().(*types.Struct)
		for i := range fieldsOf(st, ok) {
			s.visit(st.Field(i).Type(), found)
		}
	}
}

// enumOf returns the type of a constant, nil for a constant without a named type.
func enumOf(object types.Object) types.Object {
	if object == nil {
		return nil
	}
	if named, ok := object.Type().(*types.Named); ok {
		return named.Obj()
	}
	return nil
}

func parse(fset *token.FileSet, name string, data []byte) (*ast.File, error) {
	return parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
}

// check type-checks a package with its function bodies and returns all errors that the compiler would report.
func check(
	fset *token.FileSet, syntax map[string]*ast.File, imports types.Importer, info *types.Info,
) (*types.Package, []types.Error) {
	var faults []types.Error
	config := types.Config{Importer: imports, Sizes: types.SizesFor("gc", runtime.GOARCH), Error: func(err error) {
		var fault types.Error
		if errors.As(err, &fault) {
			faults = append(faults, fault)
		}
	}}
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(syntax)) {
		files = append(files, syntax[name])
	}
	pkg, _ := config.Check("example.com/mutants/todo", fset, files, info)
	return pkg, faults
}

// imported imports the packages that the service imports.
type imported map[string]*types.Package

func (i imported) Import(path string) (*types.Package, error) {
	if pkg := i[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

// loadImports type-checks the declarations of all that the files import, once for all mutants.
func loadImports(t *testing.T, syntax map[string]*ast.File) imported {
	t.Helper()
	paths := map[string]bool{}
	for _, file := range syntax {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			paths[path] = true
		}
	}
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		ParseFile: func(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, filename, src, parser.SkipObjectResolution)
			if file != nil {
				for _, decl := range file.Decls {
					if fn, ok := decl.(*ast.FuncDecl); ok {
						fn.Body = nil
					}
				}
			}
			return file, err
		},
	}
	roots, err := packages.Load(config, slices.Sorted(maps.Keys(paths))...)
	if err != nil {
		t.Fatal(err)
	}
	all := imported{"unsafe": types.Unsafe}
	for _, root := range roots {
		all[root.PkgPath] = root.Types
	}
	return all
}

// compile reports the compiler's errors about a mutant in the generated file, and in the service's own files. The
// latter are mistakes of the author; only an error in the generated file shows that it is stale.
func (s *service) compile(m mutant) (inGenerated, inOwn []types.Error, err error) {
	syntax, files := maps.Clone(s.syntax), m.apply(s.files)
	for _, e := range m.edits {
		if syntax[e.file], err = parse(s.fset, e.file, files[e.file]); err != nil {
			return nil, nil, err
		}
	}
	_, faults := check(s.fset, syntax, s.imports, nil)
	for _, fault := range faults {
		if s.fset.Position(fault.Pos).Filename == generatedName {
			inGenerated = append(inGenerated, fault)
		} else {
			inOwn = append(inOwn, fault)
		}
	}
	return inGenerated, inOwn, nil
}

// compileAll compiles all mutants, on all processors.
func (s *service) compileAll(t *testing.T, mutants []mutant) []verdict {
	t.Helper()
	verdicts := make([]verdict, len(mutants))
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				inGenerated, inOwn, err := s.compile(mutants[i])
				if err != nil {
					t.Errorf("%s: the mutant is no Go: %v", mutants[i], err)
				}
				verdicts[i] = verdict{build: len(inGenerated) > 0, own: len(inOwn) > 0}
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	group.Wait()
	return verdicts
}

// moduleWithRuntime makes a directory with a module that requires this repository as it is here.
func moduleWithRuntime(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := scratch.Write(dir, name); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mutantDir returns the directory of a mutant's package in the module of mutants. The package's own folder keeps its
// name, which the generated file mentions.
func mutantDir(i int) string { return fmt.Sprintf("m%04d/todo", i) }

// writeModule writes a module with the mutants at the given places, and as its first package the service unchanged.
func (s *service) writeModule(t *testing.T, mutants []mutant, chosen []int) string {
	t.Helper()
	dir := moduleWithRuntime(t, "example.com/mutants")
	s.writePackage(t, filepath.Join(dir, mutantDir(0)), mutant{})
	for _, i := range chosen {
		s.writePackage(t, filepath.Join(dir, mutantDir(i+1)), mutants[i])
	}
	return dir
}

func (s *service) writePackage(t *testing.T, dir string, m mutant) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range m.apply(s.files) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkAll does what `aql-tag check` does, for the chosen mutants in one load.
func (s *service) checkAll(t *testing.T, mutants []mutant, chosen []int, verdicts []verdict) {
	t.Helper()
	dir := s.writeModule(t, mutants, chosen)
	result, err := scan.Load(context.Background(), scan.Options{Dir: dir, Patterns: []string{"./..."}, Env: scratch.Env()})
	if err != nil {
		t.Fatal(err)
	}
	mutantOf := func(folder string) int {
		rel, err := filepath.Rel(dir, folder)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscanf(filepath.ToSlash(rel), "m%04d/todo", &n); err != nil {
			t.Fatalf("%s is no folder of a mutant: %v", rel, err)
		}
		return n - 1
	}
	for _, d := range result.Diagnostics {
		i := mutantOf(filepath.Dir(d.Position.File))
		if i < 0 && d.Severity == diag.Error {
			t.Fatalf("the unchanged service has a diagnostic: %s", d.Message)
		}
		if i >= 0 && d.Severity == diag.Error {
			verdicts[i].diagnostic = true
		}
	}
	for _, empty := range result.Empty {
		verdicts[mutantOf(empty.Dir)].stale = true
	}
	committed := s.files[generatedName]
	for i := range result.Packages {
		n := mutantOf(result.Packages[i].Dir)
		if n >= 0 && verdicts[n].diagnostic {
			continue
		}
		content, err := emit.File(&result.Packages[i])
		// The places of handlers name the folder.
		content = bytes.ReplaceAll(content, []byte(strings.TrimSuffix(mutantDir(n+1), "todo")), nil)
		switch {
		case n < 0 && (err != nil || !bytes.Equal(content, committed)):
			t.Fatalf("%s/%s is not what is generated from the service; run make generate (%v)", todoDir, generatedName, err)
		case n < 0:
			var found []string
			for _, handler := range result.Packages[i].Handlers {
				found = append(found, handler.Func)
			}
			if diff := cmp.Diff(found, s.handlers); diff != "" {
				t.Fatalf("the handlers that are changed are not those that are generated (-generated +changed):\n%s", diff)
			}
		default:
			verdicts[n].stale = err != nil || !bytes.Equal(content, committed)
		}
	}
}
