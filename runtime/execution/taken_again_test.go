package execution_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// A worker that is taken for dead takes its execution again, while somebody is about to remove the entry of the attempt
// before. The entry of the new attempt stays.
func TestTakenAgainByAWorkerTakenForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		// The heartbeats of the first one stop to come through: others take it for dead, and it goes on.
		var silent, stopped atomic.Bool
		alive := &hooked{Store: in, before: func(_, key string, _ []byte) error {
			if strings.Contains(key, "/a/") && silent.Load() {
				synctest.Wait()
				time.Sleep(time.Hour)
			}
			return nil
		}}
		// The other one stops before it removes the entry of a worker.
		reached, goOn := make(chan struct{}), make(chan struct{})
		other := &hooked{Store: in, before: func(op, key string, _ []byte) error {
			if op == "delete" && strings.Contains(key, "/w/") && stopped.CompareAndSwap(false, true) {
				close(reached)
				<-goOn
			}
			return nil
		}}
		var attempts atomic.Int32
		step, finish := make(chan struct{}), make(chan struct{})
		options := execution.Options{Lease: time.Second, Poll: 100 * time.Millisecond}
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
		first := engines(t, 1, alive, with)[0]
		synctest.Wait()
		r, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Params: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		silent.Store(true)
		second := engines(t, 1, other, options)[0]
		<-reached   // it has queued the execution
		close(step) // the attempt finds out, and gives up
		time.Sleep(time.Second)
		synctest.Wait()
		if attempts.Load() != 2 {
			t.Fatalf("%d attempts, want 2: the worker has not taken the execution again", attempts.Load())
		}
		close(goOn)
		synctest.Wait()
		if n, err := second.Walk(t.Context()); n != 0 || err != nil {
			t.Errorf("%d executions were forgotten: %v", n, err)
		}
		close(finish)
		if r = ended(t, first, r.ID); r.State != execution.Completed {
			t.Errorf("the execution is %s", r.State)
		}
	})
}
