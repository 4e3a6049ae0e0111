package execution_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// slowLists holds up the first one who has listed the workers that are alive.
type slowLists struct {
	store.Store
	hold   atomic.Bool
	listed chan struct{}
	goOn   chan struct{}
}

func (s *slowLists) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	if strings.HasSuffix(prefix, "/a/") && s.hold.CompareAndSwap(true, false) {
		close(s.listed)
		<-s.goOn
	}
	return entries, err
}

// A worker keeps what it has taken although it began behind the list of the living that another one goes by.
func TestWorkersKeepWhatTheyTakeAsTheyBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		var done atomic.Int32
		operations := map[string]*execution.Operation{
			"work": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
				_, err := run.Step(ctx, "only", func(context.Context) ([]byte, error) {
					done.Add(1)
					time.Sleep(8 * time.Second)
					return []byte("1"), nil
				})
				if err != nil {
					return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
				}
				return []byte("1"), nil
			}},
		}
		maker, err := execution.New(execution.Options{Store: in, Operations: operations})
		if err != nil {
			t.Fatal(err)
		}
		r, err := maker.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		// As of a process that was killed as it answered the execution.
		if _, err := in.Put(t.Context(), "exec//w/rdead/"+r.ID, nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		slow := &slowLists{Store: in, listed: make(chan struct{}), goOn: make(chan struct{})}
		slow.hold.Store(true)
		engines(t, 1, slow, execution.Options{Operations: map[string]*execution.Operation{}})
		<-slow.listed
		e := engines(t, 1, in, execution.Options{Operations: operations})[0]
		time.Sleep(2 * time.Second) // it has taken the execution
		close(slow.goOn)
		end := ended(t, e, r.ID)
		time.Sleep(time.Minute)
		if end.Attempt != 1 || done.Load() != 1 {
			t.Errorf("the step was done %d times in %d attempts", done.Load(), end.Attempt)
		}
		if _, taken, _, err := e.Outstanding(t.Context()); err != nil || taken != 0 {
			t.Errorf("%d entries of workers are left: %v", taken, err)
		}
	})
}

// slowWrites is a store as a process sees it that is far away.
type slowWrites struct{ store.Store }

func (s slowWrites) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if sleepFor(ctx, 2*time.Millisecond) != nil {
		return 0, context.Cause(ctx)
	}
	return s.Store.Put(ctx, key, value, old, ttl)
}

// What is left of an execution with many steps holds up neither the recovery of others nor its own: it is cleaned up.
func TestRecoveryBesideCleaning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := new(store.Memory)
		operations := func(hangs bool) map[string]*execution.Operation {
			return map[string]*execution.Operation{
				"long": {Durable: true, Retry: 1, Do: func(
					ctx context.Context, run *execution.Run,
				) ([]byte, *execution.Failure) {
					for i := range 900 {
						if err := step(ctx, run, strconv.Itoa(i), 1); err != nil {
							return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
						}
					}
					return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
				}},
				"short": {Durable: true, Do: func(
					ctx context.Context, _ *execution.Run,
				) ([]byte, *execution.Failure) {
					if hangs {
						<-ctx.Done()
						return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
					}
					return []byte("1"), nil
				}},
			}
		}
		dying := &deadly{Store: memory}
		o := execution.Options{Lease: 3 * time.Second, Operations: operations(true)}
		e := engines(t, 1, dying, o)[0]
		synctest.Wait()
		long, err := e.Start(t.Context(), execution.Start{Operation: "long", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		if end := ended(t, e, long.ID); end.State != execution.Failed {
			t.Fatal(end.State)
		}
		time.Sleep(time.Second)
		// As of a worker that was killed while it cleaned up.
		if _, err := memory.Put(t.Context(), "exec//w/a-dead-worker/"+long.ID, nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		short, err := e.Start(t.Context(), execution.Start{Operation: "short", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		dying.die()
		o.Operations = operations(false)
		second := engines(t, 1, slowWrites{memory}, o)[0]
		time.Sleep(30 * time.Second)
		now, err := second.Get(t.Context(), ann, short.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.State != execution.Completed {
			t.Errorf("half a minute after its worker was killed it is %s", now.State)
		}
		if _, taken, _, err := second.Outstanding(t.Context()); err != nil || taken != 0 {
			t.Errorf("%d entries of workers are left: %v", taken, err)
		}
	})
}
