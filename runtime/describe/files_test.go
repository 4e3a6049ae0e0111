package describe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Every answer is a file, in the order of the lists, with the same JSON.
func TestIntrospectionFiles(t *testing.T) {
	a := todoAdapter()
	a.Types = append(a.Types, gen.Type{Name: "todo", Kind: gen.KindScalar}, gen.Type{Name: "Page[Todo]", Kind: gen.KindScalar})
	in := introspect(t, a, surfaceOf(t, Semantic, "crude"))
	var names []string
	for _, f := range in.Files() {
		names = append(names, f.Name)
		var compact bytes.Buffer
		if err := json.Compact(&compact, f.Content); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		name := strings.TrimSuffix(f.Name[strings.LastIndex(f.Name, "/")+1:], ".json")
		want := map[string][]byte{"operations.json": in.Operations(), "types.json": in.Types()}[f.Name]
		switch {
		case name == "todo-2":
			want = in.Type("todo")
		case name == "Page-Todo-":
			want = in.Type("Page[Todo]")
		case strings.HasPrefix(f.Name, "operations/"):
			want = in.Operation(name)
		case strings.HasPrefix(f.Name, "types/"):
			want = in.Type(name)
		}
		if diff := cmp.Diff(string(want), compact.String()); diff != "" {
			t.Errorf("%s (-answer +file): %s", f.Name, diff)
		}
		if !bytes.HasSuffix(f.Content, []byte("}\n")) {
			t.Errorf("%s does not end with a line end", f.Name)
		}
	}
	want := []string{
		"operations.json", "types.json", "operations/introspect.json", "operations/create_todo.json", "operations/list_todos.json",
		"operations/update_todo.json", "operations/delete_todo.json", "operations/wipe.json", "types/SemanticCategory.json",
		"types/OperationInput.json", "types/OperationResult.json", "types/OperationSuccess.json", "types/OperationFailure.json",
		"types/EndpointPermissions.json", "types/IntrospectionResult.json", "types/Priority.json", "types/Todo.json", "types/TodoList.json",
		"types/TodoPatch.json", "types/Node.json", "types/Nothing.json", "types/Anything.json", "types/Empty.json", "types/todo-2.json",
		"types/Page-Todo-.json",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What an operation can answer with follows from its definition (structured error codes §4).
func TestFailures(t *testing.T) {
	a := todoAdapter()
	a.Types[1].Fields[0].ReadOnly = true
	a.Types[3].Changes = "Todo"
	for name, want := range map[string]string{
		"create_todo": "MISSING_PARAM INVALID_TYPE INVALID_ENUM OUT_OF_RANGE ALREADY_EXISTS",
		"list_todos":  "INVALID_TYPE UNKNOWN_FIELD INVALID_ENUM PATTERN_MISMATCH",
		"update_todo": "MISSING_PARAM INVALID_TYPE UNKNOWN_FIELD PATTERN_MISMATCH READ_ONLY_FIELD APPEND_ONLY RESOURCE",
		"delete_todo": "MISSING_PARAM INVALID_TYPE RESOURCE CONFIRMATION_REQUIRED TOKEN_INVALID TOKEN_EXPIRED",
		"wipe":        "MISSING_PARAM INVALID_TYPE CONFIRMATION_REQUIRED TOKEN_INVALID TOKEN_EXPIRED",
	} {
		o, ok := a.Operation(name)
		if !ok {
			t.Fatal(name)
		}
		var codes []string
		for _, f := range Failures(a, o) {
			short := f.Code
			for _, prefix := range []string{"VALIDATION_", "NOT_FOUND_", "CONFLICT_"} {
				short = strings.TrimPrefix(short, prefix)
			}
			codes = append(codes, short)
		}
		if diff := cmp.Diff(want, strings.Join(codes, " ")); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
	for _, f := range append(CommonFailures(), Failures(a, &a.Operations[2])...) {
		if f.When == "" || !strings.HasSuffix(f.When, ".") {
			t.Errorf("%s: %q is no sentence", f.Code, f.When)
		}
	}
}

// An adapter whose operations select no fields claims the first level only (requirements T-74).
func TestUsualClaimsWhatHolds(t *testing.T) {
	if p := Usual(manyOperations(3)); p.Conformance != "level-1" || p.Capabilities.FieldSelection {
		t.Errorf("%+v", p)
	}
	if p := Usual(todoAdapter()); p.Conformance != "level-2" || !p.Capabilities.FieldSelection {
		t.Errorf("%+v", p)
	}
}
