package pages

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// importable are the packages that pieces of code on pages mention, by their names there.
var importable = map[string]string{
	"aql":       "github.com/aqltag/aqltag/runtime",
	"mcpserver": "github.com/aqltag/aqltag/runtime/mcpserver",
	"serve":     "github.com/aqltag/aqltag/runtime/serve",
	"sqlite":    "github.com/aqltag/aqltag/runtime/store/sqlite",
	"context":   "context",
	"errors":    "errors",
	"gen":       "github.com/aqltag/aqltag/runtime/gen",
	"os":        "os",
	"time":      "time",
}

// surroundings declares what pieces of code use and do not declare.
const surroundings = `package fragment

import (
	"context"
	"database/sql"
	"errors"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

var errFrozen = errors.New("the account is frozen")

type txKey struct{}

var (
	ctx             context.Context
	db              *sql.DB
	registry        *aql.Registry
	verify          func(ctx context.Context, token string) (aql.Caller, time.Time, error)
	found, returned int
	names           []string
	load            func(ctx context.Context, name string) error
)
`

// The pieces of Go code on pages compile: declarations, or statements of a function that returns an error.
func TestFragmentsCompile(t *testing.T) {
	r := newModule(t)
	for _, name := range []string{"clients", "manifest", "production", "requests", "security"} {
		page := "docs/" + name + ".md"
		for _, block := range read(t, page) {
			if block.Kind != "go" {
				continue
			}
			dir := filepath.Join(r.dir, fmt.Sprintf("%s%d", name, block.Line))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{"fragment.go": fragment(block.Text), "surroundings.go": surroundings} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if printed, err := r.shell.run("go mod init example.com/fragments\ngo mod tidy\ngo vet ./..."); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
}

// fragment returns the file that a piece of code is made.
func fragment(code string) string {
	file := "package fragment\n\n"
	for _, name := range slices.Sorted(maps.Keys(importable)) {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
			file += fmt.Sprintf("import %s %q\n", name, importable[name])
		}
	}
	if regexp.MustCompile(`^(type|func|var|const) `).MatchString(code) {
		return file + "\n" + code
	}
	if !regexp.MustCompile(`(?m)^return `).MatchString(code) {
		code += "\treturn nil\n"
	}
	return file + "\nfunc _() error {\n" + code + "}\n"
}
