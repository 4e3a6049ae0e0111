package execution_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// What others have for an execution is released and nothing of it stays, although whoever ends it dies behind the
// change of its record.
func TestEndsThatAreInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name, operation string
		want            execution.State
		end             func(ctx context.Context, e *execution.Engine, id string) error
	}{
		{"cancelled while a person is asked", "ask", execution.Cancelled,
			func(ctx context.Context, e *execution.Engine, id string) error {
				_, err := e.Cancel(ctx, ann, id, "")
				return err
			}},
		{"completed elsewhere", "outside", execution.Completed,
			func(ctx context.Context, e *execution.Engine, id string) error {
				_, err := e.Complete(ctx, ann, id, []byte("1"))
				return err
			}},
		{"silent elsewhere", "outside", execution.Failed,
			func(ctx context.Context, e *execution.Engine, id string) error {
				time.Sleep(25 * time.Minute) // no walk comes first
				_, err := e.Get(ctx, ann, id)
				return err
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := new(store.Memory)
				released := 0
				o := execution.Options{
					Store: in, Ended: func(context.Context, *execution.Record) error { released++; return nil },
					Operations: map[string]*execution.Operation{
						"outside": {Outside: true, Keep: time.Hour},
						"ask": {
							Durable: true, Keep: time.Hour,
							Decided: func(context.Context, *execution.Record) ([]byte, error) { return nil, nil },
							Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
								_, err := run.Await(ctx, execution.FromPerson, "what",
									func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
										return nil, execution.Waiting{Until: time.Now().Add(48 * time.Hour), Ref: "r"}, nil
									})
								return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
							},
						},
					},
				}
				live := engines(t, 1, in, o)[0]
				synctest.Wait()
				r, err := live.Start(t.Context(), execution.Start{
					Operation: tt.operation, CallerKey: ann, Once: "key", Silence: 25 * time.Minute,
				})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				process := &deadly{Store: in} // it is killed behind the write of its end
				o.Store = behindState(process, tt.want, process.die)
				o.Ended = func(context.Context, *execution.Record) error { return errDead }
				dying, err := execution.New(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.end(t.Context(), dying, r.ID); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if now, err := live.Get(t.Context(), ann, r.ID); err != nil || now.State != tt.want || released == 0 {
					t.Errorf("%+v, %v; what others have was released %d times", now, err, released)
				}
				time.Sleep(3 * time.Hour)
				entries, err := in.List(t.Context(), "exec/", "", 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range entries {
					if strings.Contains(entry.Key, r.ID) || strings.Contains(string(entry.Value), r.ID) {
						t.Errorf("left: %s %s", entry.Key, entry.Value)
					}
				}
			})
		})
	}
}

// An execution is kept after its end although whoever ends it is suspended for longer than that when it has begun.
func TestEndsThatAreSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &hooked{Store: new(store.Memory)}
		e := newEngine(t, slow, map[string]*execution.Operation{"agent": {Outside: true, Keep: 10 * time.Minute}})
		r, err := e.Start(t.Context(), execution.Start{Operation: "agent", CallerKey: ann, Silence: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		slow.after = func(op, key string, _ []byte) error {
			if op == "put" && strings.Contains(key, "/w/r") {
				time.Sleep(11 * time.Minute)
			}
			return nil
		}
		if _, err := e.Complete(t.Context(), ann, r.ID, []byte("1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if r, err := e.Get(t.Context(), ann, r.ID); err != nil || r.State != execution.Completed {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
