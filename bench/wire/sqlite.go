package wire

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/tasks"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// deep is how many rows are in front of the page of a table.
const deep = manyTasks / 2

const (
	createTasks = `CREATE TABLE tasks (task_id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL,
		priority TEXT NOT NULL, minutes INTEGER NOT NULL, due_at INTEGER, tags TEXT NOT NULL, created_at INTEGER NOT NULL);
		CREATE INDEX tasks_created_at ON tasks (created_at, task_id)`
	insertTask = `INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
)

// pageOfTable is a page in the middle of a table of SQLite, the newest first.
func pageOfTable(ctx context.Context) (Group, error) {
	db, err := taskTable(ctx)
	if err != nil {
		return Group{}, err
	}
	table, err := sqlquery.New[tasks.Task](sqlquery.SQLite, "tasks", sqlquery.Columns{
		"due_at": {Encode: sqlquery.UnixMicro}, "created_at": {Encode: sqlquery.UnixMicro}, "tags": {List: sqlquery.JSON},
	})
	if err != nil {
		return Group{}, err
	}
	rendered, cursor, err := callTable(ctx, "aql-tag", "",
		func(ctx context.Context, q *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error) {
			return sqlquery.Query(ctx, db, table.Take(q), scanTask)
		})
	if err != nil {
		return Group{}, err
	}
	byHand, _, err := callTable(ctx, "statement by hand", cursor,
		func(ctx context.Context, q *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error) {
			q.TakeSort("created_at")
			window, ok := q.TakePage()
			if !ok || len(window.After) != 2 {
				return nil, errors.New("the query is not the one that the statement answers")
			}
			at, _ := window.After[0].(time.Time)
			found, err := selectTasks(ctx, db, "WHERE (created_at, task_id) < (?, ?)", "", at.UnixMicro(), window.After[1])
			if err != nil {
				return nil, err
			}
			return q.Page(found, -1)
		})
	return Group{[]Candidate{
		rendered, byHand,
		{Name: "OFFSET", LeavesOut: pageCost, Run: func() (any, error) {
			found, err := selectTasks(ctx, db, "", fmt.Sprint("OFFSET ", deep))
			if err != nil {
				return nil, err
			}
			page := make(ids, pageSize)
			for i := range page {
				page[i] = found[i].TaskID
			}
			return &page, nil
		}},
	}}, err
}

// selectTasks reads the tasks of a page and one more, the newest first.
func selectTasks(ctx context.Context, db *sql.DB, where, offset string, args ...any) (found []tasks.Task, err error) {
	statement := "SELECT * FROM tasks " + where + " ORDER BY created_at DESC, task_id DESC LIMIT 26 " + offset
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		t, err := scanTask(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, rows.Err()
}

// taskTable returns a database in memory with a table of tasks. It is closed when ctx ends.
func taskTable(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	if _, err := db.ExecContext(ctx, createTasks); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	insert, err := tx.PrepareContext(ctx, insertTask)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks.Make(manyTasks) {
		tags, err := json.Marshal(t.Tags)
		if err != nil {
			return nil, err
		}
		var due any
		if t.DueAt != nil {
			due = t.DueAt.UnixMicro()
		}
		if _, err := insert.ExecContext(ctx, t.TaskID, t.Title, string(t.Status), string(t.Priority), t.Minutes, due,
			string(tags), t.CreatedAt.UnixMicro()); err != nil {
			return nil, err
		}
	}
	return db, tx.Commit()
}

// callTable returns a candidate that calls an operation, which answers so, for the page behind a cursor. Without one it
// walks there, and returns it.
func callTable(
	ctx context.Context, name, cursor string,
	answer func(context.Context, *aql.Query[tasks.Task]) (*aql.Page[tasks.Task], error),
) (Candidate, string, error) {
	s := &tasks.Service{Table: answer}
	a, err := aql.New(tasks.NewRegistry(s), aql.Options{Name: "bench", Version: "1.0.0", StateKey: make([]byte, 32)})
	if err != nil {
		return Candidate{}, "", err
	}
	ours := caller(ctx, a, readTool)
	for walked := 0; cursor == "" || walked > 0 && walked < deep; walked += len(s.Found) {
		params := `{"first":100}`
		if cursor != "" {
			params = `{"first":100,"after":"` + cursor + `"}`
		}
		reply, err := ours(envelope("list_table", params))
		if err != nil {
			return Candidate{}, "", err
		}
		if cursor, err = endCursor(reply); err != nil {
			return Candidate{}, "", err
		}
	}
	request := envelope("list_table", `{"first":25,"after":"`+cursor+`"}`)
	return Candidate{Name: name, Run: func() (any, error) {
		if _, err := ours(request); err != nil {
			return nil, err
		}
		page := make(ids, len(s.Found))
		for i := range s.Found {
			page[i] = s.Found[i].TaskID
		}
		return &page, nil
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

// scanTask reads a task of the columns of the table.
func scanTask(rows *sql.Rows) (t tasks.Task, err error) {
	var due sql.Null[int64]
	var created int64
	var tags []byte
	if err := rows.Scan(&t.TaskID, &t.Title, &t.Status, &t.Priority, &t.Minutes, &due, &tags, &created); err != nil {
		return t, err
	}
	t.CreatedAt = time.UnixMicro(created).UTC()
	if due.Valid {
		at := time.UnixMicro(due.V).UTC()
		t.DueAt = &at
	}
	return t, json.Unmarshal(tags, &t.Tags)
}
