package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	if !s.open(ctx, &entry) {
		return store.Entry{}, errUnsealed
	}
	return entry, nil
}

func (s sealedStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	return s.Store.Put(ctx, key, s.keys[0].sealEntry(key, value, ttl == 0), old, ttl)
}

// List returns entries that do not open without their values: they are somebody else's, and hide no others.
func (s sealedStore) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	for i := range entries {
		s.open(ctx, &entries[i])
	}
	return entries, err
}

// open gives an entry the value that was sealed; without one, it does not open. An entry that does not expire is sealed
// anew with the first key, so that it outlives the others. Where that fails it is as it was, or has changed meanwhile:
// then nobody can change what was read of it.
func (s sealedStore) open(ctx context.Context, e *store.Entry) bool {
	opened, ok := s.keys.entry(e.Key, e.Value)
	e.Value = opened.value
	if ok && opened.old && opened.lasts {
		if version, err := s.Put(ctx, e.Key, e.Value, e.Version, 0); err == nil {
			e.Version = version
		}
	}
	return ok
}

// lastingParts begin the keys of the entries that do not expire: the passphrases of people (package passphrase), their
// passkeys (package internal/passkey), and what blocks agents (package verify). Package execution seals what it keeps
// itself.
var lastingParts = []string{"operator/passphrase/", "console/passkey", "verify/"}

// renew reads all entries that do not expire, so that they are sealed with the first key, and returns how many of them
// do not open.
func (s sealedStore) renew(ctx context.Context) (unread int, err error) {
	const page = 500
	for _, part := range lastingParts {
		for after := ""; ; {
			entries, err := s.List(ctx, part, after, page)
			if err != nil {
				return unread, fmt.Errorf("listing what does not expire: %w", err)
			}
			for i := range entries {
				if after = entries[i].Key; entries[i].Value == nil {
					unread++
				}
			}
			if len(entries) < page {
				break
			}
		}
	}
	return unread, nil
}

// Renew seals with the first state key what the state has for longer than keys are replaced in, and logs what cannot be
// read there.
func (g *Gate) Renew(ctx context.Context) {
	sealed, ok := g.options.Store.(sealedStore)
	if !ok {
		return
	}
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	switch unread, err := sealed.renew(ctx); {
	case err != nil:
		g.options.Logger.Warn("the passphrases, passkeys and blocks in the state could not be looked through for older "+
			"state keys", slog.Any("error", err))
	case unread > 0:
		g.options.Logger.Warn("passphrases, passkeys or blocks in the state open with none of the state keys: give the one "+
			"before too, behind a comma, and start anew", slog.Int("entries", unread))
	}
}
