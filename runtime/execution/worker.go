package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Work runs executions until ctx ends. It then lets attempts go on to the end of their step, but no longer than
// Options.Drain, hands durable executions back, which another process takes at once, and cancels attached ones. It
// returns an error only where it cannot begin: when the store comes back after a failure, work goes on.
func (e *Engine) Work(ctx context.Context) error {
	if !e.working.CompareAndSwap(false, true) {
		return ErrWorking
	}
	defer e.working.Store(false)
	defer e.rest(e.o.Grace) // of attempts of a worker that was lost
	var receivers []<-chan struct{}
	defer func() { awaitAll(receivers) }()
	for first := true; ; first = false {
		life, err := e.begin(ctx)
		switch {
		case ctx.Err() != nil && life == nil:
			return nil
		case err != nil && first:
			return fmt.Errorf("beginning to work: %w", err)
		case err != nil:
			e.warn(ctx, "executions: the store does not take the worker", err)
			_ = sleep(ctx, e.o.Lease/3) // ctx is looked at above
			continue
		}
		receivers = append(receivers, e.serve(ctx, life))
		if ctx.Err() != nil {
			return nil
		}
	}
}

// life is a worker between its first heartbeat and its last.
type life struct {
	worker  string
	version store.Version
	last    time.Time // when the store was last told that the worker is alive, at the beginning of that
}

// begin makes a new worker. It comes back under a new name after its lease was over: entries of the old name belong to
// whoever finds them.
func (e *Engine) begin(ctx context.Context) (*life, error) {
	if err := e.makeSecret(ctx); err != nil {
		return nil, err
	}
	l := &life{worker: newID("w"), last: time.Now()}
	version, err := e.o.Store.Put(ctx, e.root+alivePart+l.worker, fmt.Appendf(nil, "%d", os.Getpid()), 0, e.lease())
	if err != nil {
		return nil, err
	}
	l.version = version
	e.mu.Lock()
	e.worker, e.closing, e.lastBeat = l.worker, false, l.last
	close(e.begins)
	e.mu.Unlock()
	return l, nil
}

func (e *Engine) lease() time.Duration {
	return max(e.o.Lease.Truncate(time.Millisecond), time.Millisecond)
}

// serve works for one life, and ends it. The channel is closed when the dispatcher has all its jobs back.
func (e *Engine) serve(ctx context.Context, l *life) (received <-chan struct{}) {
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var walking sync.WaitGroup
	walking.Go(func() { e.watches(beating) })
	walking.Go(func() { e.recovers(beating, l.worker) })
	walking.Go(func() { e.walks(beating) }) // not where the heart beats: it may take longer than the lease
	defer walking.Wait()
	defer stop()
	lost := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if !e.beat(beating, l) {
			close(lost)
		}
	}()
	receiving, noMore := context.WithCancel(ctx)
	received = e.receives(receiving, l.worker)
	e.claims(ctx, lost)
	noMore()
	if ctx.Err() != nil {
		e.drain(l.worker)
		awaitAll([]<-chan struct{}{received}) // else others see that the worker is gone, and look after its jobs
	}
	e.mu.Lock()
	e.worker, e.begins = "", make(chan struct{})
	e.mu.Unlock()
	stop()
	<-ended
	e.abandon(l.worker)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	_ = e.o.Store.Delete(bounded, e.root+alivePart+l.worker, l.version) // else it ends with the lease
	return received
}

// claims claims executions until the worker is to end or is lost.
func (e *Engine) claims(ctx context.Context, lost <-chan struct{}) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	news := e.news(looking, queuePart, e.o.Poll)
	var due <-chan time.Time
	skip := &others{keys: make(map[string]bool)}
	for {
		next, err := e.claim(ctx, skip)
		if err != nil && ctx.Err() == nil {
			e.warn(ctx, "executions: looking for some failed", err)
		}
		if due = nil; next > 0 {
			due = time.After(next)
		}
		select {
		case <-ctx.Done():
			return
		case <-lost:
			return
		case <-e.wake:
		case <-news:
			e.readCancellations(ctx, e.name())
		case <-due:
		}
	}
}

// beat tells the store that the worker is alive, until ctx ends. It returns false where the worker is lost: it could
// not tell for two thirds of its lease, so that another one may soon take its executions.
func (e *Engine) beat(ctx context.Context, l *life) bool {
	ticker := time.NewTicker(e.o.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return true
		case <-ticker.C:
		}
		began := time.Now()
		bounded, cancel := context.WithTimeout(ctx, e.o.Lease/3)
		version, err := e.o.Store.Put(bounded, e.root+alivePart+l.worker, fmt.Appendf(nil, "%d", os.Getpid()), l.version,
			e.lease())
		if err == nil {
			l.version, l.last = version, began
			e.mu.Lock()
			e.lastBeat = began
			e.mu.Unlock()
		}
		cancel()
		switch {
		case ctx.Err() != nil:
			return true
		case errors.Is(err, store.ErrConflict) && e.isAlive(ctx, l):
		case errors.Is(err, store.ErrConflict), time.Since(l.last) > e.o.Lease*2/3:
			e.abandon(l.worker)
			e.warn(ctx, "executions: the worker was not heard of for too long; another one goes on", ErrLost)
			return false
		}
	}
}

// Err returns why this process runs no executions just now: ErrNotWorking, or ErrLost where it could not tell the store
// for two thirds of its lease that it is alive; nil: it runs them.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.worker == "":
		return ErrNotWorking
	case time.Since(e.lastBeat) > e.o.Lease*2/3:
		return ErrLost
	}
	return nil
}

// isAlive finds out whether the store made a change of which it did not say so.
func (e *Engine) isAlive(ctx context.Context, l *life) bool {
	if time.Since(l.last) > e.o.Lease*2/3 {
		return false
	}
	bounded, cancel := context.WithTimeout(ctx, e.o.Lease/3)
	defer cancel()
	entry, err := e.o.Store.Get(bounded, e.root+alivePart+l.worker)
	if err != nil || !entry.Exists() {
		return false
	}
	l.version = entry.Version
	return true
}

// abandon ends the attempts of a worker whose name is no longer to be used. They write nothing any more.
func (e *Engine) abandon(worker string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, run := range e.runs {
		if run.worker == worker {
			run.cancel(ErrLost)
		}
	}
}

// drain ends the attempts of a worker that is to end: durable ones at the end of their step or of the time for that.
func (e *Engine) drain(worker string) {
	e.mu.Lock()
	e.closing = true
	for _, run := range e.runs {
		if run.worker == worker {
			run.yield()
		}
	}
	e.mu.Unlock()
	if e.rest(e.o.Drain) {
		return
	}
	e.mu.Lock()
	for _, run := range e.runs {
		if run.worker == worker {
			run.cancel(ErrPaused)
		}
	}
	e.mu.Unlock()
	e.rest(e.o.Grace + storeTimeout)
}

// rest waits until no attempt runs, but no longer than a while.
func (e *Engine) rest(most time.Duration) bool {
	e.mu.Lock()
	if e.tries == 0 {
		e.mu.Unlock()
		return true
	}
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	over := e.idle
	e.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-timer.C:
		return false
	}
}

// readCancellations ends the attempts whose cancellation other processes have asked for. Those that wait to begin, and
// that others have told so, look what has become of their executions.
func (e *Engine) readCancellations(ctx context.Context, worker string) {
	err := e.each(ctx, e.root+askedPart+worker+"/", func(entry store.Entry) bool {
		id := lastOf(entry.Key)
		e.mu.Lock()
		run, beginning := e.runs[id], e.active[id] && e.runs[id] == nil
		e.mu.Unlock()
		switch {
		case strings.HasPrefix(entry.Key, e.lookKey(worker, "")):
			e.notify(id)
		case run != nil:
			run.cancel(ErrCancelled)
		}
		if !beginning {
			e.discard(ctx, entry)
		}
		return true
	})
	if err != nil {
		e.warn(ctx, "executions: looking for cancellations failed", err)
	}
}

func (e *Engine) warn(ctx context.Context, what string, err error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return
	}
	e.o.Logger.LogAttrs(ctx, slog.LevelWarn, strings.TrimSpace(what), slog.Any("error", err))
}
