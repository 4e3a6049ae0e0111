package todo

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
)

// The database has the indexes in which pages are found.
func TestIndexes(t *testing.T) {
	service := openTest(t)
	rows, err := service.db.Query(`SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var there []string
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			t.Fatal(err)
		}
		there = append(there, statement)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var wanted []string
	for _, statement := range table.Indexes() {
		// SQLite compares bytes unless a column says otherwise.
		statement = strings.NewReplacer("`", "", " COLLATE BINARY", "").Replace(statement)
		if !strings.HasSuffix(statement, " ON todos (todo_id)") { // which the primary key has
			wanted = append(wanted, statement)
		}
	}
	slices.Sort(there)
	slices.Sort(wanted)
	if diff := cmp.Diff(wanted, there); diff != "" {
		t.Errorf("indexes (-wanted +there):\n%s", diff)
	}
}

// A page is found in the index of its order, wherever it is: no statement reads the rows in front of it, or sorts.
func TestPagesAreFoundInIndexes(t *testing.T) {
	service := openTest(t)
	plans := &planning{db: service.db}
	adapter, err := aql.New(NewRegistry(service), aql.Options{Name: "todo", Intercept: []aql.Interceptor{
		func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
			if request, ok := call.Request.(*ListTodosRequest); ok {
				return list(ctx, plans, &request.Query)
			}
			return next(ctx)
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	t.Cleanup(session.Close)
	for i := range 20 {
		request := CreateTodoRequest{Title: fmt.Sprint("todo ", i), Priority: Medium}
		if i%2 == 0 {
			request.DueAt = new(time.Date(2026, 3, i+1, 0, 0, 0, 0, time.UTC))
		}
		if _, err := service.CreateTodo(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	for _, field := range []string{"title", "due_at", "created_at", "updated_at"} {
		for _, order := range []string{"asc", "desc"} {
			for _, words := range [][3]string{{"first", "after", "endCursor"}, {"last", "before", "startCursor"}} {
				cursor := ""
				for pages := 0; pages < 4; pages++ { // of a due date, and without
					plans.found = nil
					params := fmt.Sprintf(`{"sort":{"field":%q,"order":%q},%q:5%s}`, field, order, words[0], cursor)
					reply := session.Call(t.Context(), "mcp_aql_read",
						fmt.Appendf(nil, `{"operation":"list_todos","params":%s}`, params)).JSON
					var answer struct {
						Data struct {
							Items    []json.RawMessage
							PageInfo map[string]any
						}
					}
					if err := json.Unmarshal(reply, &answer); err != nil || len(answer.Data.Items) != 5 {
						t.Fatalf("%s: %v %s", params, err, reply)
					}
					cursor = fmt.Sprintf(`,%q:%q`, words[1], answer.Data.PageInfo[words[2]])
					for _, plan := range plans.found {
						if !strings.Contains(plan, "USING INDEX todos_"+field) || strings.Contains(plan, "B-TREE") ||
							pages > 0 && !strings.Contains(plan, "SEARCH") {
							t.Errorf("%s: %s", params, plan)
						}
					}
					if len(plans.found) == 0 {
						t.Errorf("%s: no statement", params)
					}
				}
			}
		}
	}
}

func openTest(t *testing.T) *Service {
	t.Helper()
	service, err := Open(Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	return service
}

// planning runs statements, and keeps the plans of those that find a page.
type planning struct {
	db    *sql.DB
	found []string
}

func (p *planning) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	if strings.HasPrefix(statement, "SELECT COUNT") {
		return p.db.QueryContext(ctx, statement, args...)
	}
	rows, err := p.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		return nil, err
	}
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	p.found = append(p.found, strings.Join(steps, "; ")+" for "+statement)
	return p.db.QueryContext(ctx, statement, args...)
}
