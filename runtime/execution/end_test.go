package execution_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An attempt ends as it has ended, although what is said of it cannot be written.
func TestEndsThatCannotBeEncoded(t *testing.T) {
	percent := func(p float64) func(*execution.Run) *execution.Failure {
		return func(run *execution.Run) *execution.Failure {
			run.Progress(execution.Progress{Percentage: &p, Message: "going on"})
			return nil
		}
	}
	for name, test := range map[string]struct {
		do      func(*execution.Run) *execution.Failure
		want    execution.State
		message string
	}{
		"a percentage that is no number": {percent(math.NaN()), execution.Completed, "going on"},
		"an infinite percentage":         {percent(math.Inf(1)), execution.Completed, "going on"},
		"details that are no JSON": {func(*execution.Run) *execution.Failure {
			return &execution.Failure{Code: "INTERNAL_ERROR", Message: "x", Details: json.RawMessage("{")}
		}, execution.Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := engines(t, 1, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
					"work": {Durable: true, Do: func(_ context.Context, r *execution.Run) ([]byte, *execution.Failure) {
						return []byte("1"), test.do(r)
					}},
				}})
				r, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				got := ended(t, all[0], r.ID)
				if got.State != test.want || got.Attempt != 1 {
					t.Errorf("%s at attempt %d; want %s at the first", got.State, got.Attempt, test.want)
				}
				if test.message != "" && (got.Progress == nil || got.Progress.Message != test.message) {
					t.Errorf("progress %+v lacks the message %q", got.Progress, test.message)
				}
			})
		})
	}
}
