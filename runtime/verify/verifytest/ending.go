package verifytest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// ending is a store as a process sees it that ends at one of its calls.
type ending struct {
	store.Store
	at    int  // number of the call; zero: it does not end
	after bool // the call is made, and the process does not hear of it

	mu   sync.Mutex
	made int
}

var errEnded = errors.New("the process has ended")

// ended reports whether the process has ended. Another error fails the test.
func (e *ending) ended(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, errEnded) {
		t.Error(err)
	}
	return err != nil
}

// call makes a call of the store, or does not.
func (e *ending) call(do func() error) error {
	e.mu.Lock()
	e.made++
	now, gone := e.made == e.at, e.at > 0 && e.made > e.at
	e.mu.Unlock()
	if gone || now && !e.after {
		return errEnded
	}
	if err := do(); !now {
		return err
	}
	return errEnded
}

func (e *ending) Get(ctx context.Context, key string) (entry store.Entry, err error) {
	err = e.call(func() error { entry, err = e.Store.Get(ctx, key); return err })
	return entry, err
}

func (e *ending) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (version store.Version, err error) {
	err = e.call(func() error { version, err = e.Store.Put(ctx, key, value, old, ttl); return err })
	return version, err
}

func (e *ending) Delete(ctx context.Context, key string, old store.Version) error {
	return e.call(func() error { return e.Store.Delete(ctx, key, old) })
}

func (e *ending) List(ctx context.Context, prefix, after string, limit int) (entries []store.Entry, err error) {
	err = e.call(func() error { entries, err = e.Store.List(ctx, prefix, after, limit); return err })
	return entries, err
}

func (e *ending) Take(ctx context.Context, claims []store.Claim) (counts []store.Count, err error) {
	err = e.call(func() error { counts, err = e.Store.Take(ctx, claims); return err })
	return counts, err
}
