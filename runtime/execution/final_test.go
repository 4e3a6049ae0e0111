package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// What has failed for good by one version of the program is not started again by the next one, which would repeat its
// steps; and where the first one allows it, no later version removes them.
func TestVersionsThatRetryOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name         string
		first, later int // Operation.Retry
	}{
		{"the first version does not, and the later one does", 0, 1},
		{"the first version does, and the later one does not", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := new(store.Memory)
				var charged atomic.Int32
				do := func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
					_, _ = run.Step(ctx, "charge", func(context.Context) ([]byte, error) {
						charged.Add(1)
						return []byte("1"), nil
					})
					return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
				}
				version := func(retry int) execution.Options {
					return execution.Options{
						Store: in, Logger: slog.New(slog.DiscardHandler),
						Operations: map[string]*execution.Operation{"work": {Durable: true, Retry: retry, Do: do}},
					}
				}
				first := engines(t, 1, in, version(tt.first))[0]
				synctest.Wait()
				r, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				ended(t, first, r.ID)
				later, err := execution.New(version(tt.later))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := later.Walk(t.Context()); err != nil {
					t.Fatal(err)
				}
				refused := (*execution.StateError)(nil)
				if _, err := later.Retry(t.Context(), ann, r.ID); !errors.As(err, &refused) || later.CanRetry(refused.Record) {
					t.Errorf("the later version starts it again: %v", err)
				}
				if _, err = first.Retry(t.Context(), ann, r.ID); (err == nil) != (tt.first > 0) {
					t.Errorf("the first version: %v", err)
				}
				time.Sleep(time.Minute)
				if charged.Load() != 1 {
					t.Errorf("its step was done %d times", charged.Load())
				}
			})
		})
	}
}
