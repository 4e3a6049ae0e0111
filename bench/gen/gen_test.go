package main

import (
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/proxy"
)

// What does not depend on the machine is promised here: the size of generated code, and that it compiles and is up to
// date.
func TestSyntheticModule(t *testing.T) {
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	aqltag := filepath.Join(dir, "aql-tag")
	served, err := proxy.New(t.Context(), root, filepath.Join(dir, "proxy"))
	if err != nil {
		t.Fatal(err)
	}
	env := served.Env()
	m := &module{dir: filepath.Join(dir, "module"), env: env, version: served.Version, ops: 40, packages: 2}
	if err := m.write(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*command{
		{
			name: "building aql-tag", dir: root, args: []string{"go", "build", "-o", aqltag, "./cmd/aql-tag"},
			env: []string{"GOWORK="},
		},
		{name: "generating", dir: m.dir, args: []string{aqltag, "gen", "-q", "./..."}, env: env},
		{name: "checking", dir: m.dir, args: []string{aqltag, "check", "./..."}, env: env},
		{name: "compiling", dir: m.dir, args: []string{"go", "vet", "./..."}, env: env},
	} {
		if _, err := c.run(); err != nil {
			t.Fatal(err)
		}
	}
	v := variant{module: *m}
	if err := v.count(); err != nil {
		t.Fatal(err)
	}
	if perOperation := float64(v.lines) / float64(m.ops); perOperation > 40 {
		t.Errorf("%.2f generated lines an operation, more than 40", perOperation)
	}
}
