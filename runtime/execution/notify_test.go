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

// quiet is a store that tells nobody of changes.
type quiet struct{ store.Store }

// What another process has changed is known at once where the store tells, and at the next look where it does not:
// starts, ends, cancellations and answers.
func TestOtherProcessesAreTold(t *testing.T) {
	const poll = 20 * time.Minute // before what is asked of a worker expires
	for name, tt := range map[string]struct {
		open func(s *store.Memory) store.Store
		most time.Duration // of each step
	}{
		"the store tells":         {func(s *store.Memory) store.Store { return s }, time.Second},
		"the store does not tell": {func(s *store.Memory) store.Store { return quiet{s} }, poll},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				engine := func() *execution.Engine {
					e, err := execution.New(execution.Options{
						Store: tt.open(state), Poll: poll, Lease: 24 * time.Hour, Logger: slog.New(slog.DiscardHandler),
						Operations: map[string]*execution.Operation{"work": {
							Durable: true,
							Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
								answer, err := run.Await(ctx, execution.FromCaller, "what",
									func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
										return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
									})
								if err != nil {
									return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
								}
								if string(answer) == "1" {
									return answer, nil
								}
								<-ctx.Done()
								return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
							},
						}},
					})
					if err != nil {
						t.Fatal(err)
					}
					return e
				}
				worker, other := engine(), engine()
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- worker.Work(ctx) }()
				synctest.Wait()
				follow := func(id string, state execution.State) {
					t.Helper()
					began := time.Now()
					r, err := other.Get(ctx, ann, id)
					for err == nil && r.State != state {
						r, err = other.Wait(ctx, ann, id, r.Version(), 10*poll)
					}
					if took := time.Since(began); err != nil || took > 2*tt.most {
						t.Errorf("%s after %v: %v", state, took, err)
					}
				}
				for answer, end := range map[string]execution.State{"1": execution.Completed, "2": execution.Cancelled} {
					r, err := other.Start(ctx, execution.Start{Operation: "work", CallerKey: ann})
					if err != nil {
						t.Fatal(err)
					}
					follow(r.ID, execution.Paused)
					if _, err := other.Answer(ctx, ann, r.ID, "what", []byte(answer)); err != nil {
						t.Fatal(err)
					}
					if answer == "2" {
						for r.Worker == "" {
							if r, err = other.Wait(ctx, ann, r.ID, r.Version(), 10*poll); err != nil {
								t.Fatal(err)
							}
						}
						if _, err := other.Cancel(ctx, ann, r.ID, ""); err != nil {
							t.Fatal(err)
						}
					}
					follow(r.ID, end)
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
