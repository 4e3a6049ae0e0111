package aql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/google/go-cmp/cmp"
)

// onlooker writes down what hooks are told of executions and agents.
type onlooker struct {
	mutex  sync.Mutex
	events []string
}

type onlookerKey struct{}

func (o *onlooker) add(format string, args ...any) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.events = append(o.events, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (o *onlooker) all() []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.events
}

func (o *onlooker) hooks() *observe.Hooks {
	return &observe.Hooks{
		Execution: func(_ context.Context, c observe.StateChange) {
			if !strings.HasPrefix(c.Execution, "exec_") {
				o.add("no id: %+v", c)
			}
			o.add("%s: %s to %s, attempt %d, ended %t, took %v", c.Operation, c.From, c.To, c.Attempt, c.Ended, c.Took)
		},
		Origin: func(ctx context.Context) string { return "by " + aql.CallerOf(ctx).Subject },
		Attempt: func(ctx context.Context, a observe.Attempt) (context.Context, func(observe.AttemptEnd)) {
			o.add("attempt %d, started %s", a.Number, a.Origin)
			return context.WithValue(ctx, onlookerKey{}, a.Number), func(e observe.AttemptEnd) {
				o.add("attempt %d ended %s%s", a.Number, e.Code, e.Stopped)
			}
		},
		Step: func(ctx context.Context, s observe.Step) (context.Context, func(observe.StepEnd)) {
			o.add("step of attempt %d within %v", s.Attempt, ctx.Value(onlookerKey{}))
			return nil, func(e observe.StepEnd) { o.add("step ended, failed %t", e.Failed) }
		},
		Directive: func(_ context.Context, d observe.Directive) {
			o.add("directive to %s at %d: continue %t, stopped %t, tier %s", d.Agent, d.Step, d.Continue, d.Stopped, d.Tier)
		},
	}
}

// Each state, attempt and step of an execution is told once; a step that was done before is not told again.
func TestHooksSeeExecutions(t *testing.T) {
	steps := func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
		step := func(name string, err error) error {
			_, err = aql.Step(ctx, run, name, func(context.Context) (int, error) { return 1, err })
			return err
		}
		if err := step("first", nil); err != nil {
			return nil, err
		}
		if run.Attempt() == 1 {
			return nil, step("second", errors.New("not yet"))
		}
		return nil, run.Sleep(ctx, "a while", time.Hour)
	}
	for name, tt := range map[string]struct {
		lifecycle gen.Lifecycle
		run       aql.RunFunc
		cancel    bool
		want      []string
	}{
		"one that is completed": {
			lifecycle: gen.Lifecycle{Durable: true},
			run:       func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil },
			want: []string{
				"build:  to pending, attempt 0, ended false, took 0s",
				"build: pending to running, attempt 1, ended false, took 0s",
				"attempt 1, started by ann", "attempt 1 ended",
				"build: running to completed, attempt 1, ended true, took 0s",
			},
		},
		"one that panics": {
			run: func(context.Context, []any, any, *aql.Run) (any, error) { panic("no") },
			want: []string{
				"build:  to pending, attempt 0, ended false, took 0s",
				"build: pending to running, attempt 1, ended false, took 0s",
				"attempt 1, started by ann", "attempt 1 ended INTERNAL_ERROR",
				"build: running to failed, attempt 1, ended true, took 0s",
			},
		},
		"one that is repeated and sleeps": {
			lifecycle: gen.Lifecycle{Durable: true, Retry: 1},
			run:       steps,
			want: []string{
				"build:  to pending, attempt 0, ended false, took 0s",
				"build: pending to running, attempt 1, ended false, took 0s",
				"attempt 1, started by ann",
				"step of attempt 1 within 1", "step ended, failed false",
				"step of attempt 1 within 1", "step ended, failed true",
				"attempt 1 ended INTERNAL_ERROR",
				"build: running to retrying, attempt 1, ended false, took 0s",
				"build: retrying to running, attempt 2, ended false, took 0s",
				"attempt 2, started by ann", "attempt 2 ended paused",
				"attempt 3, started by ann", "attempt 3 ended",
				"build: running to completed, attempt 3, ended true, took 1h",
			},
		},
		"one that is cancelled": {
			lifecycle: gen.Lifecycle{Durable: true},
			run: func(ctx context.Context, _ []any, _ any, _ *aql.Run) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			cancel: true,
			want: []string{
				"build:  to pending, attempt 0, ended false, took 0s",
				"build: pending to running, attempt 1, ended false, took 0s",
				"attempt 1, started by ann", "attempt 1 ended cancelled",
				"build: running to cancelled, attempt 1, ended true, took 0s",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := new(onlooker)
				s := newShop(t, aql.Options{Name: "shop", Observe: o.hooks()}, longOperation("build", tt.lifecycle, tt.run))
				defer s.stop()
				started := s.call("ann", "build", `{"target":"x"}`)
				synctest.Wait()
				if tt.cancel {
					s.call("ann", "cancel_execution", `{"execution_id":"`+started.Data.ExecutionID+`"}`)
				}
				s.end("ann", started.Data.ExecutionID)
				synctest.Wait() // the state has the end before hooks are told of it
				got := o.all()
				for i := range got {
					if before, _, found := strings.Cut(got[i], "took 1h"); found { // and the pause before the second attempt
						got[i] = before + "took 1h"
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// Each directive is told, within the operation that asked for it, and the agents' executions are.
func TestHooksSeeDirectives(t *testing.T) {
	o := new(onlooker)
	a := newAgents(t, strict(), func(options *aql.Options) { options.Observe = o.hooks() })
	a.start("ann", "bot")
	a.goesOn("a step", a.report("ann", "bot", "read_file x"))
	if r := a.report("ann", "bot", "rm -rf /"); !r.Data.Stopped {
		t.Fatalf("%+v", r)
	}
	a.fails("a report of one that is blocked", "PERMISSION_DENIED", a.report("ann", "bot", "read_file x"))
	want := []string{
		"execute_agent:  to running, attempt 1, ended false, took 0s",
		"directive to bot at 0: continue true, stopped false, tier",
		"directive to bot at 1: continue true, stopped false, tier advisory",
		"directive to bot at 1: continue false, stopped true, tier danger_zone",
	}
	if diff := cmp.Diff(want, o.all()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
