package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Run is an attempt at an execution. A handler whose last parameter is a *Run makes its operation a long-running one:
// a call starts an execution and returns it at once, and the handler runs in the background (MCP-AQL core §8.4).
//
// An attempt may be repeated: because it failed and the operation has retry=, and where the execution is durable
// because its process ended or was lost. The handler then runs again from its beginning. What is done in a Step is not
// done again.
//
// The methods of a nil *Run do nothing, and Step runs its function: so a handler can be called in tests.
type Run struct {
	run    *execution.Run
	turns  *turns
	asking *questions // nil: the operation does not say that it asks
	// observed makes what a step does something that hooks are told of; nil: nobody observes the adapter.
	observed func(do stepFunc) stepFunc

	mutex sync.Mutex
	steps int // that are under way, and have one turn together
}

// ID returns the id of the execution.
func (r *Run) ID() string {
	if r == nil {
		return ""
	}
	return r.run.ID()
}

// Attempt returns the number of the attempt, from 1 on.
func (r *Run) Attempt() int {
	if r == nil {
		return 1
	}
	return r.run.Attempt()
}

// Key returns a text for a name that is the same at every attempt at the execution, and another one for every other
// execution. Give it to systems that take an idempotency key: a step runs again where its process ended before the
// result was kept.
func (r *Run) Key(name string) string {
	if r == nil {
		return name
	}
	return r.run.Key(name)
}

// Progress says how many parts of the work are done, and what is being done. A total of zero is unknown. It may be
// called as often as there is news: agents see it once a second. A message that fails the protocol's leak check is left
// out.
func (r *Run) Progress(done, total int, message string) {
	if r == nil {
		return
	}
	p := execution.Progress{Message: shownProgress(message)}
	if total > 0 {
		p.Current, p.Total = &done, &total
	}
	r.report(p)
}

// Percent says how much of the work is done, from 0 to 100, and what is being done, as Progress does.
func (r *Run) Percent(percentage float64, message string) {
	if r == nil {
		return
	}
	percentage = min(max(percentage, 0), completed)
	r.report(execution.Progress{Percentage: &percentage, Message: shownProgress(message)})
}

// report reports progress that has at least one of its parts (MCP-AQL core §8.4.3).
func (r *Run) report(p execution.Progress) {
	if p.Percentage == nil && p.Current == nil && p.Message == "" {
		return
	}
	r.run.Progress(p)
}

// Sleep pauses the execution. The time begins when the name is slept for the first time, and an attempt that comes by
// again waits for what is left of it. Return the error: a durable execution gives its place to others, and goes on from
// the handler's beginning when the time is over.
func (r *Run) Sleep(ctx context.Context, name string, d time.Duration) error {
	if r == nil {
		return nil
	}
	return r.run.Sleep(ctx, name, d)
}

// enter waits for the turn of a step. A step that begins while another one of the attempt is under way has the turn of
// that: it may be within it.
func (r *Run) enter(ctx context.Context) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.steps == 0 {
		if err := r.turns.enter(ctx, gen.Execute); err != nil {
			return err
		}
	}
	r.steps++
	return nil
}

func (r *Run) leave() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.steps--; r.steps == 0 {
		r.turns.leave(gen.Execute)
	}
}

// stepFunc does what a step does, and returns its result as JSON.
type stepFunc func(ctx context.Context) ([]byte, error)

// Step does something once in an execution: it returns what do returned, and returns it again at every later attempt
// without calling do. A step has a name of its own in the handler. Its result is kept as JSON, of up to 64 KiB; up to
// 1,000 steps and 1 MiB are kept for an execution. An error is not kept.
//
// Where the process ends after do and before its result is kept, do is called again by the next attempt: see Run.Key.
// Under Serialized and ReadConcurrent a step is what runs alone, and not the whole handler. Steps
// of one attempt that run at the same time, or within each other, have one turn.
func Step[T any](ctx context.Context, run *Run, name string, do func(ctx context.Context) (T, error)) (T, error) {
	var result T
	if run == nil {
		return do(ctx)
	}
	once := stepFunc(func(ctx context.Context) ([]byte, error) {
		if err := run.enter(ctx); err != nil {
			return nil, err
		}
		defer run.leave()
		done, err := do(ctx)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(done)
		if err != nil {
			return nil, fmt.Errorf("keeping the result of step %q: %w", name, err)
		}
		return text, nil
	})
	if run.observed != nil {
		once = run.observed(once)
	}
	text, err := run.run.Step(ctx, name, once)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return result, fmt.Errorf("reading the result of step %q: %w", name, err)
	}
	return result, nil
}
