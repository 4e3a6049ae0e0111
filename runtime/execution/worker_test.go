package execution_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// deafStore is a store that hears of no worker for a while, and counts the records that are read.
type deafStore struct {
	store.Store
	deaf  atomic.Bool
	reads atomic.Int64
}

func (s *deafStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if s.deaf.Load() && strings.Contains(key, "/a/") {
		return 0, errors.New("the store is down")
	}
	return s.Store.Put(ctx, key, value, old, ttl)
}

func (s *deafStore) Get(ctx context.Context, key string) (store.Entry, error) {
	if strings.Contains(key, "/r/") {
		s.reads.Add(1)
	}
	return s.Store.Get(ctx, key)
}

// A worker that is lost again and again leaves nothing running behind.
func TestLostWorkersLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &deafStore{Store: new(store.Memory)}
		engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{}})
		synctest.Wait()
		before := runtime.NumGoroutine()
		for range 20 {
			in.deaf.Store(true)
			time.Sleep(20 * time.Second)
			in.deaf.Store(false)
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before {
			t.Errorf("%d goroutines; %d before the worker was lost", after, before)
		}
	})
}
