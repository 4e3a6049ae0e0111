package conform_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// newOffsets returns the example with limit and offset in list_todos, in place of cursors (MCP-AQL operations §4.4.3).
func newOffsets(t *testing.T) conform.Server {
	t.Helper()
	return &mutated{Server: newTodo(t, ""), call: func(r request, next call) answer {
		if r.operation == "list_todos" {
			return offsetPage(r, next)
		}
		a := next(r)
		if d, ok := a.data()["operation"].(map[string]any); ok && d["name"] == "list_todos" {
			kept := slices.DeleteFunc(d["parameters"].([]any), func(p any) bool {
				return slices.Contains(cursorParams, p.(map[string]any)["name"].(string))
			})
			d["parameters"] = append(kept,
				map[string]any{"name": "limit", "type": "integer", "required": false, "description": "How many todos to return",
					"minimum": json.Number("0"), "default": json.Number("25")},
				map[string]any{"name": "offset", "type": "integer", "required": false, "description": "How many todos to skip",
					"minimum": json.Number("0"), "default": json.Number("0")})
		}
		return a
	}}
}

// cursorParams are the parameters that newOffsets replaces.
var cursorParams = []string{"first", "after", "last", "before"}

// offsetPage answers list_todos. The example judges limit and offset under the name of first.
func offsetPage(r request, next call) answer {
	inner := r
	for _, name := range cursorParams {
		if _, there := r.params[name]; there {
			inner = inner.with(name, nil).with("gone_"+name, 1)
		}
	}
	inner = inner.with("limit", nil).with("offset", nil)
	a := renamedFirst(next(inner.with("first", r.params["limit"])), "limit")
	if !a.ok() {
		return a
	}
	if other := renamedFirst(next(inner.with("first", r.params["offset"])), "offset"); !other.ok() {
		return other
	}
	size, from := 25, 0
	for name, value := range map[string]*int{"limit": &size, "offset": &from} {
		if number, ok := r.params[name].(json.Number); ok {
			*value, _ = strconv.Atoi(string(number))
		}
	}
	all := next(inner.with("first", 100)).data()
	items, _ := all["items"].([]any)
	size, total := min(size, 100), len(items)
	from = min(from, total)
	to := min(from+size, total)
	delete(a.data(), "pageInfo")
	a.data()["items"] = items[from:to]
	a.data()["pagination"] = map[string]any{
		"limit": json.Number(strconv.Itoa(size)), "offset": json.Number(strconv.Itoa(from)), "returned": to - from,
		"total_items": total, "has_more": to < total,
	}
	return a
}

// renamedFirst returns a failure that is about the parameters of newOffsets.
func renamedFirst(a answer, name string) answer {
	if a.ok() || a.failure() == nil {
		return a
	}
	valid, _ := a.failure()["details"].(map[string]any)["valid_params"].([]any)
	renamed := strings.NewReplacer("'first'", "'"+name+"'", `"first"`, `"`+name+`"`, "gone_", "")
	a.root = object(renamed.Replace(string(text(a.root))))
	if details, ok := a.failure()["details"].(map[string]any); ok && valid != nil {
		details["valid_params"] = append(slices.DeleteFunc(valid, func(p any) bool {
			return slices.Contains(cursorParams, p.(string))
		}), "limit", "offset")
	}
	return a
}

// The checks of pages pass on a server with offsets, too.
func TestOffsets(t *testing.T) {
	report, err := conform.Run(t.Context(), newOffsets(t), conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results() {
		if r.Verdict == conform.Fail || r.Verdict == conform.Warn {
			t.Errorf("%s: %s", r.Name, runError(r))
		} else if r.Verdict == conform.Skip && strings.HasPrefix(r.Name, "pages/") {
			t.Errorf("%s is skipped: %s", r.Name, r.Reason)
		}
	}
}
