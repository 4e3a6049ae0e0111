package execution_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// An attempt is told that it was taken over where the worker of the attempt before is gone, and not where that was
// repeated because it has failed.
func TestTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		begun, told := make(chan int, 5), []bool(nil)
		engine := func(in store.Store) *execution.Engine {
			e, err := execution.New(execution.Options{
				Store: in, Lease: time.Second, Drain: time.Nanosecond, Logger: slog.New(slog.DiscardHandler),
				Operations: map[string]*execution.Operation{"work": {
					Durable: true, Retry: 1, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
						told = append(told, run.TakenOver())
						begun <- run.Attempt()
						switch run.Attempt() {
						case 1:
							<-ctx.Done()
							return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
						case 2:
							return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
						}
						return []byte("{}"), nil
					},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		in := &deadly{Store: state}
		first := engine(in)
		defer working(t, first)()
		synctest.Wait()
		if _, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann}); err != nil {
			t.Fatal(err)
		}
		<-begun
		in.die()
		defer working(t, engine(state))()
		for attempt := 0; attempt < 3; {
			attempt = <-begun
		}
		if diff := cmp.Diff([]bool{false, true, false}, told); diff != "" {
			t.Error(diff)
		}
	})
}
