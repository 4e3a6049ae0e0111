package conform_test

import (
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// A14: where introspection requires a field in each update, as of a resource that is replaced, an update sends it, and
// the checks of updates judge what they are about.
func TestFieldsThatEachUpdateRequires(t *testing.T) {
	server := &mutated{Server: newTodo(t, ""), call: func(r request, next call) answer {
		input, isObject := r.params["input"].(map[string]any)
		if r.operation == "update_todo" && isObject && input["title"] == nil {
			if _, null := input["title"]; !null {
				return failed("VALIDATION_MISSING_PARAM", "Missing required parameter 'input.title'. Expected: string",
					map[string]any{"param_name": "input.title", "operation": "update_todo"})
			}
		}
		a := next(r)
		if shown, ok := a.data()["type"].(map[string]any); ok && shown["name"] == "TodoPatch" {
			for _, field := range shown["fields"].([]any) {
				if field := field.(map[string]any); field["name"] == "title" {
					field["required"] = true
				}
			}
		}
		return a
	}}
	report, err := conform.Run(t.Context(), server, conform.Options{AllowDestructive: true})
	if err != nil {
		t.Fatal(err)
	}
	expectPerfect(t, report)
}
