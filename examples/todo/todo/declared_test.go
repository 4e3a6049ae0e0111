package todo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	"github.com/aqltag/aqltag/internal/export/adapterschema"
	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/gen"
)

// goldenFolder holds what the service declares.
var goldenFolder = filepath.Join("..", "testdata")

// declaring makes an adapter that tells everything about itself.
func declaring(t *testing.T) *aql.Adapter {
	t.Helper()
	service, err := todo.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	adapter, err := aql.New(todo.NewRegistry(service),
		aql.Options{Name: "todo", Version: "1.0.0", GetManifest: true, AdapterInfo: true})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// answered is the data of an answer through the read tool.
func answered(t *testing.T, adapter *aql.Adapter, request string) json.RawMessage {
	t.Helper()
	var answer struct{ Data json.RawMessage }
	reply := adapter.NewSession().Call(context.Background(), "mcp_aql_read", []byte(request)).JSON
	if err := json.Unmarshal(reply, &answer); err != nil || answer.Data == nil {
		t.Fatalf("%v: %s", err, reply)
	}
	return answer.Data
}

func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(goldenFolder, name)
	if *updateDocs {
		if err := os.MkdirAll(goldenFolder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// REQ-GM-08: the manual and the operation itself say that a manifest is a declaration, and nothing to validate by.
func TestManifestIsDeclaredToBeNoContract(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "manifest.md"))
	if err != nil {
		t.Fatal(err)
	}
	manual := strings.Join(strings.Fields(string(page)), " ")
	described := string(answered(t, declaring(t), `{"operation":"introspect","query":"operations","name":"get_manifest"}`))
	for text, phrases := range map[string][]string{
		manual: {"not a contract of execution", "how values are written, parsed or validated",
			"do not validate requests by"},
		described: {"a declaration of capabilities", "Datatypes in it are labels"},
	} {
		for _, phrase := range phrases {
			if !strings.Contains(text, phrase) {
				t.Errorf("no %q in %.600s", phrase, text)
			}
		}
	}
}

// REQ-GM-01, REQ-GM-02, REQ-GM-03, REQ-GM-04, REQ-GM-05, REQ-GM-09: the manifest of the todo service, and the part of
// it that docs/manifest.md shows.
func TestManifest(t *testing.T) {
	adapter := declaring(t)
	text, err := adapter.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(answered(t, adapter, `{"operation":"get_manifest"}`))); diff != "" {
		t.Errorf("get_manifest answers otherwise (-Manifest +answer):\n%s", diff)
	}
	compareGolden(t, "get_manifest.json", indented(t, text))

	var manifest struct{ Operations []json.RawMessage }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(repository, "docs", "manifest.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?s)```json\n(.*?)```")
	for _, operation := range manifest.Operations {
		if !bytes.HasPrefix(operation, []byte(`{"name":"create_todo"`)) {
			continue
		}
		shown := strings.NewReplacer(`[{`, "[\n  {", `},{`, "},\n  {").Replace(string(operation)) + "\n"
		if documented := fence.FindSubmatch(page); *updateDocs {
			page = fence.ReplaceAllLiteral(page, []byte("```json\n"+shown+"```"))
			if err := os.WriteFile(path, page, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(documented[1]), shown); diff != "" {
			t.Errorf("docs/manifest.md (-documented +is):\n%s", diff)
		}
		return
	}
	t.Error("the manifest has no create_todo")
}

// REQ-GE-06: the header of the generated code, the adapter and what agents are told are about the same definitions.
func TestFingerprint(t *testing.T) {
	adapter := declaring(t)
	generated, err := os.ReadFile("aql_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if header := "\n// Definitions: " + adapter.Fingerprint() + "\n"; !strings.Contains(string(generated), header) {
		t.Errorf("the header has no %s", header)
	}
	var info struct{ Definitions string }
	if err := json.Unmarshal(answered(t, adapter, `{"operation":"introspect","query":"adapter_info"}`),
		&info); err != nil {
		t.Fatal(err)
	}
	if info.Definitions != adapter.Fingerprint() {
		t.Errorf("agents are told %s", info.Definitions)
	}
	merged, err := aql.New(aql.Merge(todo.NewRegistry(nil), aql.Merge()), aql.Options{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if merged.Fingerprint() != adapter.Fingerprint() {
		t.Error("a registry merged with nothing has other definitions")
	}
}

// The todo service as an adapter definition of the protocol, and what that does not tell of it.
func TestAdapterDefinition(t *testing.T) {
	definitions := todo.NewRegistry(nil).Definitions()
	definitions.Name, definitions.Version = "todo", "1.0.0"
	gen.AddExecutions(&definitions)
	text, warnings, err := adapterschema.Render(&definitions)
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "adapter_definition.json", text)
	var lines bytes.Buffer
	for _, w := range warnings {
		lines.WriteString(w.String() + "\n")
	}
	compareGolden(t, "adapter_definition.warnings.txt", lines.Bytes())
}
