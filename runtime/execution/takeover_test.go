package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/executiontest"
	"github.com/aqltag/aqltag/runtime/store"
)

// mortal is a store as a process sees it until that is killed.
type mortal struct {
	store.Store
	dead atomic.Bool
}

var errKilled = errors.New("the process was killed")

func (m *mortal) Get(ctx context.Context, key string) (store.Entry, error) {
	if m.dead.Load() {
		return store.Entry{}, errKilled
	}
	return m.Store.Get(ctx, key)
}

func (m *mortal) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if m.dead.Load() {
		return 0, errKilled
	}
	return m.Store.Put(ctx, key, value, old, ttl)
}

func (m *mortal) Delete(ctx context.Context, key string, old store.Version) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.Delete(ctx, key, old)
}

func (m *mortal) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if m.dead.Load() {
		return nil, errKilled
	}
	return m.Store.List(ctx, prefix, after, limit)
}

// Another process has taken an execution over at the latest a lease, a third of it and a second after its process was
// killed, whenever that was.
func TestTakeover(t *testing.T) {
	const lease = 15 * time.Second
	for name, dispatcher := range map[string]func() execution.Dispatcher{
		"by the store":    func() execution.Dispatcher { return nil },
		"by a dispatcher": func() execution.Dispatcher { return new(executiontest.Queue) },
	} {
		t.Run(name, func(t *testing.T) {
			for after := time.Duration(0); after < lease; after += 700 * time.Millisecond {
				synctest.Test(t, func(t *testing.T) {
					if took, most := takeover(t, lease, after, dispatcher()), lease+lease/3+time.Second; took > most {
						t.Errorf("killed after %v, it was taken over %v later, want %v at the latest", after, took, most)
					}
				})
			}
		})
	}
}

// takeover returns how long after a kill, which comes after a while, another process goes on.
func takeover(t *testing.T, lease, after time.Duration, d execution.Dispatcher) time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	state, attempts, over := new(store.Memory), make(chan time.Time, 2), make(chan struct{})
	first := &mortal{Store: state}
	engine := func(in store.Store) *execution.Engine {
		e, err := execution.New(execution.Options{
			Store: in, Dispatcher: d, Lease: lease, Logger: slog.New(slog.DiscardHandler),
			Operations: map[string]*execution.Operation{"work": {
				Durable: true,
				Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
					attempts <- time.Now()
					if in == first {
						<-over // of a killed process nothing returns
					}
					return []byte("1"), nil
				},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one, two := engine(first), engine(state)
	worked := make(chan error, 2)
	go func() { worked <- one.Work(ctx) }()
	synctest.Wait()
	if _, err := one.Start(ctx, execution.Start{Operation: "work", CallerKey: "ann"}); err != nil {
		t.Fatal(err)
	}
	<-attempts
	time.Sleep(lease / 7) // the two look at different times
	go func() { worked <- two.Work(ctx) }()
	time.Sleep(after)
	first.dead.Store(true)
	killed := time.Now()
	again := <-attempts
	stop()
	close(over)
	for range 2 {
		if err := <-worked; err != nil {
			t.Error(err)
		}
	}
	return again.Sub(killed)
}
