package todo

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // the driver "sqlite", in pure Go
)

// Memory is the path of a database that is kept in memory and gone when it is closed.
const Memory = ":memory:"

//go:embed schema.sql
var schema string

const columns = `todo_id, title, notes, priority, status, due_at, tags, metadata, created_at, updated_at, version`

const selectTodo = `SELECT ` + columns + ` FROM todos WHERE todo_id = ?`

const selectOpen = `
	SELECT todo_id, version FROM todos WHERE title = ? AND status = 'open' ORDER BY todo_id LIMIT 1 OFFSET ?`

const insert = `
	INSERT INTO todos (todo_id, title, notes, priority, status, due_at, tags, metadata, created_at, updated_at)
	VALUES (:todo_id, :title, :notes, :priority, :status, :due_at, :tags, :metadata, :created_at, :updated_at)`

const insertTodo = insert + `
	RETURNING ` + columns

// The version tells that the todo has not changed. It keeps its metadata, which no todo that is imported has.
const overwriteTodo = `
	UPDATE todos SET
		notes = :notes, priority = :priority, due_at = :due_at, tags = :tags, updated_at = :updated_at,
		version = version + 1
	WHERE todo_id = :todo_id AND version = :version`

const noteImported = `INSERT INTO imported (step) VALUES (?) ON CONFLICT DO NOTHING`

const updateTodo = `
	UPDATE todos SET
		title = :title, notes = :notes, priority = :priority, status = :status, due_at = :due_at, tags = :tags,
		metadata = :metadata, updated_at = :updated_at, version = version + 1,
		completed_at = CASE :status WHEN 'done' THEN coalesce(completed_at, :updated_at) END
	WHERE todo_id = :todo_id
	RETURNING ` + columns

func openDatabase(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, err
	}
	if path == Memory {
		db.SetMaxOpenConns(1) // each connection would have a database of its own
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := db.Exec(schema)
		if err == nil {
			return db, nil
		}
		// SQLite does not wait for its turn while another process turns a new file into a database with a log.
		if !isBusy(err) || time.Since(begun) > 10*time.Second {
			db.Close()
			return nil, err
		}
	}
}

// isBusy reports whether another connection has locked the database.
func isBusy(err error) bool {
	const busy = 5 // SQLITE_BUSY, which is the low byte of several codes
	var failed *sqlite.Error
	return errors.As(err, &failed) && failed.Code()&0xff == busy
}

// dataSource is the driver's name for a database. Transactions lock when they begin, so that what they read is still
// true when they write, and wait for their turn.
func dataSource(path string) string {
	options := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)"},
		"_txlock": {"immediate"},
	}
	if path == Memory {
		return Memory + "?" + options.Encode()
	}
	file := url.URL{Path: filepath.ToSlash(filepath.Clean(path))}
	return "file:" + file.EscapedPath() + "?" + options.Encode()
}

// querier is what a database and a transaction have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// values are the named arguments with which a todo is written.
func values(todo *Todo) []any {
	var due sql.NullInt64
	if todo.DueAt != nil {
		due = sql.NullInt64{Int64: todo.DueAt.UnixMicro(), Valid: true}
	}
	return []any{
		sql.Named("todo_id", todo.TodoID),
		sql.Named("title", todo.Title),
		sql.Named("notes", todo.Notes),
		sql.Named("priority", todo.Priority),
		sql.Named("status", todo.Status),
		sql.Named("due_at", due),
		sql.Named("tags", jsonColumn{todo.Tags}),
		sql.Named("metadata", jsonColumn{todo.Metadata}),
		sql.Named("created_at", todo.CreatedAt.UnixMicro()),
		sql.Named("updated_at", todo.UpdatedAt.UnixMicro()),
	}
}

// scanTodo reads a row of columns, of a *sql.Row or *sql.Rows.
func scanTodo(row interface{ Scan(dest ...any) error }) (*Todo, error) {
	var (
		todo             Todo
		due              sql.NullInt64
		created, updated int64
		version          int64
	)
	err := row.Scan(&todo.TodoID, &todo.Title, &todo.Notes, &todo.Priority, &todo.Status, &due,
		jsonColumn{&todo.Tags}, jsonColumn{&todo.Metadata}, &created, &updated, &version)
	if err != nil {
		return nil, err
	}
	if due.Valid {
		at := time.UnixMicro(due.Int64).UTC()
		todo.DueAt = &at
	}
	todo.CreatedAt = time.UnixMicro(created).UTC()
	todo.UpdatedAt = time.UnixMicro(updated).UTC()
	todo.ETag = fmt.Sprintf(`W/"%d"`, version)
	return &todo, nil
}

// jsonColumn is a column that holds JSON: of a value to write, or of a pointer to read into.
type jsonColumn struct{ value any }

// Value is what package sql writes.
func (c jsonColumn) Value() (driver.Value, error) {
	text, err := json.Marshal(c.value)
	return string(text), err
}

// Scan takes what package sql has read.
func (c jsonColumn) Scan(column any) error {
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("a JSON column holds %T", column)
	}
	return json.Unmarshal([]byte(text), c.value)
}
