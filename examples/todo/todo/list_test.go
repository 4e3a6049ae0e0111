package todo_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
)

// listed is an answer of list_todos or search_todos.
type listed struct {
	Data struct {
		Items    []todo.Todo
		PageInfo aql.PageInfo
	}
	Warnings []aql.Warning
	Error    struct {
		Code    string
		Details struct {
			Param string `json:"param_name"`
			Hint  string
		}
	}
}

// ask calls an operation that lists todos, whatever comes of it.
func ask(t *testing.T, session *aql.Session, operation, params string) listed {
	t.Helper()
	request := fmt.Appendf(nil, `{"operation":%q,"params":%s}`, operation, params)
	var answer listed
	if err := json.Unmarshal(session.Call(t.Context(), "mcp_aql_read", request).JSON, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// list makes a call that must succeed.
func list(t *testing.T, session *aql.Session, operation, params string) listed {
	t.Helper()
	answer := ask(t, session, operation, params)
	if answer.Error.Code != "" {
		t.Fatalf("%s %s: %+v", operation, params, answer.Error)
	}
	return answer
}

func (l *listed) titles() []string {
	var titles []string
	for _, item := range l.Data.Items {
		titles = append(titles, item.Title)
	}
	return titles
}

// walk follows the cursors of list_todos and returns the titles in the order of the list, which it goes through from
// its end if backward. params are those of the list, and end in a comma; between runs between two pages, and gets the
// todo that the next cursor is of.
func walk(t *testing.T, session *aql.Session, params string, size int, backward bool,
	between func(at todo.Todo)) []string {
	t.Helper()
	var titles []string
	cursor := ""
	for pages := 0; ; pages++ {
		if pages > 200 {
			t.Fatalf("no end after %d todos", len(titles))
		}
		name := "first"
		if backward {
			name = "last"
		}
		page := list(t, session, "list_todos", fmt.Sprintf(`{%s%q:%d%s}`, params, name, size, cursor))
		items, info := page.Data.Items, page.Data.PageInfo
		if backward {
			titles = append(page.titles(), titles...)
			if !info.HasPreviousPage {
				return titles
			}
			cursor = fmt.Sprintf(`,"before":%q`, info.StartCursor)
			between(items[0])
		} else {
			titles = append(titles, page.titles()...)
			if !info.HasNextPage {
				return titles
			}
			cursor = fmt.Sprintf(`,"after":%q`, info.EndCursor)
			between(items[len(items)-1])
		}
	}
}

func TestListFiltersAndSorts(t *testing.T) {
	service := open(t, todo.Memory)
	day := func(n int) *time.Time { return new(time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC)) }
	create(t, service, todo.CreateTodoRequest{Title: "beta", Priority: todo.Low, DueAt: day(2), Tags: []string{"work"}})
	create(t, service, todo.CreateTodoRequest{Title: "Alpha", Priority: todo.High, Tags: []string{"home", "work"}})
	gamma := create(t, service, todo.CreateTodoRequest{
		Title: "gamma", Priority: todo.Medium, DueAt: day(1), Tags: []string{"workshop"},
		Metadata: todo.Metadata{Color: "red"},
	})
	if _, err := service.CompleteTodo(t.Context(), todo.CompleteTodoRequest{TodoID: gamma.TodoID}); err != nil {
		t.Fatal(err)
	}
	session := newSession(t, service)
	tests := []struct {
		what, params string
		want         []string
	}{
		{"newest first", `{}`, []string{"gamma", "Alpha", "beta"}},
		{"oldest first", `{"sort":{"field":"created_at"}}`, []string{"beta", "Alpha", "gamma"}},
		{"last changed first", `{"sort":{"field":"updated_at","order":"desc"}}`, []string{"gamma", "Alpha", "beta"}},
		{"due first, never last", `{"sort":{"field":"due_at"}}`, []string{"gamma", "beta", "Alpha"}},
		{"due last, never last too", `{"sort":{"field":"due_at","order":"desc"}}`, []string{"beta", "gamma", "Alpha"}},
		{"by title, in bytes", `{"sort":{"field":"title"}}`, []string{"Alpha", "beta", "gamma"}},
		{"urgent first", `{"sort":{"field":"priority","order":"desc"}}`, []string{"Alpha", "gamma", "beta"}},
		{"done", `{"filter":{"status":"done"}}`, []string{"gamma"}},
		{"open", `{"filter":{"status":"open"}}`, []string{"Alpha", "beta"}},
		{"a whole tag", `{"filter":{"tags":"work"}}`, []string{"Alpha", "beta"}},
		{"all of some tags", `{"filter":{"tags":{"all":["work","home"]}}}`, []string{"Alpha"}},
		{"all conditions", `{"filter":{"tags":"work","priority":"low"}}`, []string{"beta"}},
		{"one of two", `{"filter":{"_or":[{"priority":"low"},{"status":"done"}]}}`, []string{"gamma", "beta"}},
		{"not work", `{"filter":{"_not":{"tags":"work"}}}`, []string{"gamma"}},
		{"due before a day", `{"filter":{"due_at":{"lt":"2026-03-02T00:00:00Z"}}}`, []string{"gamma"}},
		{"due on a day, in another zone", `{"filter":{"due_at":"2026-03-01T01:00:00+01:00"}}`, []string{"gamma"}},
		{"due at no time", `{"filter":{"due_at":{"null":true}}}`, []string{"Alpha"}},
		{"a part of a title", `{"filter":{"title":{"contains":"ALPH"}}}`, []string{"Alpha"}},
		{"a field in a field", `{"filter":{"metadata.color":"red"}}`, []string{"gamma"}},
		{"none", `{"filter":{"tags":"' OR 1=1 --"}}`, nil},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			page := list(t, session, "list_todos", test.params)
			if diff := cmp.Diff(test.want, page.titles()); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		})
	}
}

// REQ-PG-01, REQ-PG-03, REQ-PG-07, REQ-PG-08: a page has 25 todos where a request says nothing, sizes above 100 are
// lowered with a warning, and each page says what is around it.
func TestPages(t *testing.T) {
	service := open(t, todo.Memory)
	for i := range 103 {
		create(t, service, todo.CreateTodoRequest{Title: strconv.Itoa(i)})
	}
	session := newSession(t, service)
	for _, test := range []struct {
		params         string
		returned       int
		next, previous bool
		warnings       int
	}{
		{`{}`, 25, true, false, 0},
		{`{"first":0}`, 0, true, false, 0},
		{`{"first":1000}`, 100, true, false, 1},
		{`{"last":3}`, 3, false, true, 0},
		{`{"filter":{"title":{"starts":"10"}}}`, 4, false, false, 0},
		{`{"filter":{"title":"none"}}`, 0, false, false, 0},
	} {
		page := list(t, session, "list_todos", test.params)
		info := page.Data.PageInfo
		if len(page.Data.Items) != test.returned || info.HasNextPage != test.next ||
			info.HasPreviousPage != test.previous || len(page.Warnings) != test.warnings {
			t.Errorf("%s: %d todos, %+v, warnings %v", test.params, len(page.Data.Items), info, page.Warnings)
		}
		if there := test.returned > 0; (info.StartCursor != "") != there || (info.EndCursor != "") != there {
			t.Errorf("%s: %d todos with cursors %q and %q", test.params, test.returned, info.StartCursor, info.EndCursor)
		}
	}
}

// REQ-PG-05: the pages of any order show each todo once, forwards and backwards in the same order, and todos that are
// equal in it too.
func TestPagesMakeTheWhole(t *testing.T) {
	service := open(t, todo.Memory)
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range 53 {
		req := todo.CreateTodoRequest{
			Title:    fmt.Sprintf("%02d", i),
			Priority: []todo.Priority{todo.Low, todo.Medium, todo.High}[i%3],
		}
		if i%4 > 0 { // some are never due, and some at the same time
			req.DueAt = new(start.AddDate(0, 0, i%7))
		}
		create(t, service, req)
	}
	session := newSession(t, service)
	for _, field := range []string{"title", "priority", "due_at", "created_at", "updated_at"} {
		for _, order := range []string{"asc", "desc"} {
			params := fmt.Sprintf(`"filter":{"title":{"ne":"07"}},"sort":{"field":%q,"order":%q},`, field, order)
			whole := list(t, session, "list_todos", "{"+params+`"first":100}`)
			want := whole.titles()
			if distinct := slices.Compact(slices.Sorted(slices.Values(want))); len(distinct) != 52 {
				t.Errorf("%s %s: %d different todos, want 52", field, order, len(distinct))
			}
			for _, size := range []int{1, 7, 26, 52} {
				for _, backward := range []bool{false, true} {
					got := walk(t, session, params, size, backward, func(todo.Todo) {})
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s %s, pages of %d, backward: %v (-whole +pages):\n%s", field, order, size, backward, diff)
					}
				}
			}
		}
	}
}

// REQ-PG-05: todos that are added and deleted while a client walks shift nothing, not even the todo of the cursor. Each
// todo that was there is seen once.
func TestPagesAreStable(t *testing.T) {
	for _, backward := range []bool{false, true} {
		service := open(t, todo.Memory)
		session := newSession(t, service)
		var there []string
		for i := range 40 {
			there = append(there, create(t, service, todo.CreateTodoRequest{Title: fmt.Sprintf("%02d", i)}).Title)
		}
		seen := walk(t, session, `"sort":{"field":"title"},`, 4, backward, func(at todo.Todo) {
			if err := service.DeleteTodo(t.Context(), todo.DeleteTodoRequest{TodoID: at.TodoID}); err != nil {
				t.Fatal(err)
			}
			create(t, service, todo.CreateTodoRequest{Title: "00 in front"})
			create(t, service, todo.CreateTodoRequest{Title: "39 behind"})
		})
		seen = slices.DeleteFunc(seen, func(title string) bool { return len(title) > 2 })
		if diff := cmp.Diff(there, seen); diff != "" {
			t.Errorf("backward: %v (-there +seen):\n%s", backward, diff)
		}
	}
}

// REQ-PG-06: a cursor is good for what it was made for. With another filter, order, operation or adapter, or with a
// changed character, it is refused, and all in the same words.
func TestForeignCursors(t *testing.T) {
	service := open(t, todo.Memory)
	for range 3 {
		create(t, service, todo.CreateTodoRequest{Title: "Buy milk", Tags: []string{"home"}})
	}
	session := newSession(t, service)
	const made = `"filter":{"tags":"home"},"sort":{"field":"title"},"first":1`
	cursor := list(t, session, "list_todos", "{"+made+"}").Data.PageInfo.EndCursor
	if page := list(t, session, "list_todos", fmt.Sprintf(`{%s,"after":%q}`, made, cursor)); len(page.Data.Items) != 1 {
		t.Fatalf("where it was made for it leads to %d todos", len(page.Data.Items))
	}
	changed := []byte(cursor)
	changed[len(changed)/2] ^= 1
	for _, test := range []struct {
		what, operation, params, cursor string
	}{
		{"another filter", "list_todos", `"filter":{"tags":"work"},"sort":{"field":"title"},"first":1`, cursor},
		{"no filter", "list_todos", `"sort":{"field":"title"},"first":1`, cursor},
		{"another order", "list_todos", `"filter":{"tags":"home"},"first":1`, cursor},
		{"another operation", "search_todos", made, cursor},
		{
			"another direction", "list_todos",
			`"filter":{"tags":"home"},"sort":{"field":"title","order":"desc"},"first":1`, cursor,
		},
		{"a changed character", "list_todos", made, string(changed)},
		{"half of it", "list_todos", made, cursor[:len(cursor)/2]},
		{"none", "list_todos", made, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			answer := ask(t, session, test.operation, fmt.Sprintf(`{%s,"after":%q}`, test.params, test.cursor))
			const hint = "Repeat filter and sort as they were, or start again without after"
			if answer.Error.Code != "VALIDATION_INVALID_TYPE" || answer.Error.Details.Param != "after" ||
				answer.Error.Details.Hint != hint {
				t.Errorf("%+v", answer)
			}
		})
	}
	other := ask(t, newSession(t, service), "list_todos", fmt.Sprintf(`{%s,"after":%q}`, made, cursor))
	if other.Error.Details.Param != "after" {
		t.Errorf("another process, which has another key: %+v", other)
	}
}

// REQ-CQ-02, REQ-CQ-04, REQ-CQ-08: a search has a text, of whose words a todo has one in its title, notes or tags; what
// it finds is in items, with the page beside them.
func TestSearch(t *testing.T) {
	service := open(t, todo.Memory)
	create(t, service, todo.CreateTodoRequest{Title: "Buy milk", Notes: "at the corner"})
	create(t, service, todo.CreateTodoRequest{Title: "Paint", Notes: "100% white, no_gloss", Tags: []string{"home"}})
	create(t, service, todo.CreateTodoRequest{Title: "Paint the milk shed", Tags: []string{"home", `c:\barn`}})
	session := newSession(t, service)
	for query, want := range map[string][]string{
		"MILK":        {"Paint the milk shed", "Buy milk"},
		"corner shed": {"Paint the milk shed", "Buy milk"},
		"home":        {"Paint the milk shed", "Paint"},
		`"the milk"`:  {"Paint the milk shed"},
		`"milk the"`:  nil,
		"100%":        {"Paint"},
		"%":           {"Paint"},
		"_":           {"Paint"},
		`\b`:          {"Paint the milk shed"},
		"null":        nil,
		`["`:          nil,
	} {
		t.Run(query, func(t *testing.T) {
			page := list(t, session, "search_todos", fmt.Sprintf(`{"query":%q}`, query))
			if diff := cmp.Diff(want, page.titles()); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		})
	}
	page := list(t, session, "search_todos", `{"query":"milk","filter":{"tags":"home"}}`)
	if diff := cmp.Diff([]string{"Paint the milk shed"}, page.titles()); diff != "" {
		t.Errorf("with a filter (-want +got):\n%s", diff)
	}
}
