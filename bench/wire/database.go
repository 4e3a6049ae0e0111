package wire

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/bench/wire/tasks"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// ErrMissing says that a server is not installed, without which a benchmark cannot be. Where servers are required it is
// another error (see postgrestest.RequireServers).
var ErrMissing = errors.New("skipped")

// kind is what differs between databases.
type kind struct {
	dialect sqlquery.Dialect
	open    func(ctx context.Context) (db *sql.DB, closeAll func(), err error)
	columns sqlquery.Columns
	create  string // the statement that creates the table
	analyze string // the statement after which the database knows what is in it
	micros  bool   // times are kept as microseconds
	// behind is the condition, written by hand, on what is behind a time and an id in a column of times: %[1]s is the
	// column, and %[2]s is > or <.
	behind string
	// order is what stands behind ORDER BY: %[1]s is the column, and %[2]s is empty or DESC.
	order string
}

var (
	inSQLite = kind{
		dialect: sqlquery.SQLite, open: openSQLite, micros: true, analyze: "ANALYZE tasks",
		columns: sqlquery.Columns{
			"due_at": {Encode: sqlquery.UnixMicro}, "created_at": {Encode: sqlquery.UnixMicro}, "tags": {List: sqlquery.JSON},
		},
		create: `CREATE TABLE tasks (task_id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL,
			priority TEXT NOT NULL, minutes INTEGER NOT NULL, due_at INTEGER, tags TEXT NOT NULL, created_at INTEGER NOT NULL)`,
		behind: "(%[1]s, task_id) %[2]s (?, ?)", order: "%[1]s %[2]s, task_id %[2]s",
	}
	inPostgres = kind{
		dialect: sqlquery.PostgreSQL, open: openPostgres, analyze: "ANALYZE tasks",
		columns: sqlquery.Columns{"tags": {List: sqlquery.JSON}},
		create: `CREATE TABLE tasks (task_id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL,
			priority TEXT NOT NULL, minutes BIGINT NOT NULL, due_at TIMESTAMPTZ, tags JSONB NOT NULL,
			created_at TIMESTAMPTZ NOT NULL)`,
		behind: `(%[1]s, task_id COLLATE "C") %[2]s ($1, $2)`, order: `%[1]s %[2]s, task_id COLLATE "C" %[2]s`,
	}
	inMariaDB = kind{
		dialect: sqlquery.MySQL, open: openMariaDB, analyze: "ANALYZE TABLE tasks",
		columns: sqlquery.Columns{"task_id": {Collated: true}, "title": {Collated: true}, "tags": {List: sqlquery.JSON}},
		create: `CREATE TABLE tasks (task_id VARCHAR(50) COLLATE utf8mb4_nopad_bin PRIMARY KEY,
			title VARCHAR(200) NOT NULL, status VARCHAR(20) NOT NULL, priority VARCHAR(20) NOT NULL, minutes BIGINT NOT NULL,
			due_at DATETIME(6), tags JSON NOT NULL, created_at DATETIME(6) NOT NULL)`,
		// A comparison of rows would read all of them.
		behind: "(%[1]s %[2]s ? OR %[1]s = ? AND task_id %[2]s ?)", order: "%[1]s %[2]s, task_id %[2]s",
	}
)

// database is a database with a table of tasks.
type database struct {
	kind
	db    *sql.DB
	table *sqlquery.Table[tasks.Task]
	close func()
}

// newDatabase makes a database, and fills the table.
func newDatabase(ctx context.Context, k kind) (*database, error) {
	table, err := sqlquery.New[tasks.Task](k.dialect, "tasks", k.columns)
	if err != nil {
		return nil, err
	}
	db, closeAll, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	d := &database{k, db, table, closeAll}
	if err := d.fill(ctx); err != nil {
		closeAll()
		return nil, fmt.Errorf("filling the table of %s: %w", k.dialect, err)
	}
	return d, nil
}

// loaded is how many tasks a statement inserts.
const loaded = 500

// fill creates the table with the indexes that it wants, and inserts the tasks.
func (d *database) fill(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, d.create); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, d.insert(loaded))
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	all := tasks.Make(manyTasks)
	for i := 0; i < len(all); i += loaded {
		var values []any
		for k := range loaded {
			if values, err = d.append(values, &all[i+k]); err != nil {
				return err
			}
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	for _, statement := range d.table.Indexes() {
		if strings.Contains(statement, "created_at") || strings.Contains(statement, "due_at") {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = d.db.ExecContext(ctx, d.analyze)
	return err
}

// insert is the statement that inserts n tasks.
func (d *database) insert(n int) string {
	const columns = 8
	rows := make([]string, n)
	for i := range rows {
		places := make([]string, columns)
		for k := range places {
			if places[k] = "?"; d.dialect == sqlquery.PostgreSQL {
				places[k] = "$" + strconv.Itoa(i*columns+k+1)
			}
		}
		rows[i] = "(" + strings.Join(places, ", ") + ")"
	}
	return "INSERT INTO tasks VALUES " + strings.Join(rows, ", ")
}

// append appends the values of a task, in the order of the columns.
func (d *database) append(values []any, t *tasks.Task) ([]any, error) {
	tags, err := json.Marshal(t.Tags)
	if err != nil {
		return nil, err
	}
	var due any
	if t.DueAt != nil {
		due = d.moment(*t.DueAt)
	}
	return append(values, t.TaskID, t.Title, string(t.Status), string(t.Priority), t.Minutes, due, string(tags),
		d.moment(t.CreatedAt)), nil
}

// moment is a time as the database keeps it.
func (d *database) moment(at time.Time) any {
	if d.micros {
		return at.UnixMicro()
	}
	return at
}

// scan reads the id, the title and a time of a task.
func (d *database) scan(rows *sql.Rows, t *tasks.Task, at *time.Time) error {
	if !d.micros {
		err := rows.Scan(&t.TaskID, &t.Title, at)
		*at = at.UTC()
		return err
	}
	var micros int64
	err := rows.Scan(&t.TaskID, &t.Title, &micros)
	*at = time.UnixMicro(micros).UTC()
	return err
}
