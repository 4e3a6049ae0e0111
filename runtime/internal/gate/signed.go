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

// SignedStore returns a store as an adapter with state keys sees it: what is in it is verified with the keys, and what
// is put is signed with the first one.
func SignedStore(s store.Store, secrets ...[]byte) (store.Store, error) {
	keys, err := newKeyring(secrets...)
	if err != nil {
		return nil, err
	}
	return signedStore{s, keys}, nil
}

// Notify implements store.Notifier, where the store does.
func (s signedStore) Notify(ctx context.Context, topic string) error {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Notify(ctx, topic)
	}
	return nil
}

// Listen implements store.Notifier. Where the store does not, the channel never receives.
func (s signedStore) Listen(ctx context.Context, topic string) <-chan struct{} {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Listen(ctx, topic)
	}
	return nil
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
