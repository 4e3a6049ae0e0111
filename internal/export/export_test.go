package export

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
)

func TestFileNames(t *testing.T) {
	var names FileNames
	var got []string
	for _, name := range []string{"Todo", "todo", "get_todo", "Page[Todo]", "Größe", "TODO", "todo-2"} {
		got = append(got, names.Of("types/", name, ".json"))
	}
	got = append(got, names.Of("operations/", "todo", ".json"))
	want := []string{
		"types/Todo.json", "types/todo-2.json", "types/get_todo.json", "types/Page-Todo-.json", "types/Gr--e.json",
		"types/TODO-3.json", "types/todo-2-2.json", "operations/todo.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Members keep their order, and the characters < > & are written as they are, also by an encoder around them.
func TestObject(t *testing.T) {
	object := Object{{"b", "<1> & 2"}, {"a", Object{{"x", nil}}}, {`"`, []int{1, 2}}}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"object": object, "empty": Object{}}); err != nil {
		t.Fatal(err)
	}
	want := `{"empty":{},"object":{"b":"<1> & 2","a":{"x":null},"\"":[1,2]}}` + "\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err := json.Marshal(Object{{"member", func() {}}})
	if err == nil || !strings.Contains(err.Error(), `member "member"`) {
		t.Errorf("a value that is not JSON: %v", err)
	}
}

// T-74: an adapter whose operations select no fields claims level 1 only.
func TestStandardProtocolClaimsWhatHolds(t *testing.T) {
	for params, want := range map[string]string{"string": "level-1 false", gen.TypeSelection: "level-2 true"} {
		p := StandardProtocol(&gen.Definitions{Operations: []gen.Operation{{Params: []gen.Param{{Name: "fields",
			Type: params}}}}})
		if got := fmt.Sprintf("%s %t", p.Conformance, p.Capabilities.FieldSelection); got != want {
			t.Errorf("a parameter of type %s: %s, want %s", params, got, want)
		}
	}
}
