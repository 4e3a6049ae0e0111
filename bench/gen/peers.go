package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// peers are modules for the other generators. They have as many items as there are operations, and the imports of a
// service.
type peers struct {
	dir   string
	items int
	edits int
}

const constantsPerType = 5

func (p *peers) write() error {
	return writeFiles(p.dir, map[string]string{
		"stringer/go.mod":       "module example.com/constants\n\ngo 1.26.0\n",
		"stringer/constants.go": p.constants(),
		"controller/go.mod":     "module example.com/structs\n\ngo 1.26.0\n",
		"controller/structs.go": p.structs(),
	})
}

// edit changes both modules.
func (p *peers) edit() error {
	p.edits++
	return writeFiles(p.dir, map[string]string{
		"stringer/constants.go": p.constants() + fmt.Sprintf("\nvar _ = %d\n", p.edits),
		"controller/structs.go": p.structs() + fmt.Sprintf("\nvar _ = %d\n", p.edits),
	})
}

const peerImports = "import (\n\t\"database/sql\"\n\t\"net/http\"\n)\n\nvar _ *sql.DB\nvar _ *http.Client\n\n"

func (p *peers) constants() string {
	var b strings.Builder
	b.WriteString("package constants\n\n" + peerImports)
	for t := range p.types() {
		fmt.Fprintf(&b, "type T%d int\n\nconst (\n\tC%d T%d = iota\n", t, t*constantsPerType, t)
		for c := 1; c < constantsPerType; c++ {
			fmt.Fprintf(&b, "\tC%d\n", t*constantsPerType+c)
		}
		b.WriteString(")\n\n")
	}
	return b.String()
}

func (p *peers) types() int { return (p.items + constantsPerType - 1) / constantsPerType }

// typeList returns the names of the types for stringer.
func (p *peers) typeList() string {
	names := make([]string, p.types())
	for t := range names {
		names[t] = fmt.Sprintf("T%d", t)
	}
	return strings.Join(names, ",")
}

const structSource = `type S%d struct {
	Name   string            ` + "`json:\"name\"`" + `
	Tags   []string          ` + "`json:\"tags\"`" + `
	Labels map[string]string ` + "`json:\"labels\"`" + `
}

`

func (p *peers) structs() string {
	var b strings.Builder
	b.WriteString("// +kubebuilder:object:generate=true\npackage structs\n\n" + peerImports)
	for i := range p.items {
		fmt.Fprintf(&b, structSource, i)
	}
	return b.String()
}

func (p *peers) stringerDir() string   { return filepath.Join(p.dir, "stringer") }
func (p *peers) controllerDir() string { return filepath.Join(p.dir, "controller") }
