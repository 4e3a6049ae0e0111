package conform_test

import (
	"encoding/json"
	"slices"
	"strings"
)

// drop removes a parameter from requests to an operation if its value is bad.
func drop(operation, name string, bad func(value any) bool) mutated {
	return before(operation, func(r request) request {
		if value, there := r.params[name]; there && bad(value) {
			return r.with(name, nil)
		}
		return r
	})
}

func isNot[T any](value any) bool {
	_, ok := value.(T)
	return !ok
}

func parameterMutants() []mutant {
	valid := []string{"title", "notes", "priority", "due_at", "tags", "metadata"}
	return []mutant{
		{check: "params/valid", what: "does not say that the title is required",
			broken: parameter("create_todo", "title", func(d map[string]any) { d["required"] = false })},
		{check: "params/valid", what: "says that a list is text",
			broken: parameter("create_todo", "tags", func(d map[string]any) {
				d["type"] = "string"
				delete(d, "items")
			})},
		{check: "params/documented-accepted", what: "documents what it refuses",
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				d, ok := a.data()["operation"].(map[string]any)
				if ok && r.operation == "introspect" && d["name"] == "create_todo" {
					d["parameters"] = append(d["parameters"].([]any),
						map[string]any{"name": "colour", "type": "string", "required": false, "description": "How it looks"})
				}
				details, ok := a.failure()["details"].(map[string]any)
				if ok && r.operation == "create_todo" && details["valid_params"] != nil {
					details["valid_params"] = append(details["valid_params"].([]any), "colour")
				}
				return a
			}}},
		{check: "params/undocumented", what: "takes dry_run in secret",
			broken: drop("create_todo", "dry_run", func(any) bool { return true })},
		{check: "params/undocumented", what: "takes limit in secret",
			broken: drop("list_todos", "limit", func(any) bool { return true })},
		{check: "params/required", what: "requires what it does not need", also: []string{"introspect/examples"},
			broken: parameter("create_todo", "notes", func(d map[string]any) { d["required"] = true })},
		{check: "params/required", what: "does not name what is missing",
			broken: after("create_todo", func(_ request, a answer) answer {
				if a.code() == "VALIDATION_MISSING_PARAM" {
					a.failure()["message"] = "Something is missing"
				}
				return a
			})},
		{check: "params/unknown", what: "swallows unknown parameters", broken: before("create_todo", func(r request) request {
			for name := range r.params {
				if !slices.Contains(valid, name) && !strings.HasPrefix(name, "_") {
					r = r.with(name, nil)
				}
			}
			return r
		})},
		{check: "params/unknown-named", what: "does not name unknown parameters",
			broken: after("create_todo", func(_ request, a answer) answer {
				if a.code() == "VALIDATION_UNKNOWN_PARAM" {
					a.failure()["message"] = "There are unknown parameters"
				}
				return a
			})},
		{check: "params/unknown-named", what: "lists the first unknown parameter only",
			broken: after("create_todo", func(_ request, a answer) answer {
				if details, ok := a.failure()["details"].(map[string]any); ok && a.code() == "VALIDATION_UNKNOWN_PARAM" {
					details["unknown_params"] = details["unknown_params"].([]any)[:1]
				}
				return a
			})},
		{check: "params/top-level", what: "prefers what stands beside the operation",
			broken: mutated{call: func(r request, next call) answer {
				if query, ok := r.root["query"]; ok {
					delete(r.root, "query")
					r = r.with("query", query)
				}
				return next(r)
			}}},
		{check: "params/metadata", what: "refuses the id of a request",
			broken: mutated{call: func(r request, next call) answer {
				if _, ok := r.root["_request_id"]; ok {
					return failed("VALIDATION_UNKNOWN_PARAM", "Unknown parameter(s) for operation 'introspect': _request_id", nil)
				}
				return next(r)
			}}},
		{check: "params/order", what: "tells what is unknown first",
			broken: after("create_todo", func(r request, a answer) answer {
				if _, unknown := r.params["no_such_parameter"]; unknown && a.code() == "VALIDATION_MISSING_PARAM" {
					return failed("VALIDATION_UNKNOWN_PARAM",
						"Unknown parameter(s) for operation 'create_todo': no_such_parameter", map[string]any{"operation": "create_todo"})
				}
				return a
			})},
		{check: "params/types", what: "ignores what is no list", broken: drop("create_todo", "tags", isNot[[]any])},
		{check: "params/types", what: "makes numbers of text", broken: before("list_todos", func(r request) request {
			if size, ok := r.params["first"].(string); ok && size != "" {
				return r.with("first", json.Number(size))
			}
			return r
		})},
		{check: "params/defaults", what: "works with another default", base: newOffsets,
			broken: parameter("list_todos", "limit", func(d map[string]any) { d["default"] = 20 })},
		{check: "params/defaults", what: "does not apply the default", broken: before("create_todo", func(r request) request {
			if r.params["priority"] == nil {
				return r.with("priority", "low")
			}
			return r
		})},
		{check: "params/envelope", what: "takes a number for an operation",
			broken: mutated{call: func(r request, next call) answer {
				if _, ok := r.root["operation"].(json.Number); ok {
					return success(map[string]any{})
				}
				return next(r)
			}}},
		{check: "params/no-effect", what: "runs what it refuses", broken: mutated{call: func(r request, next call) answer {
			a := next(r)
			if r.operation == "update_todo" && a.code() == "VALIDATION_UNKNOWN_PARAM" {
				next(r.with("no_such_parameter", nil))
			}
			return a
		}}},
		{check: "params/enum", what: "ignores unknown values",
			broken: drop("create_todo", "priority", func(value any) bool { return value == "no_such_value" })},
		{check: "params/range", what: "clamps numbers", broken: before("list_todos", func(r request) request {
			if r.params["first"] == json.Number("-1") {
				return r.with("first", 0)
			}
			return r
		})},
		{check: "params/pattern", what: "does not look at the pattern",
			broken: parameter("create_todo", "notes", func(d map[string]any) { d["pattern"] = "^[a-z]{3,9}$" })},
		{check: "params/length", what: "cuts off what is too long", broken: before("create_todo", func(r request) request {
			if title, ok := r.params["title"].(string); ok && len(title) > 200 {
				return r.with("title", title[:200])
			}
			return r
		})},
		{check: "params/items", what: "ignores items that are no text",
			broken: before("create_todo", func(r request) request {
				tags, ok := r.params["tags"].([]any)
				if !ok {
					return r
				}
				return r.with("tags", slices.DeleteFunc(slices.Clone(tags), isNot[string]))
			})},
		{check: "params/date-time", what: "ignores what is no time",
			broken: drop("create_todo", "due_at", func(value any) bool { return value == "yesterday" })},
		{check: "constraints/told", what: "says no more than that it is wrong",
			broken: after("create_todo", func(_ request, a answer) answer {
				if a.code() == "VALIDATION_INVALID_ENUM" {
					return failed(a.code(), "No", map[string]any{"hint": "think again"})
				}
				return a
			})},
		{check: "constraints/documented", what: "has a rule that it keeps to itself",
			broken: after("create_todo", func(r request, a answer) answer {
				if r.params["metadata"] != nil && a.ok() {
					return failed("VALIDATION_OUT_OF_RANGE",
						"Parameter 'metadata' is too much", map[string]any{"param_name": "metadata"})
				}
				return a
			})},
		{check: "limits/depth", what: "documents another limit", broken: protocol(func(d map[string]any) {
			d["limits"].(map[string]any)["max_nesting_depth"] = 20
		})},
		{check: "update/input", what: "does without input", broken: mutated{call: func(r request, next call) answer {
			if r.operation == "update_todo" && r.params["input"] == nil {
				r = r.with("input", map[string]any{})
			}
			return parameter("update_todo", "input", func(d map[string]any) { d["required"] = false }).call(r, next)
		}}},
		{check: "update/unknown-field", what: "swallows unknown fields",
			broken: input(func(in map[string]any) { delete(in, "no_such_field") })},
		{check: "update/identifier", what: "swallows the identifier",
			broken: input(func(in map[string]any) { delete(in, "todo_id") })},
		{check: "update/read-only", what: "swallows read-only fields",
			broken: input(func(in map[string]any) { delete(in, "created_at") })},
		{check: "update/field-types", what: "ignores notes that are no text", broken: input(func(in map[string]any) {
			if in["notes"] != nil && isNot[string](in["notes"]) {
				delete(in, "notes")
			}
		})},
		{check: "update/if-match", what: "overwrites other versions",
			broken: drop("update_todo", "if_match", func(value any) bool { return value == `W/"no-such-version"` })},
	}
}
