package execution_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// mute is a store as a process sees it whose heartbeats do not come through: others take it for dead, and it goes on.
type mute struct {
	store.Store
	silent atomic.Bool
}

func (m *mute) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.Contains(key, "/a/") && m.silent.Load() {
		synctest.Wait()
		time.Sleep(time.Hour)
	}
	return m.Store.Put(ctx, key, value, old, ttl)
}

// hesitant is a store as a process sees it that stops before it removes the entry of a worker, until it is to go on.
type hesitant struct {
	store.Store
	stops         atomic.Bool
	reached, goOn chan struct{}
}

func (h *hesitant) Delete(ctx context.Context, key string, old store.Version) error {
	if strings.Contains(key, "/w/") && h.stops.CompareAndSwap(true, false) {
		close(h.reached)
		<-h.goOn
		ctx = context.WithoutCancel(ctx)
	}
	return h.Store.Delete(ctx, key, old)
}

// A worker that is taken for dead takes its execution again, while somebody is about to remove the entry of the attempt
// before. The entry of the new attempt stays.
func TestTakenAgainByAWorkerTakenForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		alive := &mute{Store: in}
		other := &hesitant{Store: in, reached: make(chan struct{}), goOn: make(chan struct{})}
		other.stops.Store(true)
		var attempts atomic.Int32
		step, finish := make(chan struct{}), make(chan struct{})
		options := execution.Options{Lease: time.Second, Poll: 100 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}
		with := options
		with.Operations = map[string]*execution.Operation{"work": {Durable: true, Do: func(
			ctx context.Context, run *execution.Run,
		) ([]byte, *execution.Failure) {
			if attempts.Add(1) == 1 {
				<-step
				_, err := run.Step(ctx, "only", func(context.Context) ([]byte, error) { return []byte("1"), nil })
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
			}
			<-finish
			return []byte("1"), nil
		}}}
		engineOn := func(s store.Store, o execution.Options) (e *execution.Engine, stop func()) {
			o.Store = s
			e, err := execution.New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if err := e.Work(ctx); err != nil {
					t.Error(err)
				}
			}()
			return e, func() { cancel(); <-ended }
		}
		first, stopFirst := engineOn(alive, with)
		synctest.Wait()
		r, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Params: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		alive.silent.Store(true)
		second, stopSecond := engineOn(other, options)
		<-other.reached // it has queued the execution
		close(step)     // the attempt finds out, and gives up
		time.Sleep(time.Second)
		synctest.Wait()
		if attempts.Load() != 2 {
			t.Fatalf("%d attempts, want 2: the worker has not taken the execution again", attempts.Load())
		}
		close(other.goOn)
		synctest.Wait()
		if n, err := second.Walk(t.Context()); n != 0 || err != nil {
			t.Errorf("%d executions were forgotten: %v", n, err)
		}
		close(finish)
		if r = ended(t, first, r.ID); r.State != execution.Completed {
			t.Errorf("the execution is %s", r.State)
		}
		stopSecond()
		stopFirst()
	})
}
