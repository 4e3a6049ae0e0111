package conform_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/conform"
)

// onTool sends an operation to its own tool, also if the request came to another one.
func onTool(r request) request {
	verb, _, _ := strings.Cut(r.operation, "_")
	tool := map[string]string{
		"create": "create", "update": "update", "delete": "delete", "purge": "delete", "complete": "execute",
		"import": "execute", "cancel": "execute", "retry": "execute", "answer": "execute",
	}[verb]
	if tool == "" {
		tool = "read"
	}
	r.tool = "mcp_aql_" + tool
	return r
}

const wrongTool = "VALIDATION_ENDPOINT_MISMATCH"

func endpointMutants() []mutant {
	return []mutant{
		{check: "endpoints/wrong", what: "takes every operation on every tool", open: []string{"endpoints/no-effect"},
			broken: mutated{call: func(r request, next call) answer {
				if r.operation != "introspect" && r.operation != "no_such_operation" {
					r = onTool(r)
				}
				return next(r)
			}}},
		{check: "endpoints/introspect", what: "introspects on every tool",
			broken: mutated{call: func(r request, next call) answer {
				if r.operation == "introspect" {
					r.tool = "mcp_aql_read"
				}
				return next(r)
			}}},
		{check: "endpoints/first", what: "looks at parameters first",
			broken: after("update_todo", func(r request, a answer) answer {
				if _, unknown := r.params["no_such_parameter"]; unknown && a.code() == wrongTool {
					return failed("VALIDATION_MISSING_PARAM",
						"Missing required parameter 'todo_id'", map[string]any{"param_name": "todo_id"})
				}
				return a
			})},
		{check: "endpoints/no-effect", what: "runs what it refuses", broken: mutated{call: func(r request, next call) answer {
			a := next(r)
			if r.operation == "update_todo" && a.code() == wrongTool {
				next(onTool(r))
			}
			return a
		}}},
		{check: "endpoints/right-tool", what: "does not say which tool is right",
			broken: after("update_todo", func(_ request, a answer) answer {
				if a.code() == wrongTool {
					return failed(wrongTool, "Not here", map[string]any{"operation": "update_todo"})
				}
				return a
			})},
		{check: "endpoints/unknown-operation", what: "has another code for unknown operations",
			broken: after("", func(_ request, a answer) answer {
				if a.code() == "NOT_FOUND_OPERATION" {
					a.failure()["code"] = "VALIDATION_UNKNOWN_OPERATION"
				}
				return a
			})},
		{check: "endpoints/unknown-operation", what: "takes names in capitals",
			broken: mutated{call: func(r request, next call) answer {
				if r.operation == "Introspect" {
					r.root = maps.Clone(r.root)
					r.operation, r.root["operation"] = "introspect", "introspect"
				}
				return next(r)
			}}},
	}
}

func batches(change func(a answer) answer) mutated {
	return mutated{batch: func(a answer) answer {
		if a.root["results"] == nil {
			return a
		}
		return change(a)
	}}
}

func results(a answer) []any { return a.root["results"].([]any) }

// selecting runs one operation with other values for fields.
func selecting(operation string, change func(fields any) any) mutated {
	return mutated{call: func(r request, next call) answer {
		a := next(r)
		if _, ok := r.params["fields"].([]any); ok && r.operation == operation && a.ok() {
			return next(r.with("fields", change(r.params["fields"])))
		}
		return a
	}}
}

func featureMutants() []mutant {
	return []mutant{
		{check: "batch/supported", what: "does not claim batches",
			broken: protocol(func(d map[string]any) { d["capabilities"].(map[string]any)["batch"] = false })},
		{check: "batch/supported", what: "claims batches and has none", broken: mutated{batch: func(answer) answer {
			return failed("VALIDATION_MISSING_PARAM",
				"Missing required parameter 'operation'", map[string]any{"param_name": "operation"})
		}}},
		{check: "batch/shape", what: "adds the time to each result", broken: batches(func(a answer) answer {
			results(a)[0].(map[string]any)["duration_ms"] = 3
			return a
		})},
		{check: "batch/order", what: "answers in another order", broken: batches(func(a answer) answer {
			slices.Reverse(results(a))
			return a
		})},
		{check: "batch/independent", what: "stops at a failure", broken: batches(func(a answer) answer {
			a.root["results"] = results(a)[:2]
			a.root["summary"] = map[string]any{"total": 2, "succeeded": 1, "failed": 1}
			return a
		})},
		{
			check: "batch/envelope",
			what:  "fails if one fails",
			open:  []string{"batch/shape"},
			broken: batches(func(a answer) answer {
				a.root["success"] = false
				return a
			}),
		},
		{check: "batch/summary", what: "counts failures as successes", broken: batches(func(a answer) answer {
			a.root["summary"] = map[string]any{"total": 3, "succeeded": 3, "failed": 0}
			return a
		})},
		{check: "batch/same", what: "answers otherwise in a batch", broken: batches(func(a answer) answer {
			results(a)[0].(map[string]any)["result"].(map[string]any)["data"] = nil
			return a
		})},
		{check: "batch/malformed", what: "takes an empty batch", broken: mutated{batch: func(a answer) answer {
			if a.code() == "BATCH_VALIDATION_ERROR" && strings.Contains(a.failure()["message"].(string), "one or more") {
				summary := map[string]any{"total": 0, "succeeded": 0, "failed": 0}
				return answer{root: map[string]any{"success": true, "data": nil, "results": []any{}, "summary": summary}}
			}
			return a
		}}},
		{check: "fields/supported", what: "does not claim field selection",
			broken: protocol(func(d map[string]any) { d["capabilities"].(map[string]any)["field_selection"] = false })},
		{check: "fields/only-requested", what: "ignores fields", open: []string{"fields/nested"},
			broken: selecting("get_todo", func(any) any { return "full" })},
		{check: "fields/only-requested", what: "adds a field",
			broken: selecting("get_todo", func(fields any) any { return append(slices.Clone(fields.([]any)), "notes") })},
		{check: "fields/nested", what: "selects the first step of a path",
			broken: selecting("get_todo", func(fields any) any {
				first, _, _ := strings.Cut(fields.([]any)[0].(string), ".")
				return append(slices.Clone(fields.([]any)), first)[1:]
			})},
		{check: "fields/nested", what: "flattens paths", broken: after("get_todo", func(r request, a answer) answer {
			fields, _ := r.params["fields"].([]any)
			inner, ok := a.data()["metadata"].(map[string]any)
			if ok && len(fields) == 1 && strings.Contains(fields[0].(string), ".") {
				delete(a.data(), "metadata")
				maps.Copy(a.data(), inner)
			}
			return a
		})},
		{check: "fields/items", what: "ignores fields in lists",
			broken: selecting("list_todos", func(any) any { return "full" })},
		{check: "fields/items", what: "selects from the page, too",
			broken: after("list_todos", func(r request, a answer) answer {
				if _, ok := r.params["fields"].([]any); ok {
					delete(a.data(), "pageInfo")
				}
				return a
			})},
		{check: "fields/presets", what: "has no preset standard", broken: after("get_todo", func(r request, a answer) answer {
			if r.params["fields"] == "standard" && a.ok() {
				return failed("VALIDATION_INVALID_ENUM",
					"Parameter 'fields' must be one of: 'minimal', 'full'", map[string]any{"param_name": "fields"})
			}
			return a
		})},
		{check: "fields/malformed", what: "ignores malformed paths", broken: before("get_todo", func(r request) request {
			if fields, ok := r.params["fields"].([]any); ok && len(fields) == 1 && fields[0] == "Title" {
				return r.with("fields", []any{"title"})
			}
			return r
		})},
		{check: "fields/unknown", what: "ignores unknown fields", broken: before("get_todo", func(r request) request {
			if fields, ok := r.params["fields"].([]any); ok && len(fields) == 1 && fields[0] == "no_such_field" {
				return r.with("fields", []any{"title"})
			}
			return r
		})},
		{check: "pages/size", what: "ignores small sizes", broken: after("list_todos", func(r request, a answer) answer {
			if items, ok := a.data()["items"].([]any); ok && r.params["first"] == json.Number("1") && len(items) == 1 {
				a.data()["items"] = append(items, items[0])
			}
			return a
		})},
		{check: "pages/offset", what: "does not tell the page", base: newOffsets,
			broken: after("list_todos", func(_ request, a answer) answer {
				delete(a.data(), "pagination")
				return a
			})},
		{check: "pages/advertised", what: "does not claim cursors",
			broken: protocol(func(d map[string]any) { d["capabilities"].(map[string]any)["pagination"] = false })},
		{check: "pages/info", what: "leaves out what is false",
			broken: after("list_todos", func(_ request, a answer) answer {
				if info, ok := a.data()["pageInfo"].(map[string]any); ok && info["hasPreviousPage"] == false {
					delete(info, "hasPreviousPage")
				}
				return a
			})},
		{check: "pages/conflicts", what: "takes first with last",
			broken: before("list_todos", func(r request) request {
				if r.params["first"] != nil && r.params["last"] != nil {
					return r.with("last", nil)
				}
				return r
			})},
		{check: "pages/cursor", what: "begins anew with unknown cursors",
			broken: drop("list_todos", "after", func(value any) bool { return value == "no cursor of yours" })},
		{check: "pages/cursor", what: "does not go on",
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if r.params["after"] != nil && r.params["first"] == json.Number("1") && r.operation == "list_todos" && a.ok() {
					return next(r.with("after", nil))
				}
				return a
			}}},
	}
}

func roundTripMutants() []mutant {
	redeeming := func(r request) bool { return r.operation == "delete_todo" && r.params["_confirmation"] != nil }
	token := func(a answer) any { return a.failure()["details"].(map[string]any)["confirmation_token"] }
	return []mutant{
		{check: "roundtrip/create-read", what: "loses the notes",
			broken: drop("create_todo",
				"notes", func(value any) bool { return !isNot[string](value) && len(value.(string)) < 100 })},
		{check: "roundtrip/create-read", what: "loses a nested field", broken: before("create_todo", func(r request) request {
			if metadata, ok := r.params["metadata"].(map[string]any); ok && metadata["color"] != nil && len(metadata) == 3 {
				metadata = maps.Clone(metadata)
				delete(metadata, "color")
				return r.with("metadata", metadata)
			}
			return r
		})},
		{check: "roundtrip/update-applies", what: "does not update the title", broken: input(func(in map[string]any) {
			if title, ok := in["title"].(string); ok && title != "" && len(title) < 100 {
				delete(in, "title")
			}
		})},
		{check: "roundtrip/update-preserves", what: "loses a field on update", broken: input(func(in map[string]any) {
			if _, there := in["title"]; there && in["notes"] == nil {
				in["notes"] = nil
			}
		})},
		{check: "roundtrip/deep-merge", what: "replaces objects whole", broken: input(func(in map[string]any) {
			if metadata, ok := in["metadata"].(map[string]any); ok && in["title"] == nil {
				for _, name := range []string{"color", "estimate_minutes", "labels"} {
					if _, there := metadata[name]; !there {
						metadata[name] = nil
					}
				}
			}
		})},
		{check: "roundtrip/arrays-replace", what: "appends to lists", broken: input(func(in map[string]any) {
			if tags, ok := in["tags"].([]any); ok {
				in["tags"] = append([]any{"old"}, tags...)
			}
		})},
		{check: "roundtrip/null-removes", what: "takes null for absent", broken: input(func(in map[string]any) {
			maps.DeleteFunc(in, func(_ string, value any) bool { return value == nil })
		})},

		{
			check: "confirm/asks",
			what:  "deletes without asking",
			open: []string{
				"confirm/batch", "confirm/no-effect", "confirm/once", "confirm/redeems", "confirm/scope", "confirm/token",
				"confirm/unknown",
			},
			destructive: true,
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if r.operation == "delete_todo" && a.code() == "CONFIRMATION_REQUIRED" {
					return next(r.with("_confirmation", token(a)))
				}
				return a
			}},
		},
		{check: "confirm/token", what: "gives tokens without an end", destructive: true,
			broken: after("delete_todo", func(_ request, a answer) answer {
				if details, ok := a.failure()["details"].(map[string]any); ok {
					delete(details, "expires_at")
				}
				return a
			})},
		{check: "confirm/token", what: "gives tokens of another form", destructive: true,
			broken: mutated{text: func(arguments string, next func(string) string) string {
				return strings.ReplaceAll(next(strings.ReplaceAll(arguments, "tok-", "conf_")), "conf_", "tok-")
			}}},
		{
			check:       "confirm/no-effect",
			what:        "deletes and asks",
			also:        []string{"confirm/batch"},
			open:        []string{"confirm/once", "confirm/redeems"},
			destructive: true,
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if r.operation == "delete_todo" && a.code() == "CONFIRMATION_REQUIRED" {
					next(r.with("_confirmation", token(next(r))))
				}
				return a
			}},
		},
		{check: "confirm/unknown", what: "asks again for unknown tokens", destructive: true,
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if redeeming(r) && a.code() == "TOKEN_INVALID" {
					return next(r.with("_confirmation", nil))
				}
				return a
			}}},
		{check: "confirm/scope", what: "takes the token of another todo", destructive: true,
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if redeeming(r) && a.code() == "TOKEN_SCOPE_MISMATCH" {
					return next(r.with("_confirmation", token(next(r.with("_confirmation", nil)))))
				}
				return a
			}}},
		{check: "confirm/redeems", what: "never takes a token", open: []string{"confirm/once"}, destructive: true,
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if redeeming(r) && a.ok() {
					return failed("TOKEN_EXPIRED", "Confirmation token has expired", map[string]any{"token": "conf_x"})
				}
				return a
			}}},
		{check: "confirm/batch", what: "does not say where a batch stopped", destructive: true,
			broken: batches(func(a answer) answer {
				delete(a.root, "halted_at")
				return a
			})},
		{check: "confirm/once", what: "takes tokens twice", destructive: true,
			broken: after("delete_todo", func(r request, a answer) answer {
				if redeeming(r) && a.code() == "TOKEN_ALREADY_USED" {
					return failed("NOT_FOUND_RESOURCE", "Resource 'todo' not found: 'x'", nil)
				}
				return a
			})},
	}
}

func errorMutants() []mutant {
	return []mutant{
		{check: "errors/not-found", what: "denies what is not there",
			broken: after("get_todo", func(_ request, a answer) answer {
				if a.code() == "NOT_FOUND_RESOURCE" {
					return failed("PERMISSION_DENIED", "Permission denied: 'nothing to see'", nil)
				}
				return a
			})},
		{check: "errors/in-band", what: "answers with a protocol error, too",
			broken: after("get_todo", func(_ request, a answer) answer {
				if !a.ok() {
					a.fault = "the result holds 2 contents, not one"
				}
				return a
			})},
		{check: "errors/shape", what: "has an error in a success",
			broken: after("get_todo", func(_ request, a answer) answer {
				if a.ok() {
					a.root["error"] = nil
				}
				return a
			})},
		{check: "errors/shape", what: "has metadata in a failure",
			broken: after("get_todo", func(_ request, a answer) answer {
				if !a.ok() {
					a.root["_meta"] = map[string]any{"request_id": "r"}
				}
				return a
			})},
		{
			check: "errors/codes",
			what:  "has codes of its own",
			also:  []string{"update/if-match"},
			broken: after("update_todo", func(_ request, a answer) answer {
				if a.code() == "CONFLICT_VERSION_MISMATCH" {
					a.failure()["code"] = "STALE_VERSION"
				}
				return a
			}),
		},
		{check: "errors/leaks", what: "leaks a Go error", broken: after("get_todo", func(_ request, a answer) answer {
			if a.code() == "NOT_FOUND_RESOURCE" {
				a.failure()["message"] = "Resource 'no_such_id' not found: sql: no rows in result set"
			}
			return a
		})},
		{check: "errors/leaks", what: "leaks a JavaScript error", broken: after("get_todo", func(_ request, a answer) answer {
			if a.code() == "NOT_FOUND_RESOURCE" {
				a.failure()["message"] = "TypeError: no_such_id is not a function"
			}
			return a
		})},
		{check: "errors/leaks", what: "says what the runner takes for a leak",
			broken: after("create_todo", func(_ request, a answer) answer {
				if a.code() == "VALIDATION_OUT_OF_RANGE" {
					name, _ := a.failure()["details"].(map[string]any)["param_name"].(string)
					a.failure()["message"] = "Parameter '" + name + "' must have at least '1'"
				}
				return a
			})},
		{check: "errors/is-error", what: "marks what can be mended",
			broken: after("get_todo", func(_ request, a answer) answer {
				a.isError = !a.ok()
				return a
			})},
		{check: "errors/details", what: "has no details", broken: after("create_todo", func(_ request, a answer) answer {
			if a.code() == "VALIDATION_INVALID_TYPE" {
				delete(a.failure(), "details")
			}
			return a
		})},
		{check: "errors/internal", what: "fails inside", broken: after("complete_todo", func(_ request, a answer) answer {
			if a.ok() {
				a = failed("INTERNAL_ERROR", "Internal error: 'unexpected failure'", nil)
				a.isError = true
			}
			return a
		})},
	}
}

var _ conform.Server = (*mutated)(nil)
