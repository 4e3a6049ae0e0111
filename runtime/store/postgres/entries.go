package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/jackc/pgx/v5"
)

// longestKey bounds keys, in bytes: an index entry of the server is at most a third of a page.
const longestKey = 2048

const (
	// sweepEvery is the number of rows that may expire, after which expired ones are removed.
	sweepEvery = 32
	// sweepMost is how many rows of each table are removed at most: more than were added, so that they do not accumulate.
	sweepMost = 4 * sweepEvery
)

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	e := store.Entry{Key: key}
	err := s.try(ctx, "reading an entry", true, func() error {
		err := s.pool.QueryRow(ctx, s.sql.get, []byte(key)).Scan(&e.Value, &e.Version)
		if errors.Is(err, pgx.ErrNoRows) {
			e.Value, e.Version = nil, 0
			return nil
		}
		return err
	})
	if err != nil {
		return store.Entry{}, err
	}
	return e, nil
}

// Put implements store.Store. Keys have at most 2,048 bytes.
func (s *Store) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	const doing = "writing an entry"
	if err := checkKey(doing, key); err != nil {
		return 0, err
	}
	if value == nil {
		value = []byte{} // nil would be null
	}
	var milliseconds *int64
	if ttl > 0 {
		n := ttl.Milliseconds()
		milliseconds = &n
	}
	statement, arguments := s.sql.create, []any{[]byte(key), value, milliseconds}
	if old != 0 {
		statement, arguments = s.sql.replace, append(arguments, int64(min(old, math.MaxInt64)))
	}
	var version store.Version
	conflict := false
	err := s.try(ctx, doing, false, func() error {
		var durable *string
		err := s.pool.QueryRow(ctx, statement, arguments...).Scan(&version, &durable)
		conflict = errors.Is(err, pgx.ErrNoRows)
		if conflict {
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case conflict:
		return 0, store.ErrConflict
	}
	if ttl > 0 {
		s.sweep(ctx, 1)
	}
	return version, nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, old store.Version) error {
	deleted := false
	err := s.try(ctx, "deleting an entry", false, func() error {
		tag, err := s.pool.Exec(ctx, s.sql.remove, []byte(key), int64(min(old, math.MaxInt64)))
		deleted = tag.RowsAffected() == 1
		return err
	})
	if err == nil && !deleted {
		return store.ErrConflict
	}
	return err
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	var found []store.Entry
	err := s.try(ctx, "listing entries", true, func() error {
		found = nil
		if limit <= 0 {
			return nil
		}
		rows, err := s.pool.Query(ctx, s.sql.list, []byte(prefix), []byte(after), store.PrefixEnd(prefix), int64(limit))
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e store.Entry, err error) {
			var key []byte
			err = row.Scan(&key, &e.Value, &e.Version)
			e.Key = string(key)
			return e, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func checkKey(doing, key string) error {
	if len(key) > longestKey {
		return fmt.Errorf("%s: its key has %d bytes; PostgreSQL takes up to %d", doing, len(key), longestKey)
	}
	return nil
}

// sweep removes expired rows, once in sweepEvery rows. Its failure is ignored: the rows are removed later.
func (s *Store) sweep(ctx context.Context, written int) {
	before := s.written.Add(int64(written)) - int64(written)
	if before > 0 && before/sweepEvery == (before+int64(written))/sweepEvery {
		return
	}
	batch := &pgx.Batch{}
	batch.Queue(s.sql.sweepEntries, sweepMost)
	batch.Queue(s.sql.sweepCounters, sweepMost)
	_ = s.pool.SendBatch(ctx, batch).Close()
}
