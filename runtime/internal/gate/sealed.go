package gate

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// errUnsealed is the error of an entry that no state key has sealed.
var errUnsealed = errors.New("what the store holds was not written with the state key: it was changed, " +
	"or written by an adapter with another key or with none")

// sealedStore is a store whose entries are encrypted, so that who has the store without the keys reads none, and can
// add and change none. The names of entries are not, and neither are counters: the store itself adds to them.
type sealedStore struct {
	store.Store
	keys keyring
}

// SealedStore returns a store as an adapter with state keys sees it: what is in it opens with one of the keys, and what
// is put is sealed with the first one.
func SealedStore(s store.Store, secrets ...[]byte) (store.Store, error) {
	keys, err := newKeyring(secrets...)
	if err != nil {
		return nil, err
	}
	return sealedStore{s, keys}, nil
}

// Notify implements store.Notifier, where the store does.
func (s sealedStore) Notify(ctx context.Context, topic string) error {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Notify(ctx, topic)
	}
	return nil
}

// Listen implements store.Notifier. Where the store does not, the channel never receives.
func (s sealedStore) Listen(ctx context.Context, topic string) <-chan struct{} {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Listen(ctx, topic)
	}
	return nil
}

func (s sealedStore) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.Store.Get(ctx, key)
	if err != nil || !entry.Exists() {
		return entry, err
	}
	value, ok := s.keys.entry(key, entry.Value)
	if !ok {
		return store.Entry{}, errUnsealed
	}
	entry.Value = value
	return entry, nil
}

func (s sealedStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	return s.Store.Put(ctx, key, s.keys[0].sealEntry(key, value), old, ttl)
}

// List returns entries that do not open without their values: they are somebody else's, and hide no others.
func (s sealedStore) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	for i := range entries {
		entries[i].Value, _ = s.keys.entry(entries[i].Key, entries[i].Value)
	}
	return entries, err
}
