package execution_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// Of processes that share a store, one tells of each change, and which it is: that an execution was taken from a worker
// that is gone, too.
func TestChangesAreToldOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		durable bool
		want    []string
	}{
		"a durable execution": {true, []string{
			`first: "" to "pending", attempt 0, lost false`,
			`first: "pending" to "running", attempt 1, lost false`,
			`second: "running" to "running", attempt 1, lost true`,
			`second: "running" to "completed", attempt 2, lost false`,
		}},
		"an attached execution": {false, []string{
			`first: "" to "pending", attempt 0, lost false`,
			`first: "pending" to "running", attempt 1, lost false`,
			`second: "running" to "failed", attempt 1, lost true`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { toldOnce(t, tt.durable, tt.want) })
		})
	}
}

func toldOnce(t *testing.T, durable bool, want []string) {
	t.Helper()
	state := new(store.Memory)
	var mutex sync.Mutex
	var told []string
	engine := func(name string, in store.Store) (*execution.Engine, func()) {
		e, err := execution.New(execution.Options{
			Store: in, Logger: slog.New(slog.DiscardHandler), Drain: time.Nanosecond,
			Operations: map[string]*execution.Operation{"work": {
				Durable: durable, Do: func(ctx context.Context, r *execution.Run) ([]byte, *execution.Failure) {
					if r.Attempt() == 1 {
						<-ctx.Done()
					}
					return nil, nil
				},
			}},
			Changed: func(_ context.Context, c execution.Change) {
				mutex.Lock()
				defer mutex.Unlock()
				told = append(told, fmt.Sprintf("%s: %q to %q, attempt %d, lost %t",
					name, c.From, c.Record.State, c.Record.Attempt, c.Lost))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Work(ctx) }()
		synctest.Wait()
		return e, func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	in := &deadly{Store: state}
	first, stopFirst := engine("first", in)
	r, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	in.die()
	second, stopSecond := engine("second", state)
	for range 100 {
		time.Sleep(time.Second)
		if r, err = second.Get(t.Context(), "ann", r.ID); err != nil {
			t.Fatal(err)
		}
		if r.State.Terminal() {
			break
		}
	}
	stopFirst()
	stopSecond()
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
