package house_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A package with generated code imports package aql at most. Whoever links it gets no HTTP, no database/sql and no
// YAML: handlers may run in a command, and the build of a service may not wait for what it does not use.
func TestPackageAqlLinksLittle(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: repository(t), Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps,
	}, module+"/runtime")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	packages.Visit(loaded, nil, func(p *packages.Package) {
		count++
		for _, unwanted := range []string{"net/http", "database/sql", "go.yaml.in/yaml"} {
			if p.PkgPath == unwanted || strings.HasPrefix(p.PkgPath, unwanted+"/") {
				t.Errorf("package aql links %s", p.PkgPath)
			}
		}
	})
	if count < 50 {
		t.Errorf("only %d packages were found", count)
	}
}
