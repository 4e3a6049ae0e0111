package execution

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// backoff is the default of Options.Backoff.
func backoff(n int) time.Duration {
	pause := min(time.Second<<min(n-1, 16), 5*time.Minute)
	return pause + time.Duration((rand.Float64()-0.5)*0.4*float64(pause))
}

// recovery looks for executions that nobody goes on with, as long as a worker lives.
type recovery struct {
	*Engine
	worker string
	astray map[string]bool // jobs of the dispatcher that this worker should have and has not, as it looked last

	cleaning sync.WaitGroup
	rooms    chan struct{} // of those that clean up at the same time
	mu       sync.Mutex
	cleans   map[string]bool // what is being cleaned up, or waits for that
}

// longestCleaning bounds how long it takes to clean up one execution, which has up to a thousand steps.
const longestCleaning = 10 * time.Minute

// recovers looks in every third of the lease until ctx ends. It is not where the heart beats: it may take longer.
func (e *Engine) recovers(ctx context.Context, worker string) {
	v := &recovery{Engine: e, worker: worker, rooms: make(chan struct{}, 4), cleans: make(map[string]bool)}
	defer v.cleaning.Wait()
	ticker := time.NewTicker(e.o.Lease / 3)
	defer ticker.Stop()
	for {
		v.entries(ctx)
		v.jobs(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// entries deals with what dead workers have left, and with what this one is not busy with.
func (v *recovery) entries(ctx context.Context) {
	prefix := v.root + workPart
	for after := ""; ; {
		work, living, err := v.left(ctx, prefix, after)
		if err != nil || len(work) == 0 {
			return
		}
		for _, entry := range work {
			owner, id, _ := strings.Cut(entry.Key[len(prefix):], "/")
			switch {
			case ctx.Err() != nil:
				return
			case v.isCleaning(entry.Key), living[owner] && owner != v.worker:
			case owner != v.worker:
				v.one(ctx, entry, owner, id, func() {})
			case v.activate(id): // else it may be about to take it
				v.one(ctx, entry, owner, id, func() { v.deactivate(id) })
			}
		}
		after = work[len(work)-1].Key
	}
}

// left returns some entries of workers, and the workers that are alive.
func (v *recovery) left(
	ctx context.Context, prefix, after string,
) (work []store.Entry, living map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	// The entries first: whoever has made one of them is on the list of the living, or was.
	const page = 500
	if work, err = v.o.Store.List(ctx, prefix, after, page); err != nil || len(work) == 0 {
		return nil, nil, err
	}
	living, err = v.living(ctx)
	return work, living, err
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

// one deals with an entry of a worker that does not look after it, in a time of its own. The execution goes on first,
// and what belongs to it is written beside that. done is called behind the last write.
//
// The worker may be frozen between two writes, and go on after this. So the entry is removed only where the record is
// as nobody changes it any more, or belongs to a worker that lives, or was changed here: then the worker's next write
// of the record fails.
func (v *recovery) one(ctx context.Context, entry store.Entry, owner, id string, done func()) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r, goesOn := v.goOn(bounded, owner, id)
	if !goesOn {
		done()
		return
	}
	v.clean(ctx, entry.Key, done, func(ctx context.Context) {
		if r == nil || r.Buried || v.belong(ctx, r) == nil {
			_ = v.o.Store.Delete(ctx, entry.Key, entry.Version) // else it is found again
		}
	})
}

// goOn makes somebody go on with an execution, unless it has ended, and returns it as it is then. It returns false
// where that is to be tried again.
func (v *recovery) goOn(ctx context.Context, owner, id string) (*Record, bool) {
	r, err := v.read(ctx, id)
	if err != nil {
		return nil, false
	}
	switch {
	case r == nil: // the maker of an attached execution was about to write it
		buried, err := v.bury(ctx, id)
		return nil, err == nil && buried
	case r.State.Terminal():
		return r, true
	case r.Worker == "":
		if v.save(ctx, r) != nil {
			return nil, false
		}
		if r.Outside { // whoever was about to end it does, or does not
			return r, true
		}
		if _, err := v.enqueue(ctx, r); err != nil {
			return nil, false
		}
		v.nudge()
		return r, true
	}
	lives, err := v.lives(ctx, r.Worker, owner)
	return r, err == nil && (lives || v.release(ctx, r))
}

// belong writes what belongs to an execution as it is to be in its state.
func (v *recovery) belong(ctx context.Context, r *Record) error {
	if !r.State.Terminal() {
		return v.persist(ctx, r)
	}
	err := v.retire(ctx, r)
	if err == nil && r.State == Failed {
		err = v.save(ctx, r) // it may be about to be started again
	}
	return err
}

// clean does what may take long, beside what others wait for. done is called behind it.
func (v *recovery) clean(ctx context.Context, key string, done func(), clean func(context.Context)) {
	v.mu.Lock()
	v.cleans[key] = true
	v.mu.Unlock()
	v.cleaning.Go(func() {
		defer func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			delete(v.cleans, key)
		}()
		defer done()
		select {
		case v.rooms <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-v.rooms }()
		bounded, cancel := context.WithTimeout(ctx, longestCleaning)
		defer cancel()
		clean(bounded)
	})
}

func (v *recovery) isCleaning(key string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cleans[key]
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

// release takes an execution from its worker, which is dead: a durable one is queued, an attached one ends, and is to
// be retired.
func (e *Engine) release(ctx context.Context, r *Record) bool {
	owner := r.Worker
	r.Worker, r.lost = "", true
	switch {
	case r.Cancel || r.Attached && r.State == Pending:
		r.State, r.Finished = Cancelled, e.now()
	case r.Attached:
		e.fail(r, interrupted())
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
			e.fail(r, interrupted())
		}
	}
	if e.save(ctx, r) != nil {
		return false
	}
	e.o.Logger.Info("executions: a worker is gone, and one of its executions was taken over", "execution", r.ID,
		"operation", r.Operation, "worker", owner, "state", r.State)
	if r.State.Terminal() {
		return true
	}
	if _, err := e.enqueue(ctx, r); err != nil {
		return false
	}
	e.nudge()
	return true
}

// fail makes a record that of a failed execution. Whether that can be started again is decided here: what it would go
// on from is removed where it cannot, and another version of the program may have it otherwise.
func (e *Engine) fail(r *Record, failure *Failure) {
	r.State, r.Finished, r.Failure = Failed, e.now(), failure
	elsewhere := e.o.Operations[r.Operation] == nil && !r.Attached && !r.Outside // where the operation is known
	r.Final = !elsewhere && !e.canRetry(r)
}

// canRetry reports whether an execution can be started again.
func (e *Engine) canRetry(r *Record) bool {
	return r.State == Failed && !r.Final && !r.Attached && r.Again < e.operation(r).Retry
}
