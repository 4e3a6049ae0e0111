package wire

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/tasks"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// How many rows are in front of a page.
const (
	deep    = manyTasks / 2
	deepDue = 30_000 // of the 66,700 that are due at some time
)

// pageOf returns the benchmark of a page in the middle of a table, the newest first.
func pageOf(k kind) func(context.Context) (Group, error) {
	return func(ctx context.Context) (Group, error) {
		return groupOf(ctx, k, tablePage{by: "created_at", descending: true, depth: deep})
	}
}

// nullablePageOf returns the benchmark of a page in the order of a column that may be NULL.
func nullablePageOf(k kind) func(context.Context) (Group, error) {
	return func(ctx context.Context) (Group, error) {
		return groupOf(ctx, k, tablePage{by: "due_at", depth: deepDue})
	}
}

// tablePage is a page of a table: the ids, titles and times of its tasks.
type tablePage struct {
	by         string // the column of times by which tasks are ordered
	descending bool
	depth      int // how many rows are in front of it
}

const (
	byHand      = "statement by hand"
	byHandAlone = "statement by hand, alone"
	withOffset  = "OFFSET, alone"
)

func groupOf(ctx context.Context, k kind, p tablePage) (group Group, err error) {
	d, err := newDatabase(ctx, k)
	if err != nil {
		return Group{}, err
	}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	ours, cursor, err := p.call(ctx, "aql-tag", "",
		func(ctx context.Context, q *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error) {
			return sqlquery.Query(ctx, d.db, d.table.Take(q), p.scan(d), sqlquery.Reading(p.columns()))
		})
	if err != nil {
		return Group{}, err
	}
	var after aql.Window
	hand, _, err := p.call(ctx, byHand, cursor,
		func(ctx context.Context, q *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error) {
			q.TakeSort(p.by)
			window, ok := q.TakePage()
			if !ok || len(window.After) != 2 {
				return nil, errors.New("the query is not the one that the statement answers")
			}
			after = window
			found, err := p.behind(ctx, d, window)
			if err != nil {
				return nil, err
			}
			return q.Page(found, -1)
		})
	if err != nil {
		return Group{}, err
	}
	if _, err := hand.Run(); err != nil { // which finds the position
		return Group{}, err
	}
	alone := Candidate{Name: byHandAlone, LeavesOut: pageCost, Run: func() (any, error) {
		found, err := p.behind(ctx, d, after)
		return idsIn(found[:min(len(found), pageSize)]), err
	}}
	offset := Candidate{Name: withOffset, LeavesOut: pageCost, Run: func() (any, error) {
		found, err := p.read(ctx, d, "WHERE "+p.by+" IS NOT NULL", fmt.Sprint("OFFSET ", p.depth))
		return idsIn(found[:min(len(found), pageSize)]), err
	}}
	return Group{[]Candidate{ours, hand, alone, offset}, d.close}, nil
}

func (p tablePage) columns() string { return "task_id, title, " + p.by }

// scan returns what reads a row.
func (p tablePage) scan(d *database) func(*sql.Rows) (tasks.Task, error) {
	if p.by == "created_at" {
		return func(rows *sql.Rows) (t tasks.Task, err error) {
			err = d.scan(rows, &t, &t.CreatedAt)
			return t, err
		}
	}
	return func(rows *sql.Rows) (t tasks.Task, err error) {
		t.DueAt = new(time.Time)
		err = d.scan(rows, &t, t.DueAt)
		return t, err
	}
}

// behind reads what is behind a position by the statement that an author would write.
func (p tablePage) behind(ctx context.Context, d *database, position aql.Window) ([]tasks.Task, error) {
	symbol := ">"
	if p.descending {
		symbol = "<"
	}
	at, ok := position.After[0].(time.Time)
	if !ok {
		return nil, errors.New("the position has no time")
	}
	args := []any{d.moment(at), position.After[1]}
	if d.dialect == sqlquery.MySQL {
		args = []any{at, at, position.After[1]}
	}
	return p.read(ctx, d, "WHERE "+fmt.Sprintf(d.kind.behind, p.by, symbol), "", args...)
}

// read reads the tasks of a page and one more.
func (p tablePage) read(
	ctx context.Context, d *database, where, offset string, args ...any,
) (found []tasks.Task, err error) {
	direction := ""
	if p.descending {
		direction = "DESC"
	}
	rows, err := d.db.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM tasks %s ORDER BY %s LIMIT %d %s", p.columns(), where,
		fmt.Sprintf(d.order, p.by, direction), pageSize+1, offset), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	scan := p.scan(d)
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, rows.Err()
}

// call returns a candidate that calls an operation, which answers so, for the page behind a cursor. Without one it
// walks there, and returns it.
func (p tablePage) call(
	ctx context.Context, name, cursor string,
	answer func(context.Context, *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error),
) (Candidate, string, error) {
	s := &tasks.Service{Table: answer}
	a, err := aql.New(tasks.NewRegistry(s), aql.Options{Name: "bench", Version: "1.0.0", StateKey: make([]byte, 32)})
	if err != nil {
		return Candidate{}, "", err
	}
	ours := caller(ctx, a, readTool)
	request := func(first int, after string) []byte {
		params := fmt.Sprintf(`{"first":%d`, first)
		if !p.descending {
			params += `,"sort":{"field":"` + p.by + `"}`
		}
		if after != "" {
			params += `,"after":"` + after + `"`
		}
		return envelope("list_table", params+"}")
	}
	for walked := 0; cursor == "" || walked > 0 && walked < p.depth; walked += len(s.Found) {
		reply, err := ours(request(100, cursor))
		if err != nil {
			return Candidate{}, "", err
		}
		if cursor, err = endCursor(reply); err != nil {
			return Candidate{}, "", err
		}
	}
	behind := request(pageSize, cursor)
	return Candidate{Name: name, Run: func() (any, error) {
		if _, err := ours(behind); err != nil {
			return nil, err
		}
		return idsIn(s.Found), nil
	}}, cursor, nil
}

// endCursor returns the cursor of the last item of a page.
func endCursor(reply []byte) (string, error) {
	var page struct {
		Data struct {
			PageInfo struct{ EndCursor string }
		}
	}
	err := json.Unmarshal(reply, &page)
	return page.Data.PageInfo.EndCursor, err
}
