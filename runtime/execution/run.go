package execution

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Run is an attempt at an execution.
type Run struct {
	engine    *Engine
	operation *Operation
	worker    string // whose attempt it is
	attempt   int
	session   context.Context // of an attached execution; nil: it has none
	leave     func() bool     // makes the end of the session do nothing more
	params    []byte
	ctx       context.Context
	cancel    context.CancelCauseFunc
	bounded   context.Context // ctx for the time of the attempt; nil: it has not begun
	yielding  atomic.Bool     // it is to pause when its step has ended
	pausing   atomic.Bool     // it waits to begin

	slotting sync.Mutex // of what follows
	slotted  bool       // the attempt at an attached execution has a slot

	begun   *Record       // as it was when the attempt was made; what does not change is read there
	writing chan struct{} // has room for whoever writes the record
	record  *Record       // as it was written last; whoever writes has it

	mu        sync.Mutex
	over      bool              // nothing is written any more
	undone    bool              // a step was not done because the attempt is to end, or its time is over
	due       time.Time         // when it goes on
	waiting   *Waiting          // for what it pauses
	answered  bool              // the answer to the last pause is a step
	steps     map[string][]byte // results, by the digest of the name
	stepBytes int
	used      map[string]bool // steps that this attempt has asked for
	warnings  string          // see Warn
	progress  *Progress       // that was not written yet
	written   time.Time       // when progress was
	flushing  *time.Timer
}

// newRun makes an attempt that has not begun. It is cancelled when the session of an attached execution ends.
func (e *Engine) newRun(session context.Context, r *Record) *Run {
	run := &Run{
		engine: e, operation: e.operation(r), worker: r.Worker, attempt: r.Attempt, begun: r, record: r,
		writing: make(chan struct{}, 1), steps: make(map[string][]byte), used: make(map[string]bool),
		session: session, leave: func() bool { return true },
	}
	run.ctx, run.cancel = context.WithCancelCause(context.Background())
	if session != nil {
		run.leave = context.AfterFunc(session, func() { run.cancel(ErrCancelled) })
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[r.ID] = run
	switch {
	case e.worker != r.Worker:
		run.cancel(ErrLost)
	case run.sessionEnded():
		run.cancel(ErrCancelled)
	case e.closing:
		run.yield()
	}
	return run
}

// sessionEnded reports whether the session of an attached execution has ended. The context of an attempt that has ended
// for something else before does not say so.
func (r *Run) sessionEnded() bool { return r.session != nil && r.session.Err() != nil }

// ID returns the identifier of the execution.
func (r *Run) ID() string { return r.begun.ID }

// Attempt returns the number of the attempt, from 1 on.
func (r *Run) Attempt() int { return r.attempt }

// TakenOver reports whether the worker of the attempt before is gone.
func (r *Run) TakenOver() bool { return r.begun.Lost > 0 }

// Params returns the parameters of the execution.
func (r *Run) Params() []byte { return r.params }

// Caller returns Start.Caller.
func (r *Run) Caller() []byte { return r.begun.Caller }

// Origin returns where the execution was started: Start.Origin.
func (r *Run) Origin() string { return r.begun.Origin }

// Key returns a text that is the same for a name at every attempt at the execution, and another one for every other
// execution: what other systems take as an idempotency key.
func (r *Run) Key(name string) string { return digest(r.begun.ID, name) }

// Stopped returns why the attempt is to end; nil: it is not. The function of the operation need not say why it fails
// then.
func (r *Run) Stopped() error {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, ErrLost), errors.Is(cause, ErrCancelled), errors.Is(cause, ErrPaused):
		return cause
	default:
		return nil
	}
}

// ending returns why no step is begun any more: Stopped, or that the time of the attempt is over; nil: one may be.
func (r *Run) ending() error {
	cause := context.Cause(r.bounded)
	if errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return r.Stopped()
}

// yield makes the attempt end because the worker does: a durable execution at its next step, an attached one now.
func (r *Run) yield() {
	if !r.operation.Durable {
		r.cancel(ErrCancelled)
		return
	}
	r.yielding.Store(true)
}

// carryOutHere makes an attempt at an attached execution after a while.
func (e *Engine) carryOutHere(run *Run, after time.Duration) {
	e.spawn(func() {
		if after > 0 && e.pause(run, after) != nil {
			run.carryOut() // it ends at once
			return
		}
		run.takeSlot()
		defer run.leaveSlot()
		run.carryOut()
	})
}

// takeSlot waits for a slot for an attempt at an attached execution that has none, unless it is to end.
func (r *Run) takeSlot() {
	r.slotting.Lock()
	defer r.slotting.Unlock()
	if r.slotted || r.ctx.Err() != nil {
		return
	}
	select {
	case r.engine.slots <- struct{}{}:
		r.slotted = true
	case <-r.ctx.Done():
	}
}

// leaveSlot gives the slot of an attempt at an attached execution to others, if it has one.
func (r *Run) leaveSlot() {
	r.slotting.Lock()
	defer r.slotting.Unlock()
	if r.slotted {
		<-r.engine.slots
		r.slotted = false
		r.engine.nudge()
	}
}

// carryOut makes the attempt and writes what came of it. It returns when the function of the operation has returned.
func (r *Run) carryOut() {
	defer r.cancel(nil)
	defer r.leave()
	result, failed, again := []byte(nil), (*Failure)(nil), false
	returned := make(chan struct{})
	ctx, stop := r.ctx, context.CancelFunc(func() {})
	if r.Stopped() == nil && r.prepare(&failed) {
		if r.operation.Timeout > 0 {
			ctx, stop = context.WithTimeout(ctx, r.operation.Timeout)
		}
		r.bounded = ctx
		go func() {
			defer close(returned)
			defer stop()
			result, failed = r.do(ctx)
		}()
	} else {
		close(returned)
		if again = r.Stopped() == nil && failed == nil; !again && failed == nil {
			failed = interrupted() // which counts where it was cancelled
		}
	}
	select {
	case <-returned:
	case <-ctx.Done():
		grace := time.NewTimer(r.engine.o.Grace)
		defer grace.Stop()
		select {
		case <-returned:
		case <-grace.C:
			r.end(nil, interrupted(), false)
			r.engine.o.Logger.Warn("executions: an attempt does not end although its context has, and is given up",
				"execution", r.ID(), "operation", r.begun.Operation)
			<-returned
			r.withdraw()
			return
		}
	}
	r.end(result, failed, again)
}

// do calls the function of the operation, and makes a panic a failure.
func (r *Run) do(ctx context.Context) (result []byte, failed *Failure) {
	returned := false
	defer func() {
		if v := recover(); v != nil || !returned {
			r.engine.o.Logger.Error("executions: an attempt panicked", "execution", r.ID(), "panic", fmt.Sprint(v))
			result, failed = nil, &Failure{Code: "INTERNAL_ERROR", Message: "Internal error: 'unexpected failure'"}
		}
	}()
	result, failed = r.operation.Do(ctx, r)
	returned = true
	return result, failed
}

// prepare reads what the attempt needs. It returns false where it cannot begin; failed says so where no other can.
func (r *Run) prepare(failed **Failure) bool {
	ctx, done := context.WithTimeout(r.ctx, storeTimeout)
	defer done()
	e := r.engine
	record := r.begun
	if r.begun.Attached && r.begun.State != Running {
		r.attempt++
		written, err := r.write(ctx, false, func(record *Record) {
			if record.State, record.Attempt = Running, r.attempt; record.Started.IsZero() {
				record.Started = e.now()
			}
		})
		if err != nil {
			return false
		}
		record = written
	}
	err := e.takeAnswer(ctx, record)
	if err != nil {
		e.warn(ctx, "executions: keeping an answer failed", err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = record.Waiting != nil && record.Waiting.Answer != nil
	params := r.begun.Params
	err = e.each(ctx, e.root+stepPart+r.begun.ID+"/", func(entry store.Entry) bool {
		if isAside(entry.Key) {
			if r.begun.ParamsAside && lastOf(entry.Key) == paramsEntry {
				params = entry.Value
			}
			return true
		}
		r.steps[lastOf(entry.Key)] = entry.Value
		r.stepBytes += len(entry.Value)
		return true
	})
	if err != nil {
		e.warn(ctx, "executions: reading the steps of one failed", err)
		return false
	}
	if r.begun.Attached {
		return true
	}
	if r.params, err = e.open(r.begun, paramsEntry, params); err == nil && r.begun.ParamsAside && params == nil {
		err = errGone
	}
	if err != nil {
		e.warn(ctx, "executions: one cannot go on", err)
		*failed = interrupted()
		(*failed).Final = true
	}
	return err == nil
}

// write changes the record while it is this attempt's, whoever else changes it meanwhile, and returns it as it is then.
// Behind the last change the attempt writes nothing any more.
func (r *Run) write(ctx context.Context, last bool, change func(*Record)) (*Record, error) {
	r.writing <- struct{}{}
	defer func() {
		if last {
			r.finish()
		}
		<-r.writing
	}()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if r.isOver() {
			return nil, ErrLost
		}
		changed := *r.record
		change(&changed)
		err := r.engine.save(ctx, &changed)
		if err == nil {
			r.record = &changed
			return &changed, nil
		}
		if !errors.Is(err, store.ErrConflict) && sleep(ctx, pause) != nil {
			return nil, err
		}
		now, readErr := r.engine.read(ctx, r.record.ID)
		switch {
		case readErr != nil && ctx.Err() != nil:
			return nil, readErr
		case readErr != nil:
			continue
		case now == nil, now.Worker != r.worker, now.State.Terminal(), now.Attempt != r.record.Attempt:
			r.finish()
			r.cancel(ErrLost)
			return nil, ErrLost
		case now.Cancel:
			r.cancel(ErrCancelled)
		}
		r.record = now
	}
}
