package execution_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// counted is a store that counts its calls.
type counted struct {
	store.Store
	reads, writes atomic.Int64
}

func (c *counted) Get(ctx context.Context, key string) (store.Entry, error) {
	c.reads.Add(1)
	return c.Store.Get(ctx, key)
}

func (c *counted) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	c.reads.Add(1)
	return c.Store.List(ctx, prefix, after, limit)
}

func (c *counted) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	c.writes.Add(1)
	return c.Store.Put(ctx, key, value, old, ttl)
}

func (c *counted) Delete(ctx context.Context, key string, old store.Version) error {
	c.writes.Add(1)
	return c.Store.Delete(ctx, key, old)
}

func (c *counted) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	c.writes.Add(1)
	return c.Store.Take(ctx, claims)
}

// telling is such a store that tells of changes.
type telling struct {
	*counted
	memory *store.Memory
}

func (s telling) Notify(ctx context.Context, topic string) error { return s.memory.Notify(ctx, topic) }

func (s telling) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.memory.Listen(ctx, topic)
}

// costs returns a store that counts its calls, as an engine has it.
func costs(tells bool) (counts *counted, in store.Store) {
	memory := new(store.Memory)
	counts = &counted{Store: memory}
	if tells {
		return counts, telling{counts, memory}
	}
	return counts, counts
}

var nothing = map[string]*execution.Operation{"work": {
	Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) { return nil, nil },
}}

// A worker that has had something to do, and has nothing more, asks the store about twice a second, changes it as often
// as its heart beats, and has no goroutine more after an hour than after a minute.
func TestIdleWorkers(t *testing.T) {
	for name, tells := range map[string]bool{"the store tells": true, "the store does not tell": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counts, in := costs(tells)
				e := engines(t, 1, in, execution.Options{Operations: nothing})[0]
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				ended(t, e, r.ID)
				time.Sleep(time.Minute)
				synctest.Wait()
				goroutines := runtime.NumGoroutine()
				counts.reads.Store(0)
				counts.writes.Store(0)
				const seconds = 3600
				time.Sleep(seconds * time.Second)
				synctest.Wait()
				reads, writes := float64(counts.reads.Load())/seconds, float64(counts.writes.Load())/seconds
				if reads > 2.5 || writes > 0.25 {
					t.Errorf("%.2f reads and %.2f writes a second", reads, writes)
				}
				if now := runtime.NumGoroutine(); now > goroutines {
					t.Errorf("%d goroutines, and after an hour %d", goroutines, now)
				}
			})
		})
	}
}

// What a start writes before it is answered: its place among those of its caller, its place in the queue, whose it is,
// and the record; with a key, that.
func TestWritesOfStarts(t *testing.T) {
	counts, in := costs(true)
	e, err := execution.New(execution.Options{Store: in, Logger: slog.New(slog.DiscardHandler), Operations: nothing})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []struct {
		key  string
		most int64
	}{{"the first key makes the secret of keys", 6}, {"another key", 5}, {"", 4}} {
		before := counts.writes.Load()
		_, err := e.Start(t.Context(), execution.Start{
			Operation: "work", CallerKey: ann, Params: []byte("{}"), Once: start.key,
		})
		if writes := counts.writes.Load() - before; err != nil || writes > start.most {
			t.Errorf("a start with the key %q writes %d times, want %d: %v", start.key, writes, start.most, err)
		}
	}
}
