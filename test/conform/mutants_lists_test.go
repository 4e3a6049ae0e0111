package conform_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// listMutants are broken in what an agent asks of a list: filters, orders, pages and summaries.
func listMutants() []mutant {
	return []mutant{
		{check: "pages/changed-cursor", what: "begins anew with changed cursors",
			broken: mutated{call: func(r request, next call) answer {
				a := next(r)
				if cursor, _ := r.params["after"].(string); r.operation == "list_todos" && len(cursor) > 20 && !a.ok() {
					return next(r.with("after", nil)) // no made-up one
				}
				return a
			}}},
		{check: "pages/backward", what: "turns pages round on the way back",
			broken: after("list_todos", func(r request, a answer) answer {
				if items, ok := a.data()["items"].([]any); ok && r.params["before"] != nil {
					slices.Reverse(items)
				}
				return a
			})},
		{check: "pages/total", what: "tells the number of items on the page",
			broken: after("list_todos", func(_ request, a answer) answer {
				if info, ok := a.data()["pageInfo"].(map[string]any); ok {
					info["totalCount"] = len(a.data()["items"].([]any))
				}
				return a
			})},
		{check: "pages/total", what: "forgets an item in front of an offset", base: newOffsets,
			broken: after("list_todos", func(_ request, a answer) answer {
				if around, ok := a.data()["pagination"].(map[string]any); ok {
					total, _ := around["total_items"].(json.Number).Int64()
					around["total_items"] = total - 1
				}
				return a
			})},
		{check: "pages/clamp", what: "refuses a large page", broken: after("list_todos", func(r request, a answer) answer {
			if r.params["first"] == json.Number("100000") {
				return failed("VALIDATION_OUT_OF_RANGE", "Parameter 'first' must be <= '100'",
					map[string]any{"param_name": "first", "maximum": 100})
			}
			return a
		})},
		{check: "collections/filter", what: "ignores an unknown filter",
			broken: before("list_todos", func(r request) request {
				if filter, ok := r.params["filter"].(map[string]any); ok && filter["no_such_field"] == "x" {
					return r.with("filter", nil)
				}
				return r
			})},
		{check: "collections/sort", what: "ignores an unknown field to sort by",
			broken: before("list_todos", func(r request) request {
				if by, ok := r.params["sort"].(map[string]any); ok && by["field"] == "no_such_field" {
					return r.with("sort", nil)
				}
				return r
			})},
		{check: "collections/summary", what: "counts what is on a page",
			broken: after("list_todos", func(_ request, a answer) answer {
				if counted, ok := a.data()["aggregations"].(map[string]any); ok && counted["probe"] != nil {
					counted["probe"] = 1
				}
				return a
			})},
		{check: "collections/summary", what: "answers items beside a summary",
			broken: after("list_todos", func(_ request, a answer) answer {
				if a.data()["aggregations"] != nil {
					a.data()["items"] = []any{}
				}
				return a
			})},
	}
}

// The check of summaries passes on a server whose summaries are right.
func TestSummaries(t *testing.T) {
	report, err := conform.Run(t.Context(), newTodo(t, ""), conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results() {
		if r.Verdict == conform.Fail || r.Verdict == conform.Warn {
			t.Errorf("%s: %s", r.Name, runError(r))
		} else if r.Name == "collections/summary" && r.Verdict != conform.Pass {
			t.Errorf("%s is %s: %s", r.Name, r.Verdict, r.Reason)
		}
	}
}
