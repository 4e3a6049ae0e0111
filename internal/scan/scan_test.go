package scan_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

func TestMain(m *testing.M) { scantest.Main(m) }

// clean fails the test on any diagnostic.
func clean(t *testing.T, dir string, result scan.Result) {
	t.Helper()
	if text := scantest.Render(t, dir, result); text != "" {
		t.Fatalf("unexpected diagnostics:\n%s", text)
	}
}

// one scans a module of one file and returns its only package, which must have no diagnostics.
func one(t *testing.T, source string) model.Package {
	t.Helper()
	dir := scantest.Write(t, "-- app.go --\n"+source)
	result := scantest.Load(t, dir)
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
