package execution_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An attempt ends as it has ended, although what is said of it cannot be written, or not in full.
func TestEndsThatCannotBeEncoded(t *testing.T) {
	percent := func(p float64) func(*execution.Run) *execution.Failure {
		return func(run *execution.Run) *execution.Failure {
			run.Progress(execution.Progress{Percentage: &p, Message: "going on"})
			return nil
		}
	}
	x, word := strings.Repeat("x", 500), strings.Repeat("語", 166) // 500 and 498 bytes
	message := func(text string) func(*execution.Run) *execution.Failure {
		return func(run *execution.Run) *execution.Failure {
			run.Progress(execution.Progress{Message: text})
			return nil
		}
	}
	for name, test := range map[string]struct {
		do      func(*execution.Run) *execution.Failure
		want    execution.State
		message string
	}{
		"a percentage that is no number":   {percent(math.NaN()), execution.Completed, "going on"},
		"an infinite percentage":           {percent(math.Inf(1)), execution.Completed, "going on"},
		"a message cut between characters": {message(x + "x"), execution.Completed, x},
		"a message cut within a character": {message(word + "語語"), execution.Completed, word},
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

// A function that goes on after the error of a step does not complete an execution whose steps were not done.
func TestSwallowedPause(t *testing.T) {
	for name, test := range map[string]struct {
		begun time.Duration // before the attempt is to end
		end   func(t *testing.T, e *execution.Engine, stop func(), id string)
		want  execution.State
		steps int
	}{
		"when the worker ends between two steps": {
			time.Second / 2, func(_ *testing.T, _ *execution.Engine, stop func(), _ string) { stop() },
			execution.Completed, 3,
		},
		"when the worker ends and the last step takes too long": {
			5 * time.Second / 2, func(_ *testing.T, _ *execution.Engine, stop func(), _ string) { stop() },
			execution.Completed, 3,
		},
		"when it is cancelled": {
			time.Second / 2, func(t *testing.T, e *execution.Engine, _ func(), id string) {
				if _, err := e.Cancel(t.Context(), ann, id, ""); err != nil {
					t.Error(err)
				}
			}, execution.Cancelled, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(map[string]bool)
				o := execution.Options{Store: new(store.Memory), Drain: time.Second / 10, Logger: slog.New(slog.DiscardHandler)}
				o.Operations = map[string]*execution.Operation{
					"work": {Durable: true, Do: func(ctx context.Context, r *execution.Run) ([]byte, *execution.Failure) {
						for _, name := range []string{"a", "b", "c"} {
							_, _ = r.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
								if sleepFor(ctx, time.Second) != nil {
									return nil, ctx.Err()
								}
								done[name] = true
								return []byte("1"), nil
							})
						}
						return []byte("1"), nil
					}},
				}
				ctx, stop := context.WithCancel(t.Context())
				first, err := execution.New(o)
				if err != nil {
					t.Fatal(err)
				}
				over := make(chan error)
				go func() { over <- first.Work(ctx) }()
				synctest.Wait()
				r, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(test.begun)
				test.end(t, first, stop, r.ID)
				time.Sleep(time.Minute)
				stop()
				if err := <-over; err != nil {
					t.Error(err)
				}
				second := engines(t, 1, o.Store, o)[0]
				if got := ended(t, second, r.ID); got.State != test.want || len(done) != test.steps {
					t.Errorf("%s with %d steps done; want %s with %d", got.State, len(done), test.want, test.steps)
				}
			})
		})
	}
}

// endStore counts the records that are written over one that has ended. Writing an end takes a second.
type endStore struct {
	store.Store
	ended atomic.Bool
	after atomic.Int32
}

func (s *endStore) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	state, _ := stateIn(key, value)
	if state != "" && s.ended.Load() {
		s.after.Add(1)
	}
	if state.Terminal() {
		time.Sleep(time.Second)
	}
	version, err := s.Store.Put(ctx, key, value, old, ttl)
	if err == nil && state.Terminal() {
		s.ended.Store(true)
	}
	return version, err
}

// The end is the last that an attempt writes, although its progress is told while that is written.
func TestProgressAtTheEnd(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			in := &endStore{Store: new(store.Memory)}
			all := engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{
				"work": {Durable: true, Do: func(_ context.Context, r *execution.Run) ([]byte, *execution.Failure) {
					go func() {
						time.Sleep(time.Second / 2)
						r.Progress(execution.Progress{Message: "late"})
					}()
					return []byte("1"), nil
				}},
			}})
			r, err := all[0].Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
			if err != nil {
				t.Fatal(err)
			}
			got := ended(t, all[0], r.ID)
			time.Sleep(time.Minute)
			if n := in.after.Load(); got.State != execution.Completed || n != 0 {
				t.Fatalf("%s, and written %d times after that", got.State, n)
			}
		})
	}
}

// An attempt whose time is over begins no step, whatever it makes of its context, and does not complete without one.
func TestStepsBehindTheTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		work time.Duration // behind which the attempt wants its step
		step bool
		want execution.State
	}{
		"it has done its step in time":                   {0, true, execution.Completed},
		"it asks for no step afterwards":                 {2 * time.Second, false, execution.Completed},
		"it asks for one afterwards":                     {2 * time.Second, true, execution.Failed},
		"it was given up and asks for one a while later": {time.Minute, true, execution.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late := false
				e := engines(t, 1, new(store.Memory), execution.Options{Operations: map[string]*execution.Operation{
					"work": {Durable: true, Timeout: time.Second, Do: func(
						ctx context.Context, run *execution.Run,
					) ([]byte, *execution.Failure) {
						began := time.Now()
						time.Sleep(test.work)
						if test.step {
							_, _ = run.Step(context.WithoutCancel(ctx), "a", func(context.Context) ([]byte, error) {
								late = time.Since(began) > time.Second
								return nil, nil
							})
						}
						return []byte("1"), nil
					}},
				}})[0]
				synctest.Wait()
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				end := ended(t, e, r.ID)
				time.Sleep(2 * time.Minute)
				if end.State != test.want || late {
					t.Errorf("it is %s, and a step was done behind its time: %t", end.State, late)
				}
			})
		})
	}
}
