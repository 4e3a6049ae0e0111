package river

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

func failed(err error) *execution.Failure {
	return &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
}

// newEngine returns an engine whose executions River hands out.
func newEngine(t *testing.T, s *Store, operations map[string]*execution.Operation) *execution.Engine {
	t.Helper()
	e, err := execution.New(execution.Options{
		Store: s, Dispatcher: s, Name: "shop", Operations: operations, Poll: 100 * time.Millisecond,
		Drain:   50 * time.Millisecond,
		Backoff: func(int) time.Duration { return 10 * time.Millisecond },
		Logger:  slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// work lets an engine work until the returned function is called.
func work(t *testing.T, e *execution.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Work(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func begin(t *testing.T, e *execution.Engine, operation string) *execution.Record {
	t.Helper()
	r, err := e.Start(t.Context(), execution.Start{Operation: operation, CallerKey: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until waits for an execution to be as it should.
func until(t *testing.T, e *execution.Engine, r *execution.Record, is func(*execution.Record) bool) *execution.Record {
	t.Helper()
	for !is(r) {
		next, err := e.Wait(t.Context(), "ann", r.ID, r.Version(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if r = next; r.State.Terminal() && !is(r) {
			t.Fatalf("the execution is %+v", r)
		}
	}
	return r
}

func ended(s execution.State) func(*execution.Record) bool {
	return func(r *execution.Record) bool { return r.State == s }
}

// REQ-EL-02: executions sleep, are repeated, are cancelled and fail by River as they do without it.
func TestExecutions(t *testing.T) {
	testExecutions(t, postgrestest.Start(t).Location())
}

// So they do where the server cannot tell of jobs, because a pool assigns its connections by transaction.
func TestExecutionsThroughAPool(t *testing.T) {
	testExecutions(t, postgrestest.Start(t).Bouncer())
}

func testExecutions(t *testing.T, location string) {
	t.Helper()
	s := open(t, location)
	e := newEngine(t, s, map[string]*execution.Operation{
		"nap": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
			if err := run.Sleep(ctx, "nap", 2*time.Second); err != nil {
				return nil, failed(err)
			}
			return fmt.Appendf(nil, "%d", run.Attempt()), nil
		}},
		"flaky": {Durable: true, Retry: 2, Do: func(_ context.Context, run *execution.Run) ([]byte, *execution.Failure) {
			if run.Attempt() < 3 {
				return nil, failed(fmt.Errorf("attempt %d", run.Attempt()))
			}
			return []byte("3"), nil
		}},
		"broken": {Durable: true, Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) {
			panic("out of order")
		}},
		"long": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
			return nil, failed(run.Sleep(ctx, "hour", time.Hour))
		}},
		"attached": {Do: func(context.Context, *execution.Run) ([]byte, *execution.Failure) { return []byte("1"), nil }},
	})
	nap, flaky, broken := begin(t, e, "nap"), begin(t, e, "flaky"), begin(t, e, "broken") // before anybody works
	defer work(t, e)()
	long := begin(t, e, "long")
	if r := until(t, e, nap, ended(execution.Completed)); string(r.Result) != "2" {
		t.Errorf("the execution that sleeps has ended with attempt %s, want 2", r.Result)
	}
	if r := until(t, e, flaky, ended(execution.Completed)); string(r.Result) != "3" {
		t.Errorf("the execution that is repeated has come to %s, want 3", r.Result)
	}
	until(t, e, broken, ended(execution.Failed))
	until(t, e, long, func(r *execution.Record) bool { return r.Attempt == 1 && r.Worker == "" })
	if r, err := e.Cancel(t.Context(), "ann", long.ID, ""); err != nil || r.State != execution.Cancelled {
		t.Errorf("the execution that was cancelled is %+v: %v", r, err)
	}
	until(t, e, begin(t, e, "attached"), ended(execution.Completed))
	held(t, s, "shop", 0)
}

// An engine that is to end hands back what it has, and another one goes on. Nothing is left with River.
func TestHandBack(t *testing.T) {
	location := postgrestest.Start(t).Location()
	one, two := open(t, location), open(t, location)
	reached := make(chan struct{})
	operations := func(hang bool) map[string]*execution.Operation {
		return map[string]*execution.Operation{"work": {
			Durable: true,
			Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
				var kept []byte
				for i := range 2 {
					text, err := run.Step(ctx, fmt.Sprint(i), func(ctx context.Context) ([]byte, error) {
						if hang && i == 1 {
							close(reached)
							<-ctx.Done()
							return nil, ctx.Err()
						}
						return fmt.Appendf(nil, "%d", run.Attempt()), nil
					})
					if err != nil {
						return nil, failed(err)
					}
					kept = append(kept, text...)
				}
				return kept, nil
			},
		}}
	}
	first, second := newEngine(t, one, operations(true)), newEngine(t, two, operations(false))
	stop := work(t, first)
	r := begin(t, second, "work")
	<-reached
	stop()
	if left, err := two.Held(t.Context(), "shop"); err != nil || len(left) > 0 {
		t.Errorf("River has %+v of an engine that has ended: %v", left, err)
	}
	defer work(t, second)()
	if done := until(t, second, r, ended(execution.Completed)); string(done.Result) != "12" {
		t.Errorf("the steps were done by the attempts %s, want 12", done.Result)
	}
	held(t, two, "shop", 0)
}
