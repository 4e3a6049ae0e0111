// Package release_test holds what users get from a release.
package release_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/proxy"
)

// user is a module on the machine of somebody who uses a release.
type user struct {
	dir     string
	env     []string
	version string // of the release
}

// newUser makes an empty module that meets the working tree as a release.
func newUser(t *testing.T) *user {
	t.Helper()
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(t.Context(), repository, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &user{dir: t.TempDir(), env: append(os.Environ(), p.Env()...), version: p.Version}
	u.run(t, "mod", "init", "example.com/service")
	return u
}

func (u *user) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs the go command and returns the lines that it prints.
func (u *user) run(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir, command.Env = u.dir, u.env
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, output, &problems)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}

// graph is the module graph of the module: the version of each module in it but its own.
func (u *user) graph(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, line := range u.run(t, "list", "-m", "all") {
		if module, version, ok := strings.Cut(line, " "); ok {
			versions[module] = version
		}
	}
	return versions
}

// mostModules is how many modules a service may get from the runtime that the MCP SDK alone would not bring, or would
// bring in an older version.
const mostModules = 6

// B11: a service gets few modules, none of the generator's, and README.md says how many.
func TestAServiceGetsFewModules(t *testing.T) {
	sdk := newUser(t)
	sdk.write(t, "main.go", "package main\n\nimport _ \"github.com/modelcontextprotocol/go-sdk/mcp\"\n\nfunc main() {}\n")
	service := newUser(t)
	service.write(t, "main.go", "package main\n\nimport _ \"github.com/aqltag/aqltag/runtime/serve\"\n\nfunc main() {}\n")
	// Both have the version of the SDK that the runtime requires.
	service.run(t, "mod", "tidy")
	graph := service.graph(t)
	sdk.run(t, "mod", "edit",
		"-require=github.com/modelcontextprotocol/go-sdk@"+graph["github.com/modelcontextprotocol/go-sdk"])
	sdk.run(t, "mod", "tidy")
	theirs := sdk.graph(t)
	var more []string
	for module, version := range graph {
		if known, ok := theirs[module]; !ok || semver.Compare(known, version) < 0 {
			more = append(more, module+" "+version)
		}
	}
	slices.Sort(more)
	t.Logf("%d modules, of which the SDK brings all but\n\t%s", len(graph), strings.Join(more, "\n\t"))
	if len(more) > mostModules {
		t.Errorf("the runtime brings %d modules that the SDK does not, more than %d", len(more), mostModules)
	}
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprintf("The service gets %d modules that the MCP SDK does not bring.", len(more)); !strings.Contains(
		string(readme), said) {
		t.Errorf("README.md does not say: %s", said)
	}
	for _, module := range []string{
		"github.com/aqltag/aqltag", "github.com/santhosh-tekuri/jsonschema/v6",
		"github.com/rogpeppe/go-internal", "github.com/aymanbagabas/go-udiff",
	} {
		if version, ok := graph[module]; ok {
			t.Errorf("a service gets %s %s", module, version)
		}
	}
	if packages := service.run(t, "list", "-deps", "."); slices.Contains(packages, "golang.org/x/tools/go/packages") {
		t.Error("a service links golang.org/x/tools/go/packages")
	}
}

// B11: a package of handlers and their generated code is imported by other programs than adapters, too.
func TestGeneratedCodeLinksLittle(t *testing.T) {
	u := newUser(t)
	u.write(t, "notes/notes.go", `package notes

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

type Note struct {
	Title string `+"`json:\"title\"`"+`
}

type UpdateNoteRequest struct {
	_     struct{}        `+"`aql:\"category=UPDATE\"`"+`
	Input aql.Patch[Note] `+"`json:\"input\"`"+`
}

// UpdateNote changes the note.
func UpdateNote(ctx context.Context, req UpdateNoteRequest) (*Note, error) {
	var n Note
	if err := req.Input.Apply(&n); err != nil {
		return nil, err
	}
	return &n, nil
}
`)
	u.run(t, "get", "-tool", "github.com/aqltag/aqltag/cmd/aql-tag@"+u.version)
	u.run(t, "mod", "tidy")
	u.run(t, "tool", "aql-tag", "./notes")
	u.run(t, "vet", "./notes")
	packages := u.run(t, "list", "-deps", "./notes")
	if !slices.Contains(packages, "github.com/aqltag/aqltag/runtime/gen") {
		t.Fatal("the generated code does not import the package gen")
	}
	for _, unwanted := range packages {
		switch unwanted {
		case "net/http", "database/sql", "go.yaml.in/yaml/v4", "github.com/modelcontextprotocol/go-sdk/mcp":
			t.Errorf("the package with generated code links %s", unwanted)
		}
	}
}

// "go install …@VERSION" refuses a module that has replace directives.
func TestTheCommandCanBeInstalled(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "GOBIN="+filepath.Join(u.dir, "bin"))
	u.run(t, "install", "github.com/aqltag/aqltag/cmd/aql-tag@"+u.version)
	command := exec.CommandContext(t.Context(), filepath.Join(u.dir, "bin", "aql-tag"), "version")
	if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), u.version) {
		t.Errorf("aql-tag version prints %q, %v; want %s in it", output, err, u.version)
	}
}

// Every module of the workspace is released, or is one that nobody imports.
func TestEveryModuleIsReleasedOrNot(t *testing.T) {
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(repository, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range work.Use {
		folder := filepath.ToSlash(filepath.Clean(use.Path))
		kind, _, _ := strings.Cut(folder, "/")
		ours := slices.Contains([]string{"bench", "examples", "test"}, kind)
		if released := slices.Contains(proxy.Released, folder); released == ours {
			t.Errorf("module %s is released: %t", folder, released)
		}
	}
}
