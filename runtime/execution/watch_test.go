package execution_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An attached execution that is paused goes on, or ends, as soon as another process has answered, cancelled, or found
// that a person has decided: within the interval in which its process looks for what others have started.
func TestAttachedPausesThatEndElsewhere(t *testing.T) {
	for _, what := range []string{"answer", "cancel", "decision"} {
		for _, tells := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the store tells %v", what, tells), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var decided atomic.Bool
					from := execution.FromCaller
					if what == "decision" {
						from = execution.FromPerson
					}
					in := store.Store(new(store.Memory))
					if !tells {
						in = quiet{in}
					}
					operation := func(decides bool) map[string]*execution.Operation {
						o := &execution.Operation{Do: func(
							ctx context.Context, run *execution.Run,
						) ([]byte, *execution.Failure) {
							answer, err := run.Await(ctx, from, "what",
								func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
									return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
								})
							if err != nil {
								return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
							}
							return answer, nil
						}}
						if decides {
							o.Decided = func(context.Context, *execution.Record) ([]byte, error) {
								if decided.Load() {
									return []byte("1"), nil
								}
								return nil, nil
							}
						}
						return map[string]*execution.Operation{"work": o}
					}
					e := engines(t, 1, in, execution.Options{Operations: operation(false)})[0]
					other := engines(t, 1, in, execution.Options{Operations: operation(true)})[0]
					synctest.Wait()
					r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour + 10*time.Second) // until it is not about to look of itself
					want := execution.Completed
					switch what {
					case "answer":
						_, err = other.Answer(t.Context(), ann, r.ID, "what", []byte("1"))
					case "cancel":
						want = execution.Cancelled
						_, err = other.Cancel(t.Context(), ann, r.ID, "")
					default:
						decided.Store(true)
					}
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * time.Second)
					if now, err := e.Get(t.Context(), ann, r.ID); err != nil || now.State != want {
						t.Errorf("it is %s, want %s: %v", now.State, want, err)
					}
					time.Sleep(10 * time.Second)
					if queued, taken, _, err := e.Outstanding(t.Context()); queued+taken != 0 || err != nil {
						t.Errorf("%d are queued and %d taken: %v", queued, taken, err)
					}
				})
			})
		}
	}
}

// An answer that was there before the pause which waits for it counts at once, although nothing tells of it afterwards.
func TestAnswersBeforeThePause(t *testing.T) {
	for _, durable := range []bool{true, false} {
		t.Run(fmt.Sprintf("durable %v", durable), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engines(t, 1, new(store.Memory), execution.Options{
					Decisions: func(context.Context) <-chan struct{} { return make(chan struct{}) },
					Undecided: func(context.Context) ([]string, error) { return []string{"another one"}, nil },
					Operations: map[string]*execution.Operation{"work": {
						Durable: durable,
						Decided: func(context.Context, *execution.Record) ([]byte, error) { return []byte("1"), nil },
						Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
							answer, err := run.Await(ctx, execution.FromPerson, "what",
								func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
									return nil, execution.Waiting{Until: time.Now().Add(time.Hour), Ref: "one"}, nil
								})
							if err != nil {
								return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
							}
							return answer, nil
						},
					}},
				})[0]
				synctest.Wait()
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if now, err := e.Get(t.Context(), ann, r.ID); err != nil || now.State != execution.Completed {
					t.Errorf("it is %s: %v", now.State, err)
				}
			})
		})
	}
}

// What panics while it looks for a decision ends neither the process nor the search for those about other executions.
func TestDecidedPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		e := engines(t, 1, new(store.Memory), execution.Options{
			Logger: slog.New(slog.NewTextHandler(&logged, nil)),
			Operations: map[string]*execution.Operation{"work": {
				Durable: true,
				Decided: func(_ context.Context, r *execution.Record) ([]byte, error) {
					if string(r.Caller) == "bad" {
						panic("no votes")
					}
					return []byte("1"), nil
				},
				Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
					answer, err := run.Await(ctx, execution.FromPerson, "what",
						func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
							return nil, execution.Waiting{Until: time.Now().Add(time.Hour), Ref: "one"}, nil
						})
					if err != nil {
						return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
					}
					return answer, nil
				},
			}},
		})[0]
		synctest.Wait()
		ids := make(map[string]string)
		for _, caller := range []string{"bad", "good"} {
			r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann, Caller: []byte(caller)})
			if err != nil {
				t.Fatal(err)
			}
			ids[caller] = r.ID
		}
		time.Sleep(5 * time.Minute)
		for caller, want := range map[string]execution.State{"bad": execution.Paused, "good": execution.Completed} {
			if now, err := e.Get(t.Context(), ann, ids[caller]); err != nil || now.State != want {
				t.Errorf("%s is %s, want %s: %v", caller, now.State, want, err)
			}
		}
		synctest.Wait()
		if !strings.Contains(logged.String(), "no votes") {
			t.Errorf("logged: %s", &logged)
		}
	})
}
