package execution_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// frozen is a store as a process sees it that is frozen when it has kept the result of a step, until it is thawed.
type frozen struct {
	deadly
	kept          atomic.Bool
	reached, thaw chan struct{}
}

func (f *frozen) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	version, err := f.deadly.Put(ctx, key, value, old, ttl)
	if err == nil && strings.Contains(key, "/s/") {
		f.kept.Store(true)
	}
	return version, err
}

func (f *frozen) Get(ctx context.Context, key string) (store.Entry, error) {
	if strings.Contains(key, "/r/") && f.kept.CompareAndSwap(true, false) {
		close(f.reached)
		<-f.thaw
		ctx = context.WithoutCancel(ctx) // what was asked for before is answered
	}
	return f.deadly.Get(ctx, key)
}

// An execution that has failed and can be started again has the results of its steps, although the worker comes back
// that had kept them and was given up meanwhile.
func TestStepsOutliveWorkersThatComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		first := &frozen{deadly: deadly{Store: in}, reached: make(chan struct{}), thaw: make(chan struct{})}
		var done, attempts atomic.Int32
		options := execution.Options{Lease: time.Second, Logger: slog.New(slog.DiscardHandler)}
		options.Operations = map[string]*execution.Operation{
			"work": {Durable: true, Retry: 1, Do: func(
				ctx context.Context, run *execution.Run,
			) ([]byte, *execution.Failure) {
				_, err := run.Step(ctx, "only", func(context.Context) ([]byte, error) {
					done.Add(1)
					return []byte("1"), nil
				})
				if err != nil || attempts.Add(1) == 1 {
					return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
				}
				return []byte("1"), nil
			}},
		}
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		defer working.Wait()
		defer stop()
		begin := func(in store.Store) *execution.Engine {
			options.Store = in
			e, err := execution.New(options)
			if err != nil {
				t.Fatal(err)
			}
			working.Go(func() { _ = e.Work(ctx) })
			return e
		}
		starter := begin(first)
		synctest.Wait() // until its worker has looked for what others have left: the attempt is to be frozen, not a walk
		r, err := starter.Start(ctx, execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		<-first.reached
		first.die()
		second := begin(in)
		if end := ended(t, second, r.ID); end.State != execution.Failed {
			t.Fatalf("the execution is %s", end.State)
		}
		first.revive()
		close(first.thaw)
		time.Sleep(time.Minute)
		if _, err := second.Retry(ctx, ann, r.ID); err != nil {
			t.Fatal(err)
		}
		if end := ended(t, second, r.ID); end.State != execution.Completed || done.Load() != 1 {
			t.Errorf("the execution is %s, and its step was done %d times", end.State, done.Load())
		}
	})
}
