package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// A process runs executions from when it begins to work on, as long as the store hears of its worker.
func TestWhetherAProcessRunsExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 3 * time.Second
		in := &deadly{Store: new(store.Memory)}
		e, err := execution.New(execution.Options{
			Store: in, Logger: slog.New(slog.DiscardHandler), Lease: lease, Drain: time.Nanosecond,
			Operations: map[string]*execution.Operation{},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Err(); !errors.Is(err, execution.ErrNotWorking) {
			t.Errorf("before it works: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Work(ctx) }()
		synctest.Wait()
		for range 5 {
			if err := e.Err(); err != nil {
				t.Errorf("while it works: %v", err)
			}
			time.Sleep(lease)
		}
		in.die()
		time.Sleep(lease)
		if err := e.Err(); err == nil {
			t.Error("a worker that the store does not hear of runs executions")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
