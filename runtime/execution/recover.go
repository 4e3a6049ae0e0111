package execution

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// backoff is the default of Options.Backoff.
func backoff(n int) time.Duration {
	pause := min(time.Second<<min(n-1, 16), 5*time.Minute)
	return pause + time.Duration((rand.Float64()-0.5)*0.4*float64(pause))
}

// recover queues the executions that dead workers have left, and those of this one that it is not busy with.
func (e *Engine) recover(ctx context.Context, worker string) {
	prefix := e.root + workPart
	for after := ""; ; {
		// The entries first: whoever has made one of them is on the list of the living, or was.
		const page = 500
		work, err := e.o.Store.List(ctx, prefix, after, page)
		if err != nil || len(work) == 0 {
			return
		}
		living, err := e.living(ctx)
		if err != nil {
			return
		}
		for _, entry := range work {
			owner, id, _ := strings.Cut(entry.Key[len(prefix):], "/")
			if living[owner] && owner != worker {
				continue
			}
			if owner == worker { // it may be about to take it
				if !e.activate(id) {
					continue
				}
				e.recoverOne(ctx, entry, owner, id)
				e.deactivate(id)
				continue
			}
			e.recoverOne(ctx, entry, owner, id)
		}
		after = work[len(work)-1].Key
	}
}

// living returns the workers that are alive.
func (e *Engine) living(ctx context.Context) (map[string]bool, error) {
	living := make(map[string]bool)
	err := e.each(ctx, e.root+alivePart, func(entry store.Entry) bool {
		living[lastOf(entry.Key)] = true
		return true
	})
	return living, err
}

// recoverOne deals with an entry of a worker that does not look after it. The worker may be frozen between two writes,
// and go on after this. So the entry is removed only where the record is as nobody changes it any more, or belongs to a
// worker that lives, or was changed here: then the worker's next write of the record fails.
func (e *Engine) recoverOne(ctx context.Context, entry store.Entry, owner, id string) {
	r, err := e.read(ctx, id)
	if err != nil {
		return
	}
	switch {
	case r == nil: // the maker of an attached execution was about to write it
		if buried, err := e.bury(ctx, id); err != nil || !buried {
			return
		}
	case r.Buried:
	case r.State.Terminal():
		if e.retire(ctx, r) != nil {
			return
		}
		if r.State == Failed && e.save(ctx, r) != nil { // it may be about to be started again
			return
		}
	case r.Worker == "":
		if e.save(ctx, r) != nil || e.persist(ctx, r) != nil {
			return
		}
		if _, err := e.enqueue(ctx, r); err != nil {
			return
		}
		e.nudge()
	default:
		if lives, err := e.lives(ctx, r.Worker, owner); err != nil || !lives && !e.release(ctx, r) {
			return
		}
	}
	_ = e.o.Store.Delete(ctx, entry.Key, entry.Version) // else it is found again
}

// lives reports whether the worker of an execution is alive, where an entry of another one was found. The list of the
// living says so of the owner of the entry only: the worker may have begun since.
func (e *Engine) lives(ctx context.Context, worker, owner string) (bool, error) {
	if worker == owner {
		return false, nil
	}
	entry, err := e.o.Store.Get(ctx, e.root+alivePart+worker)
	return entry.Exists(), err
}

// release takes an execution from its worker, which is dead: a durable one is queued, an attached one ends.
func (e *Engine) release(ctx context.Context, r *Record) bool {
	now, owner := e.now(), r.Worker
	r.Worker = ""
	switch {
	case r.Cancel || r.Attached && r.State == Pending:
		r.State, r.Finished = Cancelled, now
	case r.Attached:
		r.State, r.Finished, r.Failure = Failed, now, interrupted()
	default:
		steps := 0
		err := e.each(ctx, e.root+stepPart+r.ID+"/", func(entry store.Entry) bool {
			if !isAside(entry.Key) {
				steps++
			}
			return true
		})
		if err != nil {
			return false
		}
		if r.Lost++; steps > r.Steps {
			r.Lost, r.Steps = 1, steps
		}
		if r.Due = e.soon(r); r.Lost > e.o.Losses {
			r.State, r.Finished, r.Failure = Failed, now, interrupted()
		}
	}
	if e.save(ctx, r) != nil {
		return false
	}
	e.o.Logger.Info("executions: a worker is gone, and one of its executions was taken over", "execution", r.ID,
		"operation", r.Operation, "worker", owner, "state", r.State)
	if r.State.Terminal() {
		return e.retire(ctx, r) == nil
	}
	if _, err := e.enqueue(ctx, r); err != nil {
		return false
	}
	e.nudge()
	return true
}

// canRetry reports whether an execution can be started again.
func (e *Engine) canRetry(r *Record) bool {
	return r.State == Failed && !r.Attached && r.Again < e.operation(r).Retry
}

// mayRetry reports whether an execution can be started again, as far as this process knows: one that has its operation
// may.
func (e *Engine) mayRetry(r *Record) bool {
	return e.canRetry(r) || r.State == Failed && !r.Attached && !r.Outside && e.o.Operations[r.Operation] == nil
}
