package execution

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Dispatcher queues executions and hands them out to workers, in place of the queue in the store. What it does wrong or
// forgets is made good: the record decides whether a job is still to be done, and by whom.
type Dispatcher interface {
	// Enqueue queues a job, which is to be handed out once its time has come. It returns false where the same job is
	// queued or held already.
	Enqueue(ctx context.Context, job Job) (added bool, err error)
	// Work hands out jobs of an adapter to one worker until ctx ends, and returns when those have returned that it has
	// handed out. It fails where it cannot begin.
	Work(ctx context.Context, r Receiver) error
	// Held returns the jobs of an adapter that were handed out and of which nobody has said that they have returned.
	Held(ctx context.Context, adapter string) ([]Held, error)
	// Drop ends a job whose worker will not say that it has returned.
	Drop(ctx context.Context, held Held) error
}

// Job is an execution that is to be attempted. Two are the same where all fields are.
type Job struct {
	Adapter   string // Options.Name
	Execution string
	Due       time.Time // with its nanoseconds
}

// Receiver is a worker to which jobs are handed out.
type Receiver struct {
	Adapter string // whose jobs
	Worker  string // a name that no other receiver has, in whatever process, before or after
	Slots   int    // how many jobs it takes at the same time
	// Poll is how often it is to be looked for jobs of which nothing was told.
	Poll   time.Duration
	Logger *slog.Logger
	// Do returns when a job is done with; a pause other than zero says that it is to be handed out again after that, to
	// whichever worker. The execution may have ended or not.
	Do func(job Job) (again time.Duration)
}

// Held is a job that was handed out.
type Held struct {
	Job
	Worker string // to whom
	Ref    string // of the dispatcher
}

// enqueue queues an execution for when it is due. It returns false where a dispatcher has the job already.
func (e *Engine) enqueue(ctx context.Context, r *Record) (added bool, err error) {
	if e.o.Dispatcher == nil {
		return true, e.put(ctx, e.queueKey(r), nil, 0)
	}
	return e.o.Dispatcher.Enqueue(ctx, Job{Adapter: e.o.Name, Execution: r.ID, Due: r.Due})
}

// announce tells workers that an execution was queued. A dispatcher does so itself.
func (e *Engine) announce(ctx context.Context) {
	if e.o.Dispatcher == nil {
		e.nudge()
		e.tell(ctx, queuePart)
	}
}

// receives takes the jobs that the dispatcher hands out until ctx ends. The channel is closed when none is held then.
func (e *Engine) receives(ctx context.Context, worker string) <-chan struct{} {
	over := make(chan struct{})
	if e.o.Dispatcher == nil {
		close(over)
		return over
	}
	r := Receiver{
		Adapter: e.o.Name, Worker: worker, Slots: e.o.Slots, Poll: e.o.Poll, Logger: e.o.Logger,
		Do: func(job Job) time.Duration { return e.receive(ctx, worker, job) },
	}
	go func() {
		defer close(over)
		for {
			err := e.o.Dispatcher.Work(ctx, r)
			if ctx.Err() != nil {
				return
			}
			e.warn(ctx, "executions: the dispatcher hands out nothing", err)
			_ = sleep(ctx, e.o.Lease/3) // ctx is looked at below
		}
	}()
	return over
}

// awaitAll waits until dispatchers have all their jobs back, but no longer than a while.
func awaitAll(received []<-chan struct{}) {
	timer := time.NewTimer(storeTimeout)
	defer timer.Stop()
	for _, over := range received {
		select {
		case <-over:
		case <-timer.C:
			return
		}
	}
}

// receive makes an attempt at the execution of a job, and returns when it has ended, or in how long the job is to be
// handed out again.
func (e *Engine) receive(ctx context.Context, worker string, job Job) (again time.Duration) {
	key := e.queueKeyOf(job.Execution, job.Due)
	e.hold(key, 1)
	defer e.hold(key, -1)
	if early := job.Due.Sub(e.now()); early > 0 {
		return early
	}
	if ctx.Err() != nil { // a select would choose either of two channels that are ready
		return time.Millisecond
	}
	select {
	case e.slots <- struct{}{}: // attached executions may have them
	case <-ctx.Done():
		return time.Millisecond
	}
	ended := make(chan struct{})
	// The maker of the execution may be about to write the record, and the attempt before in this process may not be over
	// altogether.
	const shortest, longest = 5 * time.Millisecond, 500 * time.Millisecond
	for pause := shortest; ; pause *= 2 {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		claimed := e.attempt(bounded, worker, key, func() { close(ended) })
		cancel()
		switch {
		case claimed == begun:
			<-ended
			return 0
		case claimed == settled:
			<-e.slots
			return 0
		case claimed == elsewhere: // the longer nobody has taken it, the less often it is handed out
			<-e.slots
			return min(max(e.now().Sub(job.Due)/10, e.o.Poll), othersInterval)
		case pause > longest, sleep(ctx, pause) != nil:
			<-e.slots
			return e.o.Poll
		}
	}
}

// hold notes that this process has a job, or has it no longer.
func (e *Engine) hold(key string, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.holding[key] += n; e.holding[key] == 0 {
		delete(e.holding, key)
	}
}

// holds reports whether this process has a job.
func (e *Engine) holds(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holding[key] > 0
}

// jobs queues the executions of jobs anew that dead workers hold and have not taken, and drops the jobs. A job of this
// worker that it does not have may have been handed out just now, so it counts when it is seen again.
func (v *recovery) jobs(ctx context.Context) {
	if v.o.Dispatcher == nil {
		return
	}
	held, living, err := v.held(ctx)
	if err != nil || len(held) == 0 {
		return
	}
	astray := make(map[string]bool)
	for _, h := range held {
		key := v.queueKeyOf(h.Execution, h.Due)
		switch {
		case h.Worker != v.worker && !living[h.Worker]:
			v.job(ctx, h)
		case h.Worker == v.worker && !v.holds(key):
			if astray[key] = true; v.astray[key] {
				v.job(ctx, h)
			}
		}
	}
	v.astray = astray
}

// held returns the jobs that were handed out, and the workers that are alive.
func (v *recovery) held(ctx context.Context) (held []Held, living map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	// The jobs first: whoever holds one is on the list of the living, or was.
	if held, err = v.o.Dispatcher.Held(ctx, v.o.Name); err != nil || len(held) == 0 {
		return nil, nil, err
	}
	living, err = v.living(ctx)
	return held, living, err
}

// job deals with a job that its worker does not look after, in a time of its own. The worker may be frozen, and go on
// after this.
func (v *recovery) job(ctx context.Context, h Held) {
	key := v.queueKeyOf(h.Execution, h.Due)
	if v.isCleaning(key) {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r, err := v.read(bounded, h.Execution)
	switch {
	case err != nil:
		return
	case r == nil: // its maker may be about to write it
		v.reap(bounded, h.Execution)
		return
	case r.queued() && v.queueKey(r) == key:
		if v.requeue(bounded, r) != nil {
			return
		}
	case r.State.Terminal() && !r.Buried:
		v.clean(ctx, key, func() {}, func(ctx context.Context) {
			if v.retire(ctx, r) == nil {
				_ = v.o.Dispatcher.Drop(ctx, h) // else it is found again
			}
		})
		return
	}
	_ = v.o.Dispatcher.Drop(bounded, h) // else it is found again
}

// requeue queues an execution that is queued as another job. The record is changed, so that whoever has the first job
// cannot take the execution. An entry of a worker makes sure that this is done to the end, once it has begun.
func (e *Engine) requeue(ctx context.Context, r *Record) error {
	work := e.workKey(newID("r"), r.ID)
	if err := e.put(ctx, work, nil, 0); err != nil {
		return err
	}
	due := e.soon(r)
	if !due.After(r.Due) {
		due = r.Due.Add(1)
	}
	r.Due = due
	err := e.save(ctx, r)
	switch {
	case errors.Is(err, store.ErrConflict):
		return errors.Join(err, e.drop(ctx, work))
	case err != nil: // it may have been made
		return err
	}
	if _, err := e.enqueue(ctx, r); err != nil {
		return err
	}
	return e.drop(ctx, work)
}
