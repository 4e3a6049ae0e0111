package execution_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// Sleeps of an attached execution at the same time take as long as the longest of them, and the execution takes no room
// meanwhile, and one slot before and after, as another one does.
func TestSleepsAtTheSameTime(t *testing.T) {
	for name, leaves := range map[string]bool{"it waits for all": false, "it returns before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sleeps sync.WaitGroup
				var mu sync.Mutex
				running, most := 0, 0
				work := func() {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					running--
				}
				e := engines(t, 1, new(store.Memory), execution.Options{Slots: 1, Operations: map[string]*execution.Operation{
					"sleep": {Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
						for i := range 3 {
							sleeps.Go(func() { _ = run.Sleep(ctx, strconv.Itoa(i), time.Hour) })
						}
						if leaves {
							time.Sleep(time.Minute)
							return nil, nil
						}
						sleeps.Wait()
						work()
						return nil, nil
					}},
					"work": {Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
						work()
						return nil, nil
					}},
				}})[0]
				synctest.Wait()
				start := func(operation string) string {
					r, err := e.Start(t.Context(), execution.Start{Operation: operation, CallerKey: ann})
					if err != nil {
						t.Fatal(err)
					}
					return r.ID
				}
				began := time.Now()
				sleeping := start("sleep")
				time.Sleep(time.Second)
				ended(t, e, start("work"))
				if took := time.Since(began); took > time.Minute {
					t.Errorf("another one has waited for %v", took)
				}
				ended(t, e, sleeping)
				if took := time.Since(began); took > time.Hour+time.Minute {
					t.Errorf("it took %v", took)
				}
				sleeps.Wait()
				last, other := start("work"), start("work")
				ended(t, e, last)
				ended(t, e, other)
				if most != 1 {
					t.Errorf("%d ran at the same time in one slot", most)
				}
			})
		})
	}
}
