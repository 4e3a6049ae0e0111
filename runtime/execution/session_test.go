package execution_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An attached execution ends with its session, wherever it is just then.
func TestSessionsEndAnyTime(t *testing.T) {
	never := func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
		return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
	}
	for _, tt := range []struct {
		name   string
		within time.Duration   // when the session ends
		at     execution.State // or behind which write
		do     func(ctx context.Context, run *execution.Run) error
	}{
		{name: "while an attempt runs", within: time.Second, do: func(ctx context.Context, _ *execution.Run) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		{name: "while an attempt is about to pause", within: time.Second,
			do: func(ctx context.Context, run *execution.Run) error {
				_, err := run.Await(ctx, execution.FromCaller, "what", never)
				time.Sleep(2 * time.Second) // it cleans up
				return err
			}},
		{name: "behind the write of a pause", at: execution.Paused,
			do: func(ctx context.Context, run *execution.Run) error {
				_, err := run.Await(ctx, execution.FromCaller, "what", never)
				return err
			}},
		{name: "while it is paused", within: time.Minute, do: func(ctx context.Context, run *execution.Run) error {
			_, err := run.Await(ctx, execution.FromCaller, "what", never)
			return err
		}},
		{name: "between two attempts", at: execution.Retrying, do: func(context.Context, *execution.Run) error {
			return context.DeadlineExceeded
		}},
		{name: "before it is made", at: execution.Pending, do: func(context.Context, *execution.Run) error {
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				session, end := context.WithCancel(t.Context())
				defer end()
				in := behindState(new(store.Memory), tt.at, end)
				var worked atomic.Bool
				e := engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{
					"work": {Retry: 1, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
						if err := tt.do(ctx, run); err != nil {
							return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
						}
						worked.Store(true)
						return []byte("1"), nil
					}},
				}})[0]
				synctest.Wait()
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Session: session})
				if err != nil {
					t.Fatal(err)
				}
				if tt.within > 0 {
					time.Sleep(tt.within)
					end()
				}
				time.Sleep(time.Hour)
				now, err := e.Get(t.Context(), ann, r.ID)
				if err != nil {
					t.Fatal(err)
				}
				if now.State != execution.Cancelled || worked.Load() {
					t.Errorf("an hour after its session has ended it is %s, and it worked: %t", now.State, worked.Load())
				}
			})
		})
	}
}

// A session that ends while the call waits for the worker ends the execution before it has begun.
func TestSessionEndsBeforeTheWorkerBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Bool
		e, err := execution.New(execution.Options{
			Store: new(store.Memory), Logger: slog.New(slog.DiscardHandler),
			Operations: map[string]*execution.Operation{
				"work": {Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
					began.Store(true)
					return []byte("1"), nil
				}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		session, end := context.WithCancel(t.Context())
		started := make(chan *execution.Record)
		go func() {
			defer close(started)
			r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Session: session})
			if err != nil {
				t.Error(err)
				return
			}
			started <- r
		}()
		time.Sleep(time.Second)
		end()
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- e.Work(ctx) }()
		if r := <-started; r != nil {
			if now := ended(t, e, r.ID); now.State != execution.Cancelled || began.Load() {
				t.Errorf("it is %s, and it began: %t", now.State, began.Load())
			}
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
