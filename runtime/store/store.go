// Package store keeps the state that an adapter must not forget: confirmation tokens, counters, audit records. Memory is
// the store of one process. The modules below this folder keep state in a file that several processes share, and on
// servers that replicas share; package storetest holds what every store must do.
package store

import (
	"context"
	"errors"
	"time"
)

// Store keeps values by key, and counters. It is safe for concurrent use, by all processes that open the same place, and
// goes by one clock, its own. Every method ends when its context does.
//
// A method that fails with another error than ErrConflict leaves its caller in doubt whether the change took place;
// callers must act as if it had not been allowed.
type Store interface {
	// Get returns the entry of a key; its version is zero where there is none.
	Get(ctx context.Context, key string) (Entry, error)
	// Put writes a value if the key is still at version old, zero meaning that it must not exist, and returns the new
	// version, which no entry of the store has had before. It fails with ErrConflict otherwise. The entry is gone when
	// ttl, in whole milliseconds, has passed; zero keeps it.
	Put(ctx context.Context, key string, value []byte, old Version, ttl time.Duration) (Version, error)
	// Delete removes an entry that is still at version old, and fails with ErrConflict otherwise.
	Delete(ctx context.Context, key string, old Version) error
	// List returns no more than limit entries whose keys begin with prefix and are greater than after, in the order of
	// the bytes of their keys. An entry that comes or goes meanwhile may be missing.
	List(ctx context.Context, prefix, after string, limit int) ([]Entry, error)
	// Take adds to counters: to all of the claims, or to none where one of them would exceed its limit. It returns a count
	// for each claim, in their order. No key may be claimed twice at once.
	Take(ctx context.Context, claims []Claim) ([]Count, error)
	// Close releases what the store holds. Durable state stays.
	Close() error
}

// ErrConflict is the failure of a change whose entry is not at the version that was asked for.
var ErrConflict = errors.New("the entry is at another version")

// Version identifies one value of one key. It is opaque: a later version need not be greater.
type Version uint64

// Entry is a value with its key.
type Entry struct {
	Key     string
	Value   []byte // the caller's own
	Version Version
}

// Exists reports whether there is such an entry.
func (e Entry) Exists() bool { return e.Version != 0 }

// Driver opens stores of one kind by their location, as users write it in a flag.
type Driver struct {
	// Scheme begins the locations of this kind, such as redis in redis://localhost:6379. The driver without one takes
	// locations that have none: paths of files.
	Scheme string
	// Open opens the store at a location. It fails where the place cannot be reached.
	Open func(ctx context.Context, location string) (Store, error)
}
