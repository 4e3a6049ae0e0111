package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is a synthetic service: operations in packages, each with a request struct of 3 to 6 fields, a result of 7 and
// an embedded struct, and a handler that does what handlers do. Half of the handlers are methods.
type module struct {
	dir      string
	env      []string // of the go command: where it finds aql-tag
	version  string   // of aql-tag
	ops      int
	packages int
	edits    int
}

// write makes the module on disk.
func (m *module) write() error {
	files := map[string]string{
		"go.mod": "module example.com/synth\n\ngo 1.26.0\n\n" +
			"require github.com/aqltag/aqltag/runtime " + m.version + "\n",
		"types/types.go": typesSource,
	}
	var imports, uses strings.Builder
	for i := range m.packages {
		name := m.name(i)
		files[name+"/"+name+".go"] = m.source(i)
		fmt.Fprintf(&imports, "\t\"example.com/synth/%s\"\n", name)
		fmt.Fprintf(&uses, "\t\t%s.Uses(),\n", name)
	}
	files["cmd/server/main.go"] = fmt.Sprintf(serverSource, imports.String(), uses.String())
	for i := range m.packages {
		files[m.name(i)+"/uses.go"] = fmt.Sprintf(usesGenerated, m.name(i))
	}
	if err := writeFiles(m.dir, files); err != nil {
		return err
	}
	tidy := &command{name: "go mod tidy", dir: m.dir, args: []string{"go", "mod", "tidy"}, env: m.env}
	_, err := tidy.run()
	return err
}

// keep replaces generated code by a variable that keeps the handlers in the binary, for comparison.
func (m *module) keep() error {
	for i := range m.packages {
		var list strings.Builder
		for _, n := range m.numbers(i) {
			if n%2 == 0 {
				fmt.Fprintf(&list, "\tCreateThing%04d,\n", n)
			} else {
				fmt.Fprintf(&list, "\t(*Service).CreateThing%04d,\n", n)
			}
		}
		text := fmt.Sprintf(usesKept, m.name(i), list.String())
		dir := filepath.Join(m.dir, m.name(i))
		if err := os.Remove(filepath.Join(dir, "aql_gen.go")); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "uses.go"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// edit changes the first n packages, as an author does before generating.
func (m *module) edit(n int) error {
	m.edits++
	for i := range n {
		path := filepath.Join(m.dir, m.name(i), m.name(i)+".go")
		if err := os.WriteFile(path, []byte(m.source(i)+fmt.Sprintf("\nvar _ = %d\n", m.edits)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) name(i int) string { return fmt.Sprintf("svc%02d", i) }

// numbers returns the numbers of the operations of package i.
func (m *module) numbers(i int) []int {
	var list []int
	for n := i * m.ops / m.packages; n < (i+1)*m.ops/m.packages; n++ {
		list = append(list, n)
	}
	return list
}

func (m *module) source(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, packageSource, m.name(i), m.name(i))
	for _, n := range m.numbers(i) {
		thing := fmt.Sprintf("Thing%04d", n)
		receiver, service := "", "Default."
		if n%2 == 1 {
			receiver, service = "(s *Service) ", "s."
		}
		fields := strings.Join(requestFields[:3+n%4], "")
		b.WriteString(strings.NewReplacer(
			"THING", thing, "RECEIVER", receiver, "SERVICE.", service, "FIELDS", fields, "TABLE", fmt.Sprintf("things_%04d", n),
		).Replace(operationSource))
	}
	return b.String()
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
