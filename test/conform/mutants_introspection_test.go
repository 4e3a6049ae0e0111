package conform_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/conform"
)

func introspectionMutants() []mutant {
	swapped := false
	return []mutant{
		{
			check:  "introspect/protocol",
			what:   "says nothing of the protocol",
			also:   []string{"introspect/claim", "batch/supported", "fields/supported", "pages/advertised"},
			broken: list(func(data map[string]any) { delete(data, "_protocol") }),
		},
		{check: "introspect/protocol", what: "has a version with a v",
			broken: protocol(func(d map[string]any) { d["version"] = "v1.0.0" })},
		{check: "introspect/claim", what: "claims no level",
			broken: protocol(func(d map[string]any) { delete(d, "conformance") })},
		{check: "introspect/list-shape", what: "shows more in the list",
			broken: listed("get_todo", func(d map[string]any) { d["danger"] = "safe" })},
		{check: "introspect/details-shape", what: "shows more in details",
			broken: details("get_todo", func(d map[string]any) { d["danger"] = "safe" })},
		{check: "introspect/details-shape", what: "nests too many items",
			broken: parameter("create_todo", "title", func(d map[string]any) { d["minItems"] = 1 })},
		{check: "introspect/types-shape", what: "shows values of an object",
			broken: after("introspect", func(_ request, a answer) answer {
				if d, ok := a.data()["type"].(map[string]any); ok && d["name"] == "Todo" {
					d["values"] = []any{}
				}
				return a
			})},
		{check: "introspect/unique-names", what: "lists an operation twice", broken: list(func(data map[string]any) {
			if all := data["operations"].([]any); len(all) > 1 { // a search may find nothing
				data["operations"] = append(all, all[1])
			}
		})},
		{check: "introspect/unique-names", what: "has a field twice",
			broken: after("introspect", func(_ request, a answer) answer {
				if d, ok := a.data()["type"].(map[string]any); ok && d["name"] == "TodoSort" {
					d["fields"] = append(d["fields"].([]any), d["fields"].([]any)[0])
				}
				return a
			})},
		{check: "introspect/names", what: "has a parameter in camelCase",
			broken: mutated{text: func(arguments string, next func(string) string) string {
				return strings.ReplaceAll(next(strings.ReplaceAll(arguments, "dueAt", "due_at")), "due_at", "dueAt")
			}}},
		{check: "introspect/agreement", what: "has two categories",
			broken: listed("complete_todo", func(d map[string]any) { d["semantic_category"] = "READ" })},
		{check: "introspect/types-resolve", what: "returns a type that is not there",
			broken: details("create_todo", func(d map[string]any) {
				d["returns"].(map[string]any)["name"] = "Tood"
			})},
		{check: "introspect/types-resolve", what: "has a union of which one is not there",
			broken: parameter("get_todo", "fields", func(d map[string]any) { d["type"] = "string | text[]" })},
		{check: "introspect/permissions", what: "updates without being destructive",
			broken: details("update_todo", func(d map[string]any) {
				d["permissions"].(map[string]any)["destructive"] = false
			})},
		// An operation that creates is sent parameters of all kinds, of which introspect refuses some together.
		{check: "introspect/reserved-names", what: "introspects by creating", also: []string{"constraints/documented"},
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				create := func(value any) {
					if d, ok := value.(map[string]any); ok && d["name"] == "introspect" {
						d["semantic_category"] = "CREATE"
						if d["permissions"] != nil {
							d["permissions"] = map[string]any{"readOnly": false, "destructive": false}
						}
					}
				}
				if r.operation == "introspect" {
					create(a.data()["operation"])
					all, _ := a.data()["operations"].([]any)
					for _, o := range all {
						create(o)
					}
				}
				return a
			}}},
		{check: "introspect/itself", what: "does not list introspect", broken: list(func(data map[string]any) {
			data["operations"] = slices.DeleteFunc(data["operations"].([]any),
				func(o any) bool { return o.(map[string]any)["name"] == "introspect" })
		})},
		{check: "introspect/unknown-name", what: "fails for unknown names",
			broken: after("introspect", func(r request, a answer) answer {
				if r.params["name"] == "no_such_name" {
					return failed("NOT_FOUND_RESOURCE", "Resource 'operation' not found: 'no_such_name'", nil)
				}
				return a
			})},
		{check: "introspect/unknown-query", what: "answers unknown queries with nothing",
			broken: after("introspect", func(r request, a answer) answer {
				if r.params["query"] == "no_such_query" {
					return success(map[string]any{"operations": []any{}})
				}
				return a
			})},
		{check: "introspect/stable", what: "lists in another order each time", broken: list(func(data map[string]any) {
			if swapped = !swapped; swapped {
				slices.Reverse(data["operations"].([]any))
			}
		})},
		{check: "introspect/danger", what: "has a danger level of its own", broken: protocol(func(d map[string]any) {
			d["danger_levels"].(map[string]any)["complete_todo"] = "terrible"
		})},
		{check: "introspect/descriptions", what: "does not describe a parameter",
			broken: parameter("create_todo", "title", func(d map[string]any) { delete(d, "description") })},
		{check: "introspect/examples", what: "has no example",
			broken: details("create_todo", func(d map[string]any) { delete(d, "examples") })},

		{check: "tools/names", what: "names a tool that is not there",
			broken: details("get_todo", func(d map[string]any) { d["mcpTool"] = "mcp_aql_raed" })},
		{check: "tools/descriptions", what: "does not show introspect",
			broken: tools("mcp_aql_read", func(tool *conform.Tool) { tool.Description = "Reads." })},
		{check: "tools/schemas", what: "takes closed parameters", broken: tools("mcp_aql_read", func(tool *conform.Tool) {
			tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"operation":{"type":"string"},` +
				`"params":{"type":"object","additionalProperties":false}}}`)
		})},
		{check: "tools/annotations", what: "reads destructively",
			broken: tools("mcp_aql_read", func(tool *conform.Tool) { tool.Destructive = nil })},
		{check: "tools/mode", what: "says it is in single mode",
			broken: protocol(func(d map[string]any) { d["mode"] = "single" })},
		{check: "tools/families", what: "has no tool to delete with", also: []string{"tools/names"}, broken: mutated{
			tools: func(all []conform.Tool) []conform.Tool {
				return slices.DeleteFunc(all, func(tool conform.Tool) bool { return tool.Name == "mcp_aql_delete" })
			},
		}},
	}
}
