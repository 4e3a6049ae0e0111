// Package walk_test goes the way of a stranger from "go get" of a library to the first call of an agent.
package walk_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/proxy"
)

// besides is how many lines a person may write beside one an operation: main and its imports.
const besides = 15

// B4: a library that was not written for aql-tag becomes an adapter by one line an operation and a short main. Each
// file in testdata is such a library, what a person writes, and a call with its answer.
func TestFromGoGetToTheFirstCall(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 3 {
		t.Fatalf("%d libraries: %v", len(archives), err)
	}
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	release, err := proxy.New(t.Context(), root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			settings := parseSettings(string(archive.Comment))
			w := &walker{T: t, dir: t.TempDir(), env: append(os.Environ(), release.Env()...)}
			w.run("go", "mod", "init", "example.com/adapter")
			w.run("go", "get", settings["module"])
			w.run("go", "get", "-tool", "github.com/aqltag/aqltag/cmd/aql-tag@"+release.Version)
			w.run("go", "get", "github.com/aqltag/aqltag/runtime/serve@"+release.Version)
			for _, f := range archive.Files {
				if err := os.WriteFile(filepath.Join(w.dir, f.Name), f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w.run("go", "get", "./...")
			w.run("go", "generate")
			w.run("go", "build", "-o", "adapter")
			w.holdLines(archive.Files)
			w.call(settings["tool"], settings["call"], settings["answer"])
		})
	}
}

// parseSettings reads the lines "name: value" of the comment of an archive.
func parseSettings(comment string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(comment) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			settings[name] = value
		}
	}
	return settings
}

// walker is a module on the machine of somebody who adopts a library.
type walker struct {
	*testing.T
	dir string
	env []string
}

func (w *walker) run(name string, args ...string) {
	w.Helper()
	command := exec.CommandContext(w.Context(), name, args...)
	command.Dir, command.Env = w.dir, w.env
	if output, err := command.CombinedOutput(); err != nil {
		w.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}

// holdLines counts the lines that a person wrote. Blank lines and closing brackets do not count.
func (w *walker) holdLines(files []txtar.File) {
	w.Helper()
	operations, written := 0, 0
	for _, f := range files {
		for line := range strings.Lines(string(f.Data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "//aql:adopt ") {
				operations++
			}
			if strings.Trim(line, ")}") != "" {
				written++
			}
		}
	}
	w.Logf("%d lines for %d operations", written, operations)
	if operations == 0 || written > operations+besides {
		w.Errorf("a person wrote %d lines for %d operations, more than one each and %d", written, operations, besides)
	}
}

// call starts the adapter, makes a call as an MCP client, and compares the answer.
func (w *walker) call(tool, arguments, want string) {
	w.Helper()
	api := httptest.NewServer(http.HandlerFunc(answerAsAPI))
	defer api.Close()
	command := exec.Command(filepath.Join(w.dir, "adapter"))
	command.Env = append(w.env, "API_URL="+api.URL+"/")
	var log bytes.Buffer
	command.Stderr = &log
	session, err := mcp.NewClient(&mcp.Implementation{Name: "walk", Version: "1.0.0"}, nil).
		Connect(w.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		w.Fatalf("%v\n%s", err, &log)
	}
	defer func() {
		if err := session.Close(); err != nil {
			w.Error(err)
		}
	}()
	got, err := session.CallTool(w.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		w.Fatalf("%v\n%s", err, &log)
	}
	text, ok := got.Content[0].(*mcp.TextContent)
	if !ok {
		w.Fatalf("the content is %T", got.Content[0])
	}
	if diff := cmp.Diff(want, text.Text); diff != "" {
		w.Errorf("the answer (-want +got):\n%s\n%s", diff, &log)
	}
}

// answerAsAPI answers for the APIs of the libraries.
func answerAsAPI(w http.ResponseWriter, r *http.Request) {
	answers := map[string]string{
		"/api/v3/repos/acme/shop/issues/7": `{"number":7,"state":"open","title":"Late parcel"}`,
		"/v2/domains/example.com":          `{"domain":{"name":"example.com","ttl":1800,"zone_file":""}}`,
	}
	answer, ok := answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}
