package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	begin    = "BEGIN IMMEDIATE" // locks when it begins, so that what is read is still true when it is written
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// Pauses between attempts when another process has the lock. A quick change takes tens of microseconds, a durable one
// milliseconds.
const (
	firstPause   = 100 * time.Microsecond
	longestPause = 5 * time.Millisecond
)

// connection is a connection with the statements it has prepared, used by one call at a time. Its methods do not end with
// a context: SQLite could not be interrupted where it takes long, which is while the disk is written.
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

// row is a row, or why there is none.
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

// change runs f in a transaction that no other overlaps. The transaction is undone where f fails, or does not want it
// kept. f must tell the time by now, and do the same when it is run again.
func (s *Store) change(ctx context.Context, durable bool, f func(c *connection, now time.Time) (keep bool, err error)) error {
	ctx, cancel := patiently(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil { // a select would choose any of what is ready
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return errClosed
	case w := <-s.writer:
		return w.do(ctx, func() error {
			defer func() { s.writer <- w }()
			if err := s.check(); err != nil {
				return err
			}
			c := w.quick
			if durable {
				c = w.durable
			}
			return retry(ctx, func() error { return w.transact(ctx, c, f) })
		})
	}
}

func (w *writer) transact(ctx context.Context, c *connection, f func(*connection, time.Time) (bool, error)) error {
	if err := c.exec(begin); err != nil {
		return err
	}
	now := time.Now()
	keep, err := f(c, now)
	if keep && err == nil {
		if w.changes++; w.changes%sweepEvery == 1 {
			err = sweep(c, now)
		}
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if keep && err == nil {
		if err = c.exec(commit); err == nil {
			return nil
		}
	}
	if undone := c.exec(rollback); undone != nil && err == nil {
		return undone // where f failed, SQLite may have undone the transaction by itself
	}
	return err
}

// read runs f with a connection that sees one state of the file for each of its statements. f may be run again.
func (s *Store) read(ctx context.Context, f func(ctx context.Context, c *connection) error) error {
	ctx, cancel := patiently(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return errClosed
	case r := <-s.readers:
		return r.do(ctx, func() error {
			defer func() { s.readers <- r }()
			if r.c == nil {
				if err := s.check(); err != nil {
					return err
				}
				c, err := s.connect(ctx, "PRAGMA query_only = ON")
				if err != nil {
					return err
				}
				r.c = c
			}
			return retry(ctx, func() error { return f(ctx, r.c) })
		})
	}
}

// patiently bounds a call that its context does not.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, errBusy)
}

// worker is a goroutine that does what is sent to it. It is not one for each call because its stack, which SQLite needs
// more of than a goroutine begins with, would have to grow each time.
type worker chan func()

func newWorker() worker {
	w := make(worker)
	go func() {
		for f := range w {
			f()
		}
	}()
	return w
}

// do has the worker run f, and does not wait for its end longer than the context lasts: a disk may not answer. The worker
// must be free, or about to be.
func (w worker) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	w <- func() { done <- f() }
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	default:
		return context.Cause(ctx)
	}
}

// retry runs f again for as long as it fails because another process has the lock it needs.
func retry(ctx context.Context, f func() error) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := f()
		if !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}
