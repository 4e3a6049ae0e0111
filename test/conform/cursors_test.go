package conform_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// newCursors returns the example with cursors in place of limit and offset (MCP-AQL pagination §2 and §3).
func newCursors(t *testing.T) conform.Server {
	t.Helper()
	shown := []any{
		map[string]any{"name": "first",
			"type": "integer", "required": false, "description": "Page size from the start", "minimum": 0},
		map[string]any{"name": "after", "type": "string", "required": false, "description": "Cursor to go on behind"},
		map[string]any{"name": "last",
			"type": "integer", "required": false, "description": "Page size from the end", "minimum": 0},
		map[string]any{"name": "before", "type": "string", "required": false, "description": "Cursor to go back from"},
	}
	gone := []string{"limit", "offset"}
	return &mutated{Server: newTodo(t, ""), call: func(r request, next call) answer {
		if r.operation == "list_todos" {
			return page(r, next)
		}
		a := next(r)
		if d, ok := a.data()["operation"].(map[string]any); ok && d["name"] == "list_todos" {
			kept := slices.DeleteFunc(d["parameters"].([]any), func(p any) bool {
				return slices.Contains(gone, p.(map[string]any)["name"].(string))
			})
			d["parameters"] = append(kept, shown...)
		}
		p, _ := a.data()["_protocol"].(map[string]any)
		if capabilities, ok := p["capabilities"].(map[string]any); ok {
			capabilities["pagination"] = true
		}
		return a
	}}
}

// page answers list_todos.
func page(r request, next call) answer {
	names := []string{"first", "after", "last", "before"}
	given := map[string]any{}
	inner := r
	for _, name := range names {
		if value, there := r.params[name]; there {
			given[name], inner = value, inner.with(name, nil)
		}
	}
	for _, name := range []string{"limit", "offset"} {
		if _, there := r.params[name]; there {
			inner = inner.with(name, nil).with("no_such_"+name, 1)
		}
	}
	a := next(inner.with("limit", 100))
	details, _ := a.failure()["details"].(map[string]any)
	for _, list := range []string{"unknown_params", "valid_params"} {
		if all, ok := details[list].([]any); ok {
			for i, name := range all {
				all[i] = strings.TrimPrefix(name.(string), "no_such_l")
				if strings.HasPrefix(name.(string), "no_such_l") {
					all[i] = "l" + all[i].(string)
				}
			}
			if list == "valid_params" {
				details[list] = append(all, "first", "after", "last", "before")
			}
		}
	}
	if !a.ok() {
		return a
	}
	wrong := func(name, actual string) answer {
		message := fmt.Sprintf("Parameter '%s' expected 'valid pagination combination', got '%s'", name, actual)
		return failed("VALIDATION_INVALID_TYPE", message, map[string]any{
			"param_name": name, "expected_type": "valid pagination combination", "actual_type": actual,
		})
	}
	has := func(name string) bool { return given[name] != nil }
	forward := has("first") && (has("last") || has("before")) || has("after") && !has("first")
	backward := has("last") && has("after") || has("before") && !has("last")
	if forward || backward {
		for _, name := range []string{"after", "before"} {
			if has(name) && isNot[string](given[name]) {
				return wrong(name, "another type")
			}
		}
		return wrong("pagination", "conflicting parameters")
	}
	items := a.data()["items"].([]any)
	size, from := len(items), 0
	for _, name := range []string{"first", "last"} {
		if !has(name) {
			continue
		}
		number, ok := given[name].(json.Number)
		n, err := strconv.Atoi(string(number))
		if !ok || err != nil {
			return wrong(name, "another type")
		}
		if n < 0 {
			return failed("VALIDATION_OUT_OF_RANGE", fmt.Sprintf("Parameter '%s' must be >= '0'", name),
				map[string]any{"param_name": name, "minimum": 0})
		}
		size = n
	}
	if has("last") {
		from = max(0, len(items)-size)
	}
	for _, name := range []string{"after", "before"} {
		if !has(name) {
			continue
		}
		cursor, _ := given[name].(string)
		at, ok := strings.CutPrefix(cursor, "at_")
		n, err := strconv.Atoi(at)
		if !ok || err != nil {
			return wrong(name, "another cursor")
		}
		from = n
	}
	to := min(len(items), from+size)
	from = min(from, to)
	delete(a.data(), "pagination")
	info := map[string]any{"hasNextPage": to < len(items), "hasPreviousPage": from > 0}
	if from < to {
		info["startCursor"], info["endCursor"] = fmt.Sprintf("at_%d", from+1), fmt.Sprintf("at_%d", to)
	}
	a.data()["items"], a.data()["pageInfo"] = items[from:to], info
	return a
}

// The checks of cursors pass on a server with correct cursors.
func TestCursors(t *testing.T) {
	report, err := conform.Run(t.Context(), newCursors(t), conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results() {
		if r.Verdict == conform.Fail || r.Verdict == conform.Warn {
			t.Errorf("%s: %s", r.Name, runError(r))
		} else if r.Verdict == conform.Skip && strings.HasPrefix(r.Name, "pages/") && r.Name != "pages/offset" {
			t.Errorf("%s is skipped: %s", r.Name, r.Reason)
		}
	}
}
