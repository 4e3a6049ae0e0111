package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	live        = "(expires_at IS NULL OR expires_at > ?)"
	selectEntry = "SELECT version, value FROM entries WHERE key = ? AND " + live
	selectAt    = "SELECT version FROM entries WHERE key = ? AND " + live
	nextVersion = "UPDATE versions SET last = last + 1 WHERE id = 1 RETURNING last"
	putEntry    = "INSERT OR REPLACE INTO entries (key, version, expires_at, value) VALUES (?, ?, ?, ?)"
	deleteEntry = "DELETE FROM entries WHERE key = ? AND version = ? AND " + live
	listRange   = "SELECT key, version, value FROM entries WHERE key >= ? AND key < ? AND " + live +
		" ORDER BY key LIMIT ?"
	listFrom     = "SELECT key, version, value FROM entries WHERE key >= ? AND " + live + " ORDER BY key LIMIT ?"
	sweepEntries = "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_at <= ? LIMIT ?)"
	sweepCounts  = "DELETE FROM counters WHERE key IN (SELECT key FROM counters WHERE expires_at <= ? LIMIT ?)"
)

// One change in sweepEvery removes up to sweepMost expired entries, and as many counters: more than can have been added
// since, and few enough not to delay other calls.
const (
	sweepEvery = 32
	sweepMost  = 256
)

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	entry := store.Entry{Key: key}
	err := s.read(ctx, func(_ context.Context, c *connection) error {
		var version int64
		switch err := c.queryRow(selectEntry, []byte(key), time.Now().UnixMilli()).Scan(&version, &entry.Value); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		entry.Version = store.Version(version)
		return nil
	})
	if err != nil {
		return store.Entry{}, fmt.Errorf("getting an entry: %w", explain(err))
	}
	return entry, nil
}

// Put implements store.Store. It fails with store.ErrFull if the disk is full.
func (s *Store) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	value = append([]byte{}, value...) // the call may end before the disk has answered; and nil would be NULL
	var version int64
	err := s.change(ctx, true, func(c *connection, now time.Time) (bool, error) {
		var at int64
		err := c.queryRow(selectAt, []byte(key), now.UnixMilli()).Scan(&at)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		if store.Version(at) != old {
			return false, store.ErrConflict
		}
		if err := c.queryRow(nextVersion).Scan(&version); err != nil {
			return false, err
		}
		var expires any
		if ttl > 0 {
			expires = now.UnixMilli() + ttl.Milliseconds()
		}
		return true, c.exec(putEntry, []byte(key), version, expires, value)
	})
	if err != nil {
		return 0, fmt.Errorf("putting an entry: %w", explain(err))
	}
	return store.Version(version), nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, old store.Version) error {
	err := s.change(ctx, true, func(c *connection, now time.Time) (bool, error) {
		deleted, err := c.change(deleteEntry, []byte(key), int64(old), now.UnixMilli())
		if err == nil && deleted == 0 {
			err = store.ErrConflict
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("deleting an entry: %w", explain(err))
	}
	return nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	first := []byte(prefix)
	if after >= prefix {
		first = append([]byte(after), 0) // the least key after it
	}
	var found []store.Entry
	err := s.read(ctx, func(ctx context.Context, c *connection) error {
		found = nil
		if limit <= 0 {
			return nil
		}
		query, args := listFrom, []any{first}
		if end := store.PrefixEnd(prefix); end != nil {
			query, args = listRange, append(args, end)
		}
		rows, err := c.query(query, append(args, time.Now().UnixMilli(), limit)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var key string
			var version int64
			var value []byte
			if err := rows.Scan(&key, &version, &value); err != nil {
				return err
			}
			found = append(found, store.Entry{Key: key, Value: value, Version: store.Version(version)})
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("listing entries: %w", explain(err))
	}
	return found, nil
}

// sweep removes some expired entries and counters.
func sweep(c *connection, now time.Time) error {
	if err := c.exec(sweepEntries, now.UnixMilli(), sweepMost); err != nil {
		return err
	}
	return c.exec(sweepCounts, now.UnixMilli(), sweepMost)
}
