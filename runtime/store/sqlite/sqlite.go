// Package sqlite is a store in one SQLite file, which any number of processes of one host may share. The file must be
// on a local file system. A service that offers it sets
//
//	serve.Options{Stores: sqlite.Drivers()}
//
// and its users choose it with a path: -state state.db.
//
// Put and Delete return when their changes are on the disk, so the changes survive a power failure. The changes of Take
// survive the end of the process; a power failure may lose the latest of them. The file, and the two that SQLite
// creates next to it, are readable by their owner only; a file that exists keeps its permissions.
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
	// patience bounds a call whose context does not end earlier. What takes long is waiting for other processes.
	patience = 10 * time.Second
	// readers is how many calls can read at the same time.
	readers = 4
)

var (
	errBusy = fmt.Errorf("%w: the state file was locked by another process, or its disk did not answer, for too long",
		store.ErrBusy)
	errClosed  = errors.New("the store is closed")
	errMissing = errors.New("the state file was removed or replaced while it was in use; start the process again")
)

// Drivers returns the driver of this package. Its locations have no scheme: they are paths of files.
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
	db       *sql.DB     // used only to make connections
	closed   chan struct{}

	// Each channel holds what is free. A call receives from it, and sends back what it has received.
	writer  chan *writer
	readers chan *reader

	listeners store.Listeners
}

// writer makes one change at a time; SQLite allows no more.
type writer struct {
	worker
	durable *connection // its committed changes are on the disk
	quick   *connection // its committed changes are in the operating system's cache
	changes int         // how many there were, to know when to sweep
}

type reader struct {
	worker
	c *connection // nil: not connected yet
}

// Open opens the store in a file, and creates the file if it does not exist. It fails if the file cannot be read or
// written, is not a store, or was written by a later release.
func Open(ctx context.Context, path string) (*Store, error) {
	ctx, cancel := withPatience(ctx)
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
	s.listeners.Receive = s.receive
	return s, nil
}

func (s *Store) connectWriter(ctx context.Context) error {
	var err error
	if s.db, err = openDatabase(s.path); err != nil {
		return err
	}
	var w writer
	// Either connection may copy the log into the file, which must not happen before the log is on the disk.
	// checkpoint_fullfsync ensures that on systems where a plain fsync does not.
	const checkpoint = "PRAGMA checkpoint_fullfsync = ON"
	if w.durable, err = s.connect(ctx, "PRAGMA synchronous = FULL", checkpoint, "PRAGMA fullfsync = ON"); err != nil {
		return err
	}
	if err := retry(ctx, func() error { return prepareSchema(w.durable) }); err != nil {
		return err
	}
	if w.quick, err = s.connect(ctx, "PRAGMA synchronous = NORMAL", checkpoint); err != nil {
		return err
	}
	w.worker = newWorker()
	s.writer <- &w
	return nil
}

// Close implements store.Store. It waits for running calls; later ones fail.
func (s *Store) Close() error {
	s.listeners.Close()
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

var _ store.Notifier = (*Store)(nil)
