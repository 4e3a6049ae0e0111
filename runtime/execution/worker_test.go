package execution_test

import (
	"context"
	"errors"
	"log/slog"
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
		const lives = 20
		for range lives {
			in.deaf.Store(true)
			time.Sleep(20 * time.Second)
			in.deaf.Store(false)
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after >= before+lives/2 { // one or another may come or go
			t.Errorf("%d goroutines; %d before the worker was lost %d times", after, before, lives)
		}
	})
}

// Executions that a process cannot run cost it little, and it runs them when it can.
func TestUnknownOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &deafStore{Store: new(store.Memory)}
		operations := map[string]*execution.Operation{
			"work": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
				return []byte("1"), nil
			}},
		}
		maker, err := execution.New(execution.Options{
			Store: in, Operations: operations, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		const n, minutes = 100, 10
		var last *execution.Record
		for range n {
			if last, err = maker.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann}); err != nil {
				t.Fatal(err)
			}
		}
		engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{}})
		in.reads.Store(0)
		time.Sleep(minutes*time.Minute - time.Second)
		const walk = 3 // it looks at an execution, its entry in the queue, and its place
		if reads := in.reads.Load(); reads > n*(minutes+walk) {
			t.Errorf("%d records read in %d minutes, where there are %d of another process", reads, minutes, n)
		}
		engines(t, 1, in, execution.Options{Operations: operations})
		if got := ended(t, maker, last.ID); got.State != execution.Completed {
			t.Errorf("%s by the process that has the operation", got.State)
		}
	})
}
