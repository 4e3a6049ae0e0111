package sqlite

import (
	"context"
	"math/rand/v2"
	"time"
)

// borrow runs f with one of what is free, in its worker. It waits for one until ctx ends, and at most for patience.
func borrow[R interface {
	do(ctx context.Context, f func() error) error
}](ctx context.Context, s *Store, free chan R, f func(ctx context.Context, r R) error) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	if ctx.Err() != nil { // a select would choose either of two channels that are ready
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return errClosed
	case r := <-free:
		return r.do(ctx, func() error {
			defer func() { free <- r }()
			return f(ctx, r)
		})
	}
}

// withPatience bounds a call whose context does not end earlier.
func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, errBusy)
}

// transaction changes a file. It must use now as the time, and do the same when it runs again. Its changes are rolled
// back if it fails or does not keep them.
type transaction func(c *connection, now time.Time) (keep bool, err error)

// change runs a transaction that no other overlaps. With durable, its changes are on the disk when change returns.
func (s *Store) change(ctx context.Context, durable bool, f transaction) error {
	return borrow(ctx, s, s.writer, func(ctx context.Context, w *writer) error {
		if err := s.checkFile(); err != nil {
			return err
		}
		c := w.quick
		if durable {
			c = w.durable
		}
		return retry(ctx, func() error { return w.transact(ctx, c, f) })
	})
}

func (w *writer) transact(ctx context.Context, c *connection, f transaction) error {
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
	if failed := c.exec(rollback); failed != nil && err == nil {
		return failed // if f has failed, SQLite may have rolled back by itself
	}
	return err
}

// read runs f with a connection that sees one state of the file in each of its statements. f may run again.
func (s *Store) read(ctx context.Context, f func(ctx context.Context, c *connection) error) error {
	return borrow(ctx, s, s.readers, func(ctx context.Context, r *reader) error {
		if r.c == nil {
			if err := s.checkFile(); err != nil {
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

// worker is a goroutine that runs the functions sent to it. A new goroutine for each call would be slower: SQLite needs
// a larger stack than a goroutine begins with, and the stack would have to grow each time.
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

// do has the worker run f, and waits for it until ctx ends: a disk may not answer. The worker must be free, or about to
// be.
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

// retry runs f until it no longer fails because another process has the lock.
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
