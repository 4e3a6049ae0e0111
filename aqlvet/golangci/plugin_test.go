package golangci

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/aqltag/aqltag/aqlvet"
)

// golangci-lint finds the linter by its name and runs the analyzer that go vet runs.
func TestGolangciFindsTheLinter(t *testing.T) {
	newPlugin, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	linter, err := newPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	analyzers, err := linter.BuildAnalyzers()
	if err != nil || len(analyzers) != 1 || analyzers[0] != aqlvet.Analyzer {
		t.Errorf("analyzers %v, error %v", analyzers, err)
	}
	if linter.GetLoadMode() != register.LoadModeSyntax {
		t.Errorf("load mode %q", linter.GetLoadMode())
	}
}
