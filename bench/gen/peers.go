package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// peers are modules for the other generators. They have as many items as there are operations.
type peers struct {
	dir   string
	items int
	edits int
}

// constants is an input of stringer. What stringer does grows with the number of types, since it looks through the
// package for each, and with what the package imports, since it has the go command compile that or find it in its
// cache, and reads what it finds.
type constants struct {
	name    string // of the folder, and in the tables
	title   string
	perType int  // 0: all are of one type
	imports bool // of a service
}

var constantInputs = []constants{
	{"stringer", "stringer, types of 5 constants, two large imports", 5, true},
	{"stringer-one", "stringer, one type of as many constants, two large imports", 0, true},
	{"stringer-bare", "stringer, one type of as many constants, no imports", 0, false},
}

func (p *peers) write() error {
	files := map[string]string{"controller/go.mod": "module example.com/structs\n\ngo 1.26.0\n"}
	for _, c := range constantInputs {
		files[c.name+"/go.mod"] = "module example.com/constants\n\ngo 1.26.0\n"
	}
	if err := writeFiles(p.dir, files); err != nil {
		return err
	}
	return p.edit()
}

// edit changes all modules.
func (p *peers) edit() error {
	p.edits++
	edit := fmt.Sprintf("\nvar _ = %d\n", p.edits)
	files := map[string]string{"controller/structs.go": p.structs() + edit}
	for _, c := range constantInputs {
		files[c.name+"/constants.go"] = c.source(p.items) + edit
	}
	return writeFiles(p.dir, files)
}

const peerImports = "import (\n\t\"database/sql\"\n\t\"net/http\"\n)\n\nvar _ *sql.DB\nvar _ *http.Client\n\n"

// source declares so many constants.
func (c constants) source(items int) string {
	var b strings.Builder
	b.WriteString("package constants\n\n")
	if c.imports {
		b.WriteString(peerImports)
	}
	types, each := c.types(items)
	for t := range types {
		fmt.Fprintf(&b, "type T%d int\n\nconst (\n\tC%d T%d = iota\n", t, t*each, t)
		for k := 1; k < each; k++ {
			fmt.Fprintf(&b, "\tC%d\n", t*each+k)
		}
		b.WriteString(")\n\n")
	}
	return b.String()
}

// types returns how many types there are for so many constants, and how many constants each has.
func (c constants) types(items int) (types, each int) {
	if c.perType == 0 {
		return 1, items
	}
	return (items + c.perType - 1) / c.perType, c.perType
}

// typeList returns the names of the types for stringer.
func (c constants) typeList(items int) string {
	types, _ := c.types(items)
	names := make([]string, types)
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

func (p *peers) controllerDir() string { return filepath.Join(p.dir, "controller") }
