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
		"go.mod":         "module example.com/synth\n\ngo 1.26.0\n\nrequire github.com/aqltag/aqltag/runtime " + m.version + "\n",
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

// keep writes files that hold on to the handlers without generated code, for comparison.
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
		text := fmt.Sprintf("package %s\n\nimport aql \"github.com/aqltag/aqltag/runtime\"\n\nvar kept = []any{\n%s}\n\n"+
			"// Uses keeps the handlers in the binary.\nfunc Uses() *aql.Registry {\n\tif len(kept) == 0 {\n\t\treturn nil\n\t}\n\treturn aql.Merge()\n}\n", m.name(i), list.String())
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

// edit changes the content of the first n packages, as an author does who is about to generate.
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

// numbers are those of the operations of package i.
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
		b.WriteString(strings.NewReplacer("THING", thing, "RECEIVER", receiver, "SERVICE.", service, "FIELDS", fields, "TABLE", fmt.Sprintf("things_%04d", n)).Replace(operationSource))
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

const typesSource = `// Package types holds what the services share.
package types

// Priority tells how urgent a thing is.
type Priority string

// The priorities.
const (
	Low  Priority = "low"  // Can wait
	High Priority = "high" // Cannot
)

// Level is how loud a thing is.
type Level int

// The levels.
const (
	Quiet Level = iota
	Normal
	Loud
)

// Pagination tells where a page begins.
type Pagination struct {
	Limit  int ` + "`json:\"limit\"`" + `  // How many things there are on a page
	Offset int ` + "`json:\"offset\"`" + ` // How many come before
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T ` + "`json:\"items\"`" + ` // What is on the page
	Pagination
}
`

const packageSource = `// Package %s keeps things.
package %s

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/synth/types"
)

// Service keeps things in a database.
type Service struct {
	DB     *sql.DB
	Client *http.Client
}

// Default is the service that functions use.
var Default = &Service{Client: http.DefaultClient}
`

var requestFields = []string{
	"\tName     string         `json:\"name\" aql:\"required,minlen=1,maxlen=200\"` // Name of the thing that is meant\n",
	"\tPriority types.Priority `json:\"priority,omitempty\" aql:\"default=low\"`    // How urgent the thing is\n",
	"\tCount    int            `json:\"count,omitempty\" aql:\"min=0,max=1000\"`    // How many of them there are\n",
	"\tSince    *time.Time     `json:\"since,omitempty\"`                         // When it was first seen\n",
	"\tTags     []string       `json:\"tags,omitempty\" aql:\"maxitems=20\"`        // Free labels that are attached to it\n",
	"\tLevel    types.Level    `json:\"level,omitempty\"`                         // How loud it is\n",
}

const operationSource = `
// CreateTHINGRequest says which thing to add.
type CreateTHINGRequest struct {
	_ struct{} ` + "`aql:\"category=CREATE\"`" + `
FIELDS}

// THING is a thing as it is kept.
type THING struct {
	types.Pagination
	ID        string            ` + "`json:\"id\"`" + `         // Identifier
	Title     string            ` + "`json:\"title\"`" + `      // What it is called
	Priority  types.Priority    ` + "`json:\"priority\"`" + `   // How urgent it is
	CreatedAt time.Time         ` + "`json:\"created_at\"`" + ` // When it was added
	Labels    map[string]string ` + "`json:\"labels\"`" + `     // Names and values
	Amount    float64           ` + "`json:\"amount\"`" + `     // What it costs
	Done      bool              ` + "`json:\"done\"`" + `       // Whether it is finished
}

// CreateTHING adds a thing and asks the neighbour what it thinks of it.
func RECEIVERCreateTHING(ctx context.Context, req CreateTHINGRequest) (*THING, error) {
	name := strings.TrimSpace(req.Name)
	if name == "" {
		return nil, fmt.Errorf("no name")
	}
	rows, err := SERVICE.DB.QueryContext(ctx, "select id, title from TABLE where name = ?", name)
	if err != nil {
		return nil, fmt.Errorf("reading TABLE: %w", err)
	}
	defer rows.Close()
	out := &THING{CreatedAt: time.Now(), Labels: map[string]string{}}
	for rows.Next() {
		if err := rows.Scan(&out.ID, &out.Title); err != nil {
			return nil, fmt.Errorf("reading a row of TABLE: %w", err)
		}
		out.Labels[out.ID] = strings.ToUpper(out.Title)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://neighbour/TABLE?name="+name, nil)
	if err != nil {
		return nil, err
	}
	response, err := SERVICE.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the neighbour: %w", err)
	}
	defer response.Body.Close()
	out.Done = response.StatusCode == http.StatusOK
	return out, rows.Err()
}
`

const usesGenerated = `package %s

import aql "github.com/aqltag/aqltag/runtime"

// Uses makes the registry of the package.
func Uses() *aql.Registry { return NewRegistry(Default) }
`

const serverSource = `// Command server serves all packages.
package main

import (
	"fmt"
	"os"

	aql "github.com/aqltag/aqltag/runtime"

%s)

func main() {
	adapter, err := aql.New(aql.Merge(
%s	), aql.Options{Name: "synth", Version: "1"})
	fmt.Fprintln(os.Stderr, adapter, err)
}
`
