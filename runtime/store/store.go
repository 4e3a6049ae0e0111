// Package store defines where an adapter keeps state that it must not lose: confirmation tokens, counters, audit
// records.
//
// Memory is the store of one process. The modules sqlite, redis and postgres below this package keep state in a file,
// which the processes of a host share, and on servers, which replicas share. A service offers them to its users like
// this:
//
//	serve.Main(registry, serve.Options{Stores: slices.Concat(sqlite.Drivers(), postgres.Drivers())})
//
// A Notifier tells processes of changes. Package storetest tests what every Store must do. CheckClaims, Counter,
// TakeAll, PrefixEnd, CheckTopic and Listeners are for writing one.
package store

import (
	"context"
	"errors"
	"time"
)

// Store holds values by key, and counters. It is safe for concurrent use by all processes that open the same location,
// and has one clock for all of them. Every method returns when its context ends.
//
// If a method fails with another error than ErrConflict, it is unknown whether the change was made. Callers must act as
// if it had been refused. ErrBusy and context.DeadlineExceeded say that the next call may succeed.
type Store interface {
	// Get returns the entry of a key. If there is none, its version is zero.
	Get(ctx context.Context, key string) (Entry, error)
	// Put writes a value if the key is at version old, and returns the new version, which no entry of the store has had
	// before; otherwise it fails with ErrConflict. Version zero means that the key must not exist. The entry expires after
	// ttl, which is in whole milliseconds; zero: never.
	Put(ctx context.Context, key string, value []byte, old Version, ttl time.Duration) (Version, error)
	// Delete removes an entry if it is at version old; otherwise it fails with ErrConflict.
	Delete(ctx context.Context, key string, old Version) error
	// List returns up to limit entries whose keys begin with prefix and are greater than after, in the order of the bytes
	// of their keys. An entry that is added or removed meanwhile may be missing.
	List(ctx context.Context, prefix, after string, limit int) ([]Entry, error)
	// Take adds to counters: for all claims, or for none if one of them would exceed its limit. It returns a count for
	// each claim, in their order. Two claims must not have the same key.
	Take(ctx context.Context, claims []Claim) ([]Count, error)
	// Close closes connections and files. Durable state stays.
	Close() error
}

// ErrConflict is the error of a change to an entry that is not at the given version.
var ErrConflict = errors.New("the entry is at another version")

// ErrBusy is the error of a call for which a store had no time or no connection left, or which stood in the way of
// others: a later one may succeed.
var ErrBusy = errors.New("the store is busy")

// Version identifies one value of one key. A later version need not be greater.
type Version uint64

// Entry is a value with its key.
type Entry struct {
	Key     string
	Value   []byte // the caller may change it
	Version Version
}

// Exists reports whether the store has the entry.
func (e Entry) Exists() bool { return e.Version != 0 }

// Driver opens stores of one kind by a location, which users write in a flag.
type Driver struct {
	// Scheme is the scheme of the locations, such as redis in redis://localhost:6379; empty: they have none and are paths
	// of files.
	Scheme string
	// Open opens the store at a location. It fails if the store cannot be reached.
	Open func(ctx context.Context, location string) (Store, error)
}

// PrefixEnd returns the least key that is greater than all keys with a prefix; nil: there is none. Stores list the keys
// from the prefix on and before this key.
func PrefixEnd(prefix string) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return append([]byte(prefix[:i]), prefix[i]+1)
		}
	}
	return nil
}
