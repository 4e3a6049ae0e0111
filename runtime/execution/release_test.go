package execution_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// What others have for an execution is released when it has ended, and not by a worker that comes late, when it was
// started again.
func TestEndedExecutionsAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released []execution.State
		fails, goOn := true, make(chan struct{})
		all := engines(t, 1, new(store.Memory), execution.Options{
			Ended: func(_ context.Context, r *execution.Record) error {
				released = append(released, r.State)
				return nil
			},
			Operations: map[string]*execution.Operation{"work": {
				Durable: true, Retry: 1, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
					if fails {
						return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: "x", Final: true}
					}
					<-goOn
					return []byte("1"), nil
				},
			}},
		})
		r, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		failed := ended(t, all[0], r.ID)
		time.Sleep(time.Minute)
		synctest.Wait()
		before := len(released) // walks may do it again
		if before == 0 || released[before-1] != execution.Failed {
			t.Errorf("when it has failed: %v", released)
		}
		fails = false
		if _, err := all[0].Retry(t.Context(), ann, r.ID); err != nil {
			t.Fatal(err)
		}
		if err := execution.Ended(t.Context(), all[0], failed); err != nil || len(released) != before {
			t.Errorf("by who comes late: %v, %v", released, err)
		}
		close(goOn)
		ended(t, all[0], r.ID)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(released) == before || released[before] != execution.Completed {
			t.Errorf("when it is completed: %v", released)
		}
	})
}
