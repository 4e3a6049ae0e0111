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

// Executions are counted by what they wait for, until they have ended.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		e, err := execution.New(execution.Options{
			Store: new(store.Memory), Logger: slog.New(slog.DiscardHandler), Drain: time.Nanosecond, Slots: 1,
			Operations: map[string]*execution.Operation{
				"wait": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
					<-leave
					return nil, nil
				}},
				"sleep": {Durable: true, Do: func(ctx context.Context, r *execution.Run) ([]byte, *execution.Failure) {
					if r.Sleep(ctx, "a while", time.Hour) != nil {
						return nil, &execution.Failure{Code: "X"}
					}
					return nil, nil
				}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		start := func(operation string) {
			t.Helper()
			if _, err := e.Start(t.Context(), execution.Start{Operation: operation, CallerKey: "ann"}); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(want execution.Load) {
			t.Helper()
			got, err := e.Load(t.Context())
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		}
		expect(execution.Load{})
		start("sleep")
		time.Sleep(time.Minute)
		expect(execution.Load{Due: 1, Oldest: time.Minute}) // nobody works yet
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Work(ctx) }()
		synctest.Wait()
		expect(execution.Load{Later: 1})
		start("wait")
		synctest.Wait()
		start("wait")
		synctest.Wait()
		time.Sleep(time.Second)
		expect(execution.Load{Due: 1, Later: 1, Running: 1, Oldest: time.Second})
		close(leave)
		time.Sleep(2 * time.Hour)
		expect(execution.Load{})
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
