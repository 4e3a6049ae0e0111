package aql_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-PG-03, REQ-PG-06: executions come page by page, the newest first, with what is around each page; a cursor is good
// for the caller and the filter that it was given for, and for nothing else.
func TestListExecutionsByPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, longOperation("build", gen.Lifecycle{Durable: true}, build))
		defer s.stop()
		var started []string
		for range 5 {
			started = append(started, s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
			time.Sleep(time.Second)
		}
		slices.Reverse(started)

		var listed, cursors []string
		after := ""
		for _, want := range []struct {
			items          int
			next, previous bool
		}{{2, true, false}, {2, true, true}, {1, false, true}} {
			page := s.call("ann", "list_executions", `{"first":2,"operation":"build"`+after+`}`).Data
			info := page.PageInfo
			if len(page.Items) != want.items || info["hasNextPage"] != want.next || info["hasPreviousPage"] != want.previous {
				t.Fatalf("want %+v: %+v", want, page)
			}
			for _, item := range page.Items {
				listed = append(listed, item["execution_id"].(string))
			}
			start, _ := info["startCursor"].(string)
			end, _ := info["endCursor"].(string)
			if start == "" || end == "" || (start == end) != (want.items == 1) {
				t.Errorf("%+v", info)
			}
			cursors, after = append(cursors, end), fmt.Sprintf(`,"after":%q`, end)
		}
		if !slices.Equal(listed, started) {
			t.Errorf("listed %v\nstarted %v", listed, started)
		}
		if none := s.call("bob", "list_executions", `{}`).Data; none.PageInfo["hasNextPage"] != false ||
			none.PageInfo["hasPreviousPage"] != false || len(none.PageInfo) != 2 {
			t.Errorf("a list without executions: %+v", none)
		}

		given := cursors[0]
		changed := "A" + given[1:]
		if changed == given {
			changed = "B" + given[1:]
		}
		for name, tt := range map[string]struct{ caller, params string }{
			"of another caller":   {"bob", fmt.Sprintf(`{"operation":"build","after":%q}`, given)},
			"of another filter":   {"ann", fmt.Sprintf(`{"operation":"build","status":"completed","after":%q}`, given)},
			"of no filter":        {"ann", fmt.Sprintf(`{"after":%q}`, given)},
			"with another letter": {"ann", fmt.Sprintf(`{"operation":"build","after":%q}`, changed)},
			"that nobody gave":    {"ann", `{"operation":"build","after":"x"}`},
		} {
			if got := s.call(tt.caller, "list_executions", tt.params); got.Error.Code != "VALIDATION_INVALID_TYPE" ||
				got.Error.Details["expected_type"] != "cursor of this operation" || got.Error.Details["hint"] == nil {
				t.Errorf("a cursor %s: %+v", name, got)
			}
		}
	})
}
