package todo

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	_ "modernc.org/sqlite" // registers the driver
)

const schema = `
CREATE TABLE IF NOT EXISTS todos (
	todo_id    TEXT PRIMARY KEY,
	title      TEXT NOT NULL,
	notes      TEXT NOT NULL,
	priority   TEXT NOT NULL,
	status     TEXT NOT NULL,
	due_at     INTEGER,
	tags       TEXT NOT NULL,
	metadata   TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	version    INTEGER NOT NULL DEFAULT 1
) STRICT`

const columns = "todo_id, title, notes, priority, status, due_at, tags, metadata, created_at, updated_at, version"

// Service keeps todos in one database file, which other processes may use at the same time.
type Service struct {
	db  *sql.DB
	now func() time.Time
}

// Open opens the database at path, or one in memory for ":memory:", and makes its table.
func Open(path string) (*Service, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"
	if path == ":memory:" {
		dsn = "file::memory:"
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	if path == ":memory:" {
		db.SetMaxOpenConns(1) // every connection would have a memory of its own
	}
	if _, err := db.ExecContext(context.Background(), schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	return &Service{db: db, now: func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }}, nil
}

// Close closes the database.
func (s *Service) Close() error { return s.db.Close() }

// queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func newID() string { return "todo_" + strings.ToLower(rand.Text()[:12]) }

func load(ctx context.Context, db queryer, id string) (*Todo, error) {
	t, err := scan(db.QueryRowContext(ctx, "SELECT "+columns+" FROM todos WHERE todo_id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, aql.NotFound("todo", id)
	}
	return t, err
}

// scan reads the columns of one row.
func scan(row interface{ Scan(...any) error }) (*Todo, error) {
	var (
		t                Todo
		due              sql.NullInt64
		created, updated int64
		version          int
		tags, metadata   string
	)
	if err := row.Scan(&t.TodoID, &t.Title, &t.Notes, &t.Priority, &t.Status, &due, &tags, &metadata, &created, &updated, &version); err != nil {
		return nil, fmt.Errorf("reading a todo: %w", err)
	}
	if due.Valid {
		at := time.UnixMilli(due.Int64).UTC()
		t.DueAt = &at
	}
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	t.ETag = etag(version)
	if err := json.Unmarshal([]byte(tags), &t.Tags); err != nil {
		return nil, fmt.Errorf("reading the tags of todo %s: %w", t.TodoID, err)
	}
	if err := json.Unmarshal([]byte(metadata), &t.Metadata); err != nil {
		return nil, fmt.Errorf("reading the metadata of todo %s: %w", t.TodoID, err)
	}
	return &t, nil
}

func etag(version int) string { return fmt.Sprintf(`W/"%d"`, version) }

// values are the columns of t from title to updated_at.
func values(t *Todo) ([]any, error) {
	if t.Tags == nil {
		t.Tags = []string{}
	}
	tags, err := json.Marshal(t.Tags)
	if err != nil {
		return nil, fmt.Errorf("writing the tags of todo %s: %w", t.TodoID, err)
	}
	metadata, err := json.Marshal(t.Metadata)
	if err != nil {
		return nil, fmt.Errorf("writing the metadata of todo %s: %w", t.TodoID, err)
	}
	var due sql.NullInt64
	if t.DueAt != nil {
		due = sql.NullInt64{Int64: t.DueAt.UnixMilli(), Valid: true}
	}
	return []any{t.Title, t.Notes, t.Priority, t.Status, due, string(tags), string(metadata), t.CreatedAt.UnixMilli(), t.UpdatedAt.UnixMilli()}, nil
}

func (s *Service) insert(ctx context.Context, t *Todo) error {
	row, err := values(t)
	if err != nil {
		return err
	}
	t.ETag = etag(1)
	_, err = s.db.ExecContext(ctx, "INSERT INTO todos ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", append([]any{t.TodoID}, row...)...)
	if err != nil {
		return fmt.Errorf("adding todo %s: %w", t.TodoID, err)
	}
	return nil
}

// change reads a todo, lets edit change it, and writes it, in one transaction: two changes at the same time both count.
func (s *Service) change(ctx context.Context, id string, edit func(*Todo) error) (*Todo, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("changing todo %s: %w", id, err)
	}
	defer tx.Rollback()
	t, err := load(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if err := edit(t); err != nil {
		return nil, err
	}
	t.UpdatedAt = s.now()
	row, err := values(t)
	if err != nil {
		return nil, err
	}
	var version int
	err = tx.QueryRowContext(ctx, `UPDATE todos SET title = ?, notes = ?, priority = ?, status = ?, due_at = ?, tags = ?, metadata = ?,
		created_at = ?, updated_at = ?, version = version + 1 WHERE todo_id = ? RETURNING version`, append(row, id)...).Scan(&version)
	if err != nil {
		return nil, fmt.Errorf("changing todo %s: %w", id, err)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("changing todo %s: %w", id, err)
	}
	t.ETag = etag(version)
	return t, nil
}

func (s *Service) delete(ctx context.Context, id string) error {
	result, err := s.db.ExecContext(ctx, "DELETE FROM todos WHERE todo_id = ?", id)
	if err != nil {
		return fmt.Errorf("deleting todo %s: %w", id, err)
	}
	if n, err := result.RowsAffected(); err != nil {
		return fmt.Errorf("deleting todo %s: %w", id, err)
	} else if n == 0 {
		return aql.NotFound("todo", id)
	}
	return nil
}

func (s *Service) purge(ctx context.Context, before time.Time) (int, error) {
	result, err := s.db.ExecContext(ctx, "DELETE FROM todos WHERE status = ? AND updated_at <= ?", StatusDone, before.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("purging completed todos: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("purging completed todos: %w", err)
	}
	return int(n), nil
}
