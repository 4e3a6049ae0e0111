package todo_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/adapterschema"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/internal/export/llms"
	"github.com/aqltag/aqltag/internal/export/markdown"
	"github.com/aqltag/aqltag/internal/export/openapi"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/gen"
)

// exportDir holds the exports, which aql-tag export makes of the source and this test of the registry: both must be the
// same.
const exportDir = "../exports"

func definitions(t *testing.T) (*gen.Definitions, describe.Surface) {
	t.Helper()
	adapter := todo.NewRegistry(nil).Definitions()
	adapter.Name, adapter.Version = "todo", "1.0.0"
	gen.AddExecutions(&adapter)
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &adapter, describe.Surface{Mode: describe.Semantic, Profile: profile}
}

// Every export is pinned to the byte.
func TestExports(t *testing.T) {
	adapter, surface := definitions(t)
	exports := make(map[string]string)
	one := func(name string, render func(*gen.Definitions, describe.Surface) ([]byte, error)) {
		for range 3 { // the same bytes each time
			content, err := render(adapter, surface)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if before, again := exports[name]; again && before != string(content) {
				t.Errorf("%s is something else the second time", name)
			}
			exports[name] = string(content)
		}
	}
	one("reference.md", markdown.Render)
	one("llms.txt", llms.Render)
	one("openapi.json", openapi.Render)
	one("snapshot.json", func(a *gen.Definitions, s describe.Surface) ([]byte, error) {
		return introspection.Snapshot(a, s, export.StandardProtocol(a))
	})
	one("manifest.json", func(a *gen.Definitions, _ describe.Surface) ([]byte, error) {
		text, err := manifest.Render(a)
		return append(text, '\n'), err
	})
	one("adapter_definition.json", func(a *gen.Definitions, _ describe.Surface) ([]byte, error) {
		text, _, err := adapterschema.Render(a)
		return text, err
	})
	schemas, err := jsonschema.Files(adapter)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range schemas {
		exports["jsonschema/"+f.Name] = string(f.Content)
	}
	answers, err := introspection.Files(adapter, surface, export.StandardProtocol(adapter))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range answers {
		exports["introspection/"+f.Name] = string(f.Content)
	}
	if *updateDocs {
		if err := os.RemoveAll(exportDir); err != nil {
			t.Fatal(err)
		}
		for name, content := range exports {
			path := filepath.Join(exportDir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	disk := make(map[string]string)
	err = fs.WalkDir(os.DirFS(exportDir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(exportDir, filepath.FromSlash(name)))
		disk[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(disk, exports); diff != "" {
		t.Errorf("the exports are out of date; run go test ./todo -run TestExports -update (-files +exports):\n%s", diff)
	}
}

// What exports say of an adapter's protocol is what an adapter with standard options says of itself.
func TestStandardProtocolIsThatOfAnAdapter(t *testing.T) {
	definitions, surface := definitions(t)
	exported, err := describe.Introspect(definitions, surface, export.StandardProtocol(definitions))
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := aql.New(todo.NewRegistry(nil), aql.Options{Name: "todo", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(params string) string {
		return string(adapter.NewSession().
			Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"introspect","params":`+params+`}`)).JSON)
	}
	for params, want := range map[string][]byte{
		`{"query":"operations"}`: exported.Operations(), `{"query":"types"}`: exported.Types(),
		`{"query":"operations","name":"delete_todo"}`: exported.Operation("delete_todo"),
		`{"query":"types","name":"Todo"}`:             exported.Type("Todo"),
	} {
		if diff := cmp.Diff(string(want), ask(params)); diff != "" {
			t.Errorf("%s (-exported +adapter): %s", params, diff)
		}
	}
}
