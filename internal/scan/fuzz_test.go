package scan_test

import (
	"errors"
	"fmt"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
)

// workshop type-checks packages in this process.
type workshop struct {
	sync.Mutex
	fset     *token.FileSet
	standard types.Importer
	done     map[string]*packages.Package
}

// newWorkshop type-checks what programs and generated code import.
func newWorkshop(t testing.TB) *workshop {
	t.Helper()
	w := &workshop{fset: token.NewFileSet(), done: make(map[string]*packages.Package)}
	w.standard = importer.ForCompiler(w.fset, "source", nil)
	files, err := filepath.Glob("../../runtime/gen/*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := make(map[string]any)
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			sources[name] = nil
		}
	}
	for _, pkg := range []struct {
		path    string
		sources map[string]any
	}{
		{sourcetest.Runtime + "/gen", sources},
		{sourcetest.Runtime, map[string]any{"aql.go": "package aql\n\ntype Patch[T any] struct{ raw string }\n\n" +
			"type Optional[T any] struct{ value T }\n"}},
		{"example.com/other", map[string]any{"other.go": other}},
	} {
		if _, faults := w.check(pkg.path, pkg.sources); len(faults) > 0 {
			t.Fatal(faults)
		}
	}
	return w
}

// Import returns a package that was checked before, or one of the standard library.
func (w *workshop) Import(path string) (*types.Package, error) {
	if pkg := w.done[path]; pkg != nil {
		return pkg.Types, nil
	}
	imported, err := w.standard.Import(path)
	if err == nil {
		w.done[path] = &packages.Package{PkgPath: path, Name: imported.Name(), Types: imported}
	}
	return imported, err
}

// check type-checks a package of source texts; a text that is nil is in its file.
func (w *workshop) check(path string, sources map[string]any) (*packages.Package, []error) {
	pkg := &packages.Package{PkgPath: path, Imports: make(map[string]*packages.Package)}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(sources)) { // as the go command orders them
		file, err := parser.ParseFile(w.fset, name, sources[name], parser.ParseComments)
		if err != nil {
			return nil, []error{err}
		}
		pkg.Name, pkg.Syntax = file.Name.Name, append(pkg.Syntax, file)
		pkg.GoFiles = append(pkg.GoFiles, "/nowhere/app/"+name)
	}
	if strings.HasPrefix(path, "example.com/") {
		pkg.Module = &packages.Module{Path: "example.com", Main: true, Dir: "/nowhere"}
	}
	config := types.Config{Importer: w, IgnoreFuncBodies: path == sourcetest.Runtime+"/gen", Error: func(err error) {
		faults = append(faults, err)
		if fault, ok := errors.AsType[types.Error](err); ok {
			pkg.TypeErrors = append(pkg.TypeErrors, fault)
		}
	}}
	func() {
		defer func() {
			if recover() != nil { // go/types does not survive every cycle of generic aliases
				pkg.Types = nil
			}
		}()
		pkg.Types, _ = config.Check(path, w.fset, pkg.Syntax, nil)
	}()
	if pkg.Types == nil {
		return nil, faults
	}
	for _, file := range pkg.Syntax {
		for _, spec := range file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if imported := w.done[name]; imported != nil {
				pkg.Imports[name] = imported
			}
		}
	}
	if path != "example.com/app" {
		w.done[path] = pkg
	}
	return pkg, faults
}

// verdict is what became of a random package.
type verdict string

const (
	invalid   verdict = "is not valid Go"
	refused   verdict = "is refused"
	empty     verdict = "has no operations"
	generated verdict = "is generated"
)

// generate scans a package and type-checks what is generated for it.
func (w *workshop) generate(t testing.TB, text string) (verdict, []byte) {
	t.Helper()
	w.Lock()
	defer w.Unlock()
	pkg, faults := w.check("example.com/app", map[string]any{"app.go": text})
	if pkg == nil {
		return invalid, nil
	}
	loaded := &load.Program{Fset: w.fset, Roots: []*packages.Package{pkg}}
	result := scan.Scan(loaded)
	for _, d := range result.Diagnostics {
		if d.Severity == diag.Error && (d.Message == "" || d.Position.Line == 0) {
			t.Errorf("a diagnostic without a text or a place: %+v\n%s", d, text)
		}
	}
	switch {
	case len(faults) > 0: // the compiler reports them, whatever was generated
		return invalid, nil
	case result.HasErrors():
		return refused, nil
	case len(result.Packages) == 0:
		return empty, nil
	}
	code, err := emit.File(&result.Packages[0])
	if err != nil {
		t.Errorf("nothing is generated: %v\n%s", err, text)
		return refused, nil
	}
	sources := map[string]any{"app.go": text, emit.FileName: string(code)}
	switch both, faults := w.check("example.com/app", sources); {
	case both == nil:
		return invalid, nil
	case len(faults) > 0:
		t.Errorf("the generated code does not compile: %v\n%s\n%s", faults, text, code)
	}
	return generated, code
}

// FuzzGenerator makes packages of random types: each is generated and compiles, or is refused with a diagnostic (A12).
func FuzzGenerator(f *testing.F) {
	w := newWorkshop(f)
	for i := range uint64(20) {
		f.Add(randomBytes(i))
	}
	f.Fuzz(func(t *testing.T, seed []byte) { w.generate(t, program(seed)) })
}

// randomBytes are the choices for a random package.
func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 12))
	bytes := make([]byte, 40+random.IntN(400))
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return bytes
}

// The same for a fixed number of packages, of which enough are generated.
func TestRandomPackages(t *testing.T) {
	w := newWorkshop(t)
	n := uint64(10_000)
	if testing.Short() {
		n = 1000
	}
	verdicts := make(map[verdict]int)
	for i := range n {
		v, _ := w.generate(t, program(randomBytes(i)))
		verdicts[v]++
		if t.Failed() {
			t.Fatalf("seed %d", i)
		}
	}
	t.Log(fmt.Sprint(verdicts))
	for _, v := range []verdict{invalid, refused, generated} {
		if verdicts[v] == 0 {
			t.Errorf("no package %s", v)
		}
	}
}
