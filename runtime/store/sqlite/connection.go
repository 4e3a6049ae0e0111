package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	begin    = "BEGIN IMMEDIATE" // locks at once, so that what is read does not change until it is written
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// Pauses between attempts while another process has the lock. A quick change takes tens of microseconds, a durable one
// milliseconds.
const (
	firstPause   = 100 * time.Microsecond
	longestPause = 5 * time.Millisecond
)

// connection is a connection with its prepared statements. One call at a time uses it. Its methods do not end with a
// context: SQLite cannot be interrupted while it writes to the disk, which is what takes long.
type connection struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

func (s *Store) connect(ctx context.Context, settings ...string) (*connection, error) {
	var c *connection
	err := retry(ctx, func() error {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		c = &connection{conn: conn, statements: make(map[string]*sql.Stmt)}
		for _, setting := range settings {
			if err := c.exec(setting); err != nil {
				return errors.Join(err, c.close())
			}
		}
		return nil
	})
	return c, err
}

func (c *connection) close() error {
	var failures []error
	for _, statement := range c.statements {
		failures = append(failures, statement.Close())
	}
	return errors.Join(append(failures, c.conn.Close())...)
}

func (c *connection) prepare(query string) (*sql.Stmt, error) {
	if statement := c.statements[query]; statement != nil {
		return statement, nil
	}
	statement, err := c.conn.PrepareContext(context.Background(), query)
	if err == nil {
		c.statements[query] = statement
	}
	return statement, err
}

func (c *connection) exec(query string, args ...any) error {
	_, err := c.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it changed.
func (c *connection) change(query string, args ...any) (int64, error) {
	statement, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *connection) query(query string, args ...any) (*sql.Rows, error) {
	statement, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(context.Background(), args...)
}

// row is the first row of a query, or the error of the query.
type row struct {
	rows *sql.Rows
	err  error
}

func (c *connection) queryRow(query string, args ...any) row {
	rows, err := c.query(query, args...)
	return row{rows, err}
}

// Scan reads the columns; without a row it fails with sql.ErrNoRows.
func (r row) Scan(columns ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(columns...); err != nil {
		return err
	}
	return r.rows.Close()
}
