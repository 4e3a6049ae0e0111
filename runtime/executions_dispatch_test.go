package aql_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/executiontest"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// dispatching is a state that hands out executions itself.
type dispatching struct {
	store.Memory
	executiontest.Queue
	queued atomic.Int32
}

func (d *dispatching) Enqueue(ctx context.Context, job execution.Job) (bool, error) {
	d.queued.Add(1)
	return d.Queue.Enqueue(ctx, job)
}

// REQ-EL-02: a state that can hand out executions does so: those that outlive their session, and no others.
func TestStateHandsOutExecutions(t *testing.T) {
	for name, test := range map[string]struct {
		lifecycle gen.Lifecycle
		queued    int32
	}{
		"a durable execution":   {gen.Lifecycle{Durable: true}, 1},
		"an attached execution": {gen.Lifecycle{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(dispatching)
				s := newShop(t, aql.Options{Name: "shop", State: state}, longOperation("build", test.lifecycle, build))
				defer s.stop()
				started := s.call("ann", "build", `{"target":"x"}`)
				a := s.end("ann", started.Data.ExecutionID)
				if a.Data.Status != "completed" {
					t.Errorf("the execution is %+v", a)
				}
				if got := state.queued.Load(); got != test.queued {
					t.Errorf("%d executions were queued with the state, want %d", got, test.queued)
				}
			})
		})
	}
}
