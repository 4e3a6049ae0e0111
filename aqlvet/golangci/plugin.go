// Package golangci makes aql-tag's analyzer a linter of golangci-lint: name this module in .custom-gcl.yml and enable
// the linter "aqltag" of type "module" in .golangci.yml.
package golangci

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/aqltag/aqltag/aqlvet"
)

// Name is the linter's name in the configuration of golangci-lint.
const Name = "aqltag"

func init() { register.Plugin(Name, New) }

// New makes the linter. It has no settings.
func New(any) (register.LinterPlugin, error) { return plugin{}, nil }

type plugin struct{}

// BuildAnalyzers returns the one analyzer.
func (plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return []*analysis.Analyzer{aqlvet.Analyzer}, nil
}

// GetLoadMode returns the mode without types: the scanner finds its own.
func (plugin) GetLoadMode() string { return register.LoadModeSyntax }
