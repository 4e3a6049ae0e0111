// Package sqlite keeps state in one SQLite file, which any number of processes of one host may share; not on a network
// filesystem. It is what a path without a scheme opens, such as -state state.db.
//
// What Put and Delete did survives a power cut: they return when it is on the disk. What Take did survives the end of the
// process, and may be lost, its latest part alone, when the host loses power. The file, and the two that SQLite keeps
// beside it, are created for their owner alone; one that exists keeps its permissions.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// patience is how long a call goes on where its context does not end it earlier: most of all, how long it waits for
	// other processes.
	patience = 10 * time.Second
	// readers is how many calls read at once.
	readers = 4
)

var (
	errBusy    = errors.New("the state file was locked by another process, or its disk did not answer, for too long")
	errClosed  = errors.New("the store is closed")
	errMissing = errors.New("the state file was removed or replaced while it was in use; start the process again")
)

// Drivers returns the driver of this package: for locations without a scheme, which are paths of files.
func Drivers() []store.Driver {
	return []store.Driver{{Open: func(ctx context.Context, location string) (store.Store, error) {
		s, err := Open(ctx, location)
		if err != nil {
			return nil, err
		}
		return s, nil
	}}}
}

// Store is a store in a file. It is safe for concurrent use.
type Store struct {
	path     string
	identity fs.FileInfo // of the file that was opened
	db       *sql.DB     // never used but to make connections
	closed   chan struct{}

	// Each channel holds what is free: receiving is waiting for one's turn, sending gives it back.
	writer  chan *writer
	readers chan *reader
}

// writer is what one change at a time has: SQLite lets no two proceed together.
type writer struct {
	worker
	durable *connection // its changes are on the disk when it has committed them
	quick   *connection // its changes are in the operating system's hands when it has committed them
	changes int         // that it made, to know when to sweep
}

type reader struct {
	worker
	c *connection // nil: not made yet
}

// Open opens the store in a file, and makes the file where there is none. It fails where the file cannot be read and
// written, is not a store, or was written by a later release.
func Open(ctx context.Context, path string) (*Store, error) {
	ctx, cancel := patiently(ctx)
	defer cancel()
	absolute, identity, err := prepareFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening the state file %q: %w", path, err)
	}
	s := &Store{
		path: absolute, identity: identity, closed: make(chan struct{}),
		writer: make(chan *writer, 1), readers: make(chan *reader, readers),
	}
	if err := s.connectWriter(ctx); err != nil {
		if s.db != nil {
			s.db.Close()
		}
		return nil, fmt.Errorf("opening the state file %q: %w", path, explain(err))
	}
	for range readers {
		s.readers <- &reader{worker: newWorker()}
	}
	return s, nil
}

func (s *Store) connectWriter(ctx context.Context) error {
	var err error
	if s.db, err = openDatabase(s.path); err != nil {
		return err
	}
	var w writer
	// The log is copied into the file by either connection, and must not be before it is on the disk: hence the second
	// setting of both, for the systems where a plain fsync does not see to that.
	if w.durable, err = s.connect(ctx, "PRAGMA synchronous = FULL", "PRAGMA checkpoint_fullfsync = ON", "PRAGMA fullfsync = ON"); err != nil {
		return err
	}
	if err := retry(ctx, func() error { return prepareSchema(w.durable) }); err != nil {
		return err
	}
	if w.quick, err = s.connect(ctx, "PRAGMA synchronous = NORMAL", "PRAGMA checkpoint_fullfsync = ON"); err != nil {
		return err
	}
	w.worker = newWorker()
	s.writer <- &w
	return nil
}

// Close implements store.Store. It waits for the calls that are under way; later ones fail.
func (s *Store) Close() error {
	select {
	case <-s.closed:
		return nil
	case w := <-s.writer:
		close(s.closed)
		var failures []error
		for range readers {
			r := <-s.readers
			close(r.worker)
			if r.c != nil {
				failures = append(failures, r.c.close())
			}
		}
		close(w.worker)
		failures = append(failures, w.quick.close(), w.durable.close(), s.db.Close())
		if err := errors.Join(failures...); err != nil {
			return fmt.Errorf("closing the state file: %w", explain(err))
		}
		return nil
	}
}

var _ store.Store = (*Store)(nil)
