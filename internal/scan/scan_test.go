package scan_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	loader "github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// runtimeStub stands in for the runtime module: the scanner knows aql.Patch by its import path and name alone.
const runtimeStub = `
-- aqltag/go.mod --
module github.com/aqltag/aqltag

go 1.26
-- aqltag/runtime/aql.go --
package aql

type Patch[T any] struct{ raw string }

func (p *Patch[T]) Apply(v *T) error { return nil }

type Optional[T any] struct{ value T }

type Selection struct{ chosen []string }

type Fields struct {
	Fields Selection ` + "`json:\"fields,omitzero\"`" + `
	Preset string    ` + "`json:\"preset,omitempty\"`" + `
}

type Registry struct{}
`

const moduleFile = `
-- go.mod --
module example.com/app

go 1.26

require github.com/aqltag/aqltag v0.0.0

replace github.com/aqltag/aqltag => ./aqltag
`

// write materialises a module example.com/app from the files of a txtar archive and returns its directory.
func write(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{moduleFile, runtimeStub, archive} {
		for _, file := range txtar.Parse([]byte(text)).Files {
			path := filepath.Join(dir, filepath.FromSlash(file.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, file.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// testCache keeps export data from test to test, apart from the user's own.
var testCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "aql-tag-scan")
	if err != nil {
		panic(err)
	}
	testCache = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// load scans the packages in dir that match patterns, the package in dir itself by default, with both loaders, and demands
// that they agree. Sources that the own loader leaves to go/packages are scanned by that alone.
func load(t *testing.T, dir string, patterns ...string) scan.Result {
	t.Helper()
	options := scan.Options{Dir: dir, Patterns: patterns, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Cache: testCache}
	options.Loader = loader.GoPackages
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Loader = loader.Own
	own, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Logf("own loader: %v", err)
		return result
	}
	if diff := cmp.Diff(result, own); diff != "" {
		t.Errorf("the two loaders do not agree (-go/packages +own):\n%s", diff)
	}
	return result
}

// render is what a user sees of the diagnostics.
func render(t *testing.T, dir string, result scan.Result) string {
	t.Helper()
	var out bytes.Buffer
	for _, d := range result.Diagnostics {
		if err := d.Write(&out, dir, false); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// clean fails the test on any diagnostic.
func clean(t *testing.T, dir string, result scan.Result) {
	t.Helper()
	if text := render(t, dir, result); text != "" {
		t.Fatalf("unexpected diagnostics:\n%s", text)
	}
}

// one scans a module of one file and returns its only package, which must have no diagnostics.
func one(t *testing.T, source string) model.Package {
	t.Helper()
	dir := write(t, "-- app.go --\n"+source)
	result := load(t, dir)
	clean(t, dir, result)
	if len(result.Packages) != 1 {
		t.Fatalf("got %d packages, want 1", len(result.Packages))
	}
	return result.Packages[0]
}

func operation(t *testing.T, pkg model.Package, name string) gen.Operation {
	t.Helper()
	for _, handler := range pkg.Handlers {
		if handler.Operation.Name == name {
			return handler.Operation
		}
	}
	t.Fatalf("no operation %q", name)
	return gen.Operation{}
}
