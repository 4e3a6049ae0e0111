package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// The bounds of what steps may keep.
const (
	mostSteps      = 1000
	largestStep    = 64 << 10
	largestSteps   = 1 << 20
	longestName    = 200
	longestMessage = 500
)

// Step does something once: what do has returned is kept, and is returned at every later attempt. It runs again where
// the process ended before its result was kept, so do should be fit for that: see Run.Key.
func (r *Run) Step(ctx context.Context, name string, do func(context.Context) ([]byte, error)) ([]byte, error) {
	key, kept, err := r.beginStep(ctx, name)
	if kept != nil || err != nil {
		return kept, err
	}
	value, err := do(ctx)
	if err != nil {
		return nil, r.broken(err)
	}
	return r.keep(ctx, key, name, value)
}

// broken notes that a step has failed while the attempt is to end, which is likely to be why. It returns the error.
func (r *Run) broken(err error) error {
	if err != nil && r.ending() != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.undone = true
	}
	return err
}

// beginStep returns what the step has come to at an earlier attempt; nil: it is to be done.
func (r *Run) beginStep(ctx context.Context, name string) (key string, kept []byte, err error) {
	if name == "" || len(name) > longestName {
		return "", nil, fmt.Errorf("the name of a step has %d bytes; it has 1 to %d", len(name), longestName)
	}
	key = r.engine.stepMark(r.ID(), name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used[key] {
		return "", nil, fmt.Errorf("two steps of the execution are called %q: give each a name of its own", name)
	}
	r.used[key] = true
	if sealed, ok := r.steps[key]; ok {
		kept, err = r.engine.open(r.begun, "step "+name, sealed)
		return key, kept, err
	}
	switch {
	case r.yielding.Load():
		r.cancel(ErrPaused)
	case len(r.steps) >= mostSteps:
		return "", nil, fmt.Errorf("the execution has more than %d steps", mostSteps)
	}
	if r.over { // the attempt was given up, or has returned
		return "", nil, ErrLost
	}
	if cause := r.ending(); cause != nil {
		r.undone = true
		return "", nil, cause
	}
	return key, nil, context.Cause(ctx)
}

// stepMark is by what a step of an execution is known in the store.
func (e *Engine) stepMark(id, name string) string { return e.mark("step", id, name) }

// keep keeps the result of a step. Of two attempts that have done it, one of which is lost, the first to say so counts.
func (r *Run) keep(ctx context.Context, key, name string, value []byte) ([]byte, error) {
	if len(value) > largestStep {
		return nil, fmt.Errorf("step %q returns %d bytes, and %d can be kept: keep the data elsewhere and return where",
			name, len(value), largestStep)
	}
	if value == nil {
		value = []byte("null")
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer done()
	e := r.engine
	sealed := e.seal(r.begun, "step "+name, value)
	at := e.root + stepPart + r.ID() + "/" + key
	r.mu.Lock()
	r.stepBytes += len(sealed)
	total, over := r.stepBytes, r.over
	r.mu.Unlock()
	if total > largestSteps {
		return nil, fmt.Errorf("the steps of the execution return %d bytes, and %d can be kept: keep the data elsewhere",
			total, largestSteps)
	}
	if over {
		return nil, ErrLost
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		_, err := e.o.Store.Put(ctx, at, sealed, 0, 0)
		if errors.Is(err, store.ErrConflict) {
			return r.kept(ctx, at, key, name)
		}
		if err == nil {
			r.mu.Lock()
			r.steps[key] = sealed
			r.mu.Unlock()
			return value, r.heed(ctx, at)
		}
		if waitErr := sleep(ctx, pause); waitErr != nil || errors.Is(r.Stopped(), ErrLost) {
			r.cancel(ErrLost)
			return nil, fmt.Errorf("keeping the result of step %q: %w", name, err)
		}
	}
}

// kept returns the result that the step has in the store.
func (r *Run) kept(ctx context.Context, at, key, name string) ([]byte, error) {
	entry, err := r.engine.o.Store.Get(ctx, at)
	if err == nil && !entry.Exists() { // the execution has ended elsewhere
		r.cancel(ErrLost)
		return nil, ErrLost
	}
	if err != nil {
		return nil, fmt.Errorf("reading the result of step %q: %w", name, err)
	}
	r.mu.Lock()
	r.steps[key] = entry.Value
	r.mu.Unlock()
	return r.engine.open(r.begun, "step "+name, entry.Value)
}

// heed looks whether the execution is still this attempt's. Where it has ended for good elsewhere, the result that was
// just kept counts for nobody; where it can be started again, another attempt may have gone on from it. A result counts
// although the execution is to be cancelled.
func (r *Run) heed(ctx context.Context, at string) error {
	e := r.engine
	now, err := e.read(ctx, r.ID())
	switch {
	case err != nil:
		r.cancel(ErrLost)
		return fmt.Errorf("looking whether execution %s goes on: %w", r.ID(), err)
	case now == nil || now.over():
		_ = e.drop(ctx, at) // else a walk does it
		fallthrough
	case now.Worker != r.worker || now.Attempt != r.attempt:
		r.finish()
		r.cancel(ErrLost)
		return ErrLost
	case now.Cancel:
		r.cancel(ErrCancelled)
	}
	return nil
}

// Sleep pauses the execution for a while, which begins when a name is slept for the first time. A durable execution
// takes no room meanwhile: its attempt ends, and another one begins when it is over. The error is to be returned.
func (r *Run) Sleep(ctx context.Context, name string, d time.Duration) error {
	e := r.engine
	text, err := r.Step(ctx, "sleep "+name, func(context.Context) ([]byte, error) {
		return json.Marshal(e.now().Add(d))
	})
	if err != nil {
		return err
	}
	var until time.Time
	if err := json.Unmarshal(text, &until); err != nil {
		return fmt.Errorf("reading until when %q sleeps: %w", name, err)
	}
	left := until.Sub(e.now())
	switch {
	case left <= 0:
		return nil
	case r.operation.Durable && left > shortSleep:
		r.mu.Lock()
		r.due = until
		r.mu.Unlock()
		r.cancel(ErrPaused)
		return ErrPaused
	case r.operation.Durable:
		err = sleep(ctx, left)
	default:
		r.leaveSlot() // others may run meanwhile
		err = sleep(ctx, left)
		r.takeSlot()
	}
	return r.broken(err)
}

// shortSleep is for what it is not worth to end an attempt.
const shortSleep = 100 * time.Millisecond

// progressInterval is the least time between two writes of the progress.
const progressInterval = time.Second

// Progress says how far the execution is. It may be called as often as there is news: it is written once a second, and
// what came last always is.
func (r *Run) Progress(p Progress) {
	if p.Percentage != nil && (math.IsNaN(*p.Percentage) || math.IsInf(*p.Percentage, 0)) {
		p.Percentage = nil // of nothing at all
	}
	if len(p.Message) > longestMessage { // strings.ToValidUTF8 drops what is cut in two
		p.Message = strings.ToValidUTF8(p.Message[:longestMessage], "")
	}
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.progress = &p
	wait := time.Until(r.written.Add(progressInterval))
	if wait > 0 {
		if r.flushing == nil {
			r.flushing = time.AfterFunc(wait, r.flush)
		}
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	r.flush()
}

// Warn keeps warnings with the execution, in whatever form, if this attempt ends it: in place of those before.
func (r *Run) Warn(warnings string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = warnings
}

// flush writes the progress that was not written yet.
func (r *Run) flush() {
	ctx, done := context.WithTimeout(context.Background(), storeTimeout)
	defer done()
	r.mu.Lock()
	p := r.progress
	r.written, r.flushing = time.Now(), nil
	r.mu.Unlock()
	if p != nil {
		_, _ = r.write(ctx, false, func(record *Record) { record.Progress = p }) // the next one is written, and the last
	}
}
