package introspection_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// todos has types whose names make trouble as file names.
func todos() *gen.Definitions {
	return &gen.Definitions{
		Name: "todo",
		Operations: []gen.Operation{
			{
				Name: "create_todo", Category: gen.Create, Description: "Adds a <todo> & more.", Danger: gen.Safe,
				Params:   []gen.Param{{Name: "title", Type: "string", Required: true}},
				Returns:  gen.Returns{Name: "Todo", Kind: gen.KindObject},
				Examples: []gen.Example{{Params: `{"title":"Buy <milk> & tea"}`}},
			},
			{Name: "wipe", Category: gen.Delete, Danger: gen.Dangerous},
		},
		Types: []gen.Type{
			{Name: "Todo", Kind: gen.KindObject}, {Name: "todo", Kind: gen.KindScalar},
			{Name: "Page[Todo]", Kind: gen.KindScalar},
		},
	}
}

func answers(t *testing.T, a *gen.Definitions, s describe.Surface) *describe.Introspection {
	t.Helper()
	answers, err := describe.Introspect(a, s, export.StandardProtocol(a))
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// Every answer is a file, in the order of the lists, with the same JSON.
func TestFiles(t *testing.T) {
	a, s := todos(), exporttest.Surface(t, describe.Semantic, "crude")
	in := answers(t, a, s)
	files, err := introspection.Files(a, s, export.StandardProtocol(a))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		var compact bytes.Buffer
		if err := json.Compact(&compact, f.Content); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		folder, name, _ := strings.Cut(strings.TrimSuffix(f.Name, ".json"), "/")
		var want []byte
		switch {
		case f.Name == "operations.json":
			want = in.Operations()
		case f.Name == "types.json":
			want = in.Types()
		case folder == "operations":
			want = in.Operation(name)
		default:
			want = in.Type(map[string]string{"todo-2": "todo", "Page-Todo-": "Page[Todo]"}[name])
			if want == nil || bytes.Contains(want, []byte(`"type":null`)) {
				want = in.Type(name)
			}
		}
		if diff := cmp.Diff(string(want), compact.String()); diff != "" {
			t.Errorf("%s (-answer +file): %s", f.Name, diff)
		}
		if !bytes.HasSuffix(f.Content, []byte("}\n")) {
			t.Errorf("%s does not end with a newline", f.Name)
		}
	}
	want := []string{
		"operations.json", "types.json", "operations/introspect.json", "operations/create_todo.json", "operations/wipe.json",
		"types/SemanticCategory.json", "types/OperationInput.json", "types/OperationResult.json",
		"types/OperationSuccess.json", "types/OperationFailure.json", "types/EndpointPermissions.json",
		"types/IntrospectionResult.json", "types/Todo.json", "types/todo-2.json", "types/Page-Todo-.json",
		"types/Nothing.json",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A snapshot holds each operation and each type in full, in the order of the lists. The files make the same one.
func TestSnapshotHoldsEveryAnswer(t *testing.T) {
	a, s := todos(), exporttest.Surface(t, describe.Semantic, "")
	in := answers(t, a, s)
	document, err := introspection.Snapshot(a, s, export.StandardProtocol(a))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Protocol   json.RawMessage   `json:"_protocol"`
		Operations []json.RawMessage `json:"operations"`
		Types      []json.RawMessage `json:"types"`
	}
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatal(err)
	}
	complete := len(got.Operations) == len(a.Operations)+1 && len(got.Types) >= len(a.Types)
	if !complete || !bytes.Contains(got.Protocol, []byte(`"mode"`)) {
		t.Errorf("%d operations and %d types: %s", len(got.Operations), len(got.Types), document)
	}
	for _, detail := range got.Operations {
		var named struct{ Name string }
		var compact bytes.Buffer
		if err := errors.Join(json.Unmarshal(detail, &named), json.Compact(&compact, detail)); err != nil {
			t.Fatal(err)
		}
		want := `{"success":true,"data":{"operation":` + compact.String() + `}}`
		if answer := in.Operation(named.Name); want != string(answer) {
			t.Errorf("%s: %s\nis not what introspect answers:\n%s", named.Name, want, answer)
		}
	}

	files, err := introspection.Files(a, s, export.StandardProtocol(a))
	if err != nil {
		t.Fatal(err)
	}
	folder := make(fstest.MapFS)
	for _, f := range files {
		folder[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	read, err := introspection.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(document), string(read)); diff != "" {
		t.Errorf("files make another one (-snapshot +files):\n%s", diff)
	}
}

func TestExportsRefuseASurfaceThatIsNotValid(t *testing.T) {
	if _, err := introspection.Files(todos(), describe.Surface{}, describe.Protocol{}); err == nil {
		t.Error("files: no error")
	}
	if _, err := introspection.Snapshot(todos(), describe.Surface{}, describe.Protocol{}); err == nil {
		t.Error("snapshot: no error")
	}
}

func TestCollectRefusesOtherAnswers(t *testing.T) {
	const list = `{"success":true,"data":{"operations":[{"name":"a"}]}}`
	for _, tt := range []struct{ name, list, detail, says string }{
		{"no answer", "", "", `asking introspect for operations: no answer`},
		{"no JSON", "{", "", `reading the answer of introspect for operations`},
		{"a failure", `{"success":false,"error":{"code":"INTROSPECTION_ERROR","message":"no"}}`, "",
			`introspect for operations failed: INTROSPECTION_ERROR no`},
		{"an entry without a name", `{"success":true,"data":{"operations":[{}]}}`, "", `lists an entry without a name`},
		{"no details", list,
			`{"success":true,"data":{"operation":null}}`, `lists "a" among the operations, and knows nothing of it by name`},
		{"details that fail", list,
			`{"success":false,"error":{"code":"X","message":"m"}}`, `introspect for operations, name "a" failed: X m`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := introspection.Collect(func(_, name string) ([]byte, error) {
				answer := tt.list
				if name != "" {
					answer = tt.detail
				}
				if answer == "" {
					return nil, errors.New("no answer")
				}
				return []byte(answer), nil
			})
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want it to say %q", err, tt.says)
			}
		})
	}
}
