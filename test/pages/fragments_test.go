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
	"operator":  "github.com/aqltag/aqltag/runtime/operator",
	"notify":    "github.com/aqltag/aqltag/runtime/notify",
	"desktop":   "github.com/aqltag/aqltag/runtime/notify/desktop",
	"ntfy":      "github.com/aqltag/aqltag/runtime/notify/ntfy",
	"webhook":   "github.com/aqltag/aqltag/runtime/notify/webhook",
	"mcp":       "github.com/modelcontextprotocol/go-sdk/mcp",
	"notes":     "example.com/fragments/notes",
	"http":      "net/http",
	"context":   "context",
	"errors":    "errors",
	"gen":       "github.com/aqltag/aqltag/runtime/gen",
	"observe":   "github.com/aqltag/aqltag/runtime/observe",
	"os":        "os",
	"time":      "time",
}

// surroundings declares what pieces of code use and do not declare.
const surroundings = `package fragment

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"

	"example.com/fragments/notes"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errFrozen = errors.New("the account is frozen")

type txKey struct{}

var (
	tenants struct {
		Service func(context.Context, aql.Caller) (*notes.Service, error)
	}
	adapter         *aql.Adapter
	bearer          *mcpserver.Bearer
	server          *mcp.Server
	mux             *http.ServeMux
	addr            string
	caller          func(context.Context, mcp.Request) (aql.Caller, error)
	askExpert       func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error)
	ctx             context.Context
	db              *sql.DB
	registry        *aql.Registry
	verify          func(ctx context.Context, token string) (aql.Caller, time.Time, error)
	found, returned int
	names           []string
	load            func(ctx context.Context, name string) error
)
`

// notesPackage is the service of the pieces of code, with what is generated for it.
const notesPackage = `package notes

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

type Service struct{}

func NewRegistry(*Service) *aql.Registry { return nil }

func NewRegistryFor(func(context.Context) (*Service, error)) *aql.Registry { return nil }
`

// The pieces of Go code on pages compile: declarations, or statements of a function that returns an error.
func TestFragmentsCompile(t *testing.T) {
	r := newModule(t)
	if err := os.Mkdir(filepath.Join(r.dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "notes", "notes.go"), []byte(notesPackage), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"clients", "manifest", "notifications", "observability", "production", "requests", "security",
	} {
		page := "docs/" + name + ".md"
		for _, block := range read(t, page) {
			if block.Kind != "go" || !isFragment(block) {
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
	said := regexp.MustCompile(`(?m)\s// .*$`).ReplaceAllString(code, "") // comments use nothing
	for _, name := range slices.Sorted(maps.Keys(importable)) {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(said) {
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
