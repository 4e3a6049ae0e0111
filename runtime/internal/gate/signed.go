package gate

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// errUnsigned is the error of an entry that no state key has signed.
var errUnsigned = errors.New("what the store holds was not written with the state key: it was changed, " +
	"or written by an adapter with another key or with none")

// signedStore is a store whose entries are signed, so that who writes the store without the keys can add and change
// none. Counters are not signed: the store itself adds to them.
type signedStore struct {
	store.Store
	keys keyring
}

func (s signedStore) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.Store.Get(ctx, key)
	if err != nil || !entry.Exists() {
		return entry, err
	}
	value, ok := s.keys.verified(key, entry.Value)
	if !ok {
		return store.Entry{}, errUnsigned
	}
	entry.Value = value
	return entry, nil
}

func (s signedStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	return s.Store.Put(ctx, key, s.keys[0].signed(key, value), old, ttl)
}

// List returns entries that are not signed without their values: they are somebody else's, and hide no others.
func (s signedStore) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	for i := range entries {
		entries[i].Value, _ = s.keys.verified(entries[i].Key, entries[i].Value)
	}
	return entries, err
}
