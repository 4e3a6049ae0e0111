package aql

import (
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/observer"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

// observedStore returns a state of which hooks are told, if some want that.
func observedStore(s store.Store, o *observer.Observer) store.Store {
	if s == nil || o == nil || !o.Stores() {
		return s
	}
	told := toldStore{s, o}
	if n, ok := s.(store.Notifier); ok {
		return toldNotifier{told, n}
	}
	return told
}

// unobserved returns the state that the program has given.
func unobserved(s store.Store) store.Store {
	switch s := s.(type) {
	case toldStore:
		return s.Store
	case toldNotifier:
		return s.Store
	}
	return s
}

// toldStore is a state of which hooks are told.
type toldStore struct {
	store.Store
	observer *observer.Observer
}

// toldNotifier is one that is a store.Notifier.
type toldNotifier struct {
	toldStore
	notifier store.Notifier
}

func (s toldNotifier) Notify(ctx context.Context, topic string) error {
	return s.notifier.Notify(ctx, topic)
}

func (s toldNotifier) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.notifier.Listen(ctx, topic)
}

// tell tells hooks of what was asked of the state, since when, and whether that has failed. What the
// adapter itself has given up, such as when it ends, has not.
func (s toldStore) tell(ctx context.Context, what observe.StoreMethod, began time.Time, err error) {
	failed := err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(ctx.Err(), context.Canceled)
	s.observer.Store(ctx, observe.StoreCall{Method: what, Took: time.Since(began), Failed: failed})
}

func (s toldStore) Get(ctx context.Context, key string) (store.Entry, error) {
	began := time.Now()
	entry, err := s.Store.Get(ctx, key)
	s.tell(ctx, observe.StoreGet, began, err)
	return entry, err
}

func (s toldStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	began := time.Now()
	version, err := s.Store.Put(ctx, key, value, old, ttl)
	s.tell(ctx, observe.StorePut, began, err)
	return version, err
}

func (s toldStore) Delete(ctx context.Context, key string, old store.Version) error {
	began := time.Now()
	err := s.Store.Delete(ctx, key, old)
	s.tell(ctx, observe.StoreDelete, began, err)
	return err
}

func (s toldStore) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	began := time.Now()
	entries, err := s.Store.List(ctx, prefix, after, limit)
	s.tell(ctx, observe.StoreList, began, err)
	return entries, err
}

func (s toldStore) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	began := time.Now()
	counts, err := s.Store.Take(ctx, claims)
	s.tell(ctx, observe.StoreTake, began, err)
	return counts, err
}
