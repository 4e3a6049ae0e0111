package execution_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// lateDispatcher is a dispatcher that hands out its last job as its receiver ends.
type lateDispatcher struct {
	execution.Dispatcher
	job   execution.Job
	again time.Duration // what the receiver has answered
}

func (d *lateDispatcher) Enqueue(_ context.Context, job execution.Job) (bool, error) {
	d.job = job
	return true, nil
}

func (d *lateDispatcher) Work(ctx context.Context, r execution.Receiver) error {
	<-ctx.Done()
	d.again = r.Do(d.job)
	return nil
}

func (*lateDispatcher) Held(context.Context, string) ([]execution.Held, error) { return nil, nil }

// A worker that is to end takes no job that a dispatcher still hands out: it would have to hand that back at once.
func TestJobsForAWorkerThatEnds(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			d := new(lateDispatcher)
			e, err := execution.New(execution.Options{
				Store: new(store.Memory), Dispatcher: d, Logger: slog.New(slog.DiscardHandler), Operations: nothing,
			})
			if err != nil {
				t.Fatal(err)
			}
			stop := work(t, e)
			synctest.Wait()
			r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // until it is due
			stop()
			if r, err = e.Get(t.Context(), ann, r.ID); err != nil || r.State != execution.Pending || d.again == 0 {
				t.Errorf("it is %s at attempt %d, and handed out again after %v: %v", r.State, r.Attempt, d.again, err)
			}
		})
	}
}
