package executiontest

import (
	"context"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
)

// failingDispatcher is a dispatcher as a process sees it that fails at one of its calls, of the dispatcher or of the
// store: from there on nothing comes back from it, or nothing until it goes on.
type failingDispatcher struct {
	execution.Dispatcher
	failing *failing
}

// Enqueue implements execution.Dispatcher.
func (f *failingDispatcher) Enqueue(ctx context.Context, job execution.Job) (added bool, err error) {
	err = f.failing.call(func() error { added, err = f.Dispatcher.Enqueue(ctx, job); return err })
	return added, err
}

// Held implements execution.Dispatcher.
func (f *failingDispatcher) Held(ctx context.Context, adapter string) (held []execution.Held, err error) {
	err = f.failing.call(func() error { held, err = f.Dispatcher.Held(ctx, adapter); return err })
	return held, err
}

// Drop implements execution.Dispatcher.
func (f *failingDispatcher) Drop(ctx context.Context, held execution.Held) error {
	return f.failing.call(func() error { return f.Dispatcher.Drop(ctx, held) })
}

// Work implements execution.Dispatcher. That a job was handed out and that it has returned are calls, too.
func (f *failingDispatcher) Work(ctx context.Context, r execution.Receiver) error {
	do := r.Do
	r.Do = func(job execution.Job) (again time.Duration) {
		alive := func() error { return nil }
		if f.failing.call(alive) != nil {
			<-f.failing.over // of a dead process nothing returns
			return time.Hour
		}
		again = do(job)
		if f.failing.call(alive) != nil {
			<-f.failing.over
		}
		return again
	}
	return f.Dispatcher.Work(ctx, r)
}

// Queue is a dispatcher in memory.
type Queue struct {
	mu   sync.Mutex
	jobs map[execution.Job]*queued
	news chan struct{} // closed when a job was added
}

type queued struct {
	ready  time.Time
	worker string // empty: it is not held
}

// changed returns a channel that is closed when a job is added. The mutex is held.
func (q *Queue) changed() chan struct{} {
	if q.news == nil {
		q.news, q.jobs = make(chan struct{}), make(map[execution.Job]*queued)
	}
	return q.news
}

// Enqueue implements execution.Dispatcher.
func (q *Queue) Enqueue(_ context.Context, job execution.Job) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed()
	job.Due = job.Due.UTC()
	if q.jobs[job] != nil {
		return false, nil
	}
	q.jobs[job] = &queued{ready: job.Due}
	q.tell()
	return true, nil
}

// tell makes receivers look. The mutex is held.
func (q *Queue) tell() {
	close(q.changed())
	q.news = make(chan struct{})
}

// Work implements execution.Dispatcher.
func (q *Queue) Work(ctx context.Context, r execution.Receiver) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		q.mu.Lock()
		news, now := q.changed(), time.Now()
		for job, is := range q.jobs {
			if job.Adapter == r.Adapter && is.worker == "" && !is.ready.After(now) {
				is.worker = r.Worker
				all.Go(func() { q.hand(r, job) })
			}
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-time.After(r.Poll):
		}
	}
}

// hand hands a job out.
func (q *Queue) hand(r execution.Receiver, job execution.Job) {
	again := r.Do(job)
	q.mu.Lock()
	defer q.mu.Unlock()
	is := q.jobs[job]
	switch {
	case is == nil || is.worker != r.Worker: // it was dropped
	case again == 0:
		delete(q.jobs, job)
	default:
		is.worker, is.ready = "", time.Now().Add(again)
		q.tell()
	}
}

// Held implements execution.Dispatcher.
func (q *Queue) Held(_ context.Context, adapter string) (held []execution.Held, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for job, is := range q.jobs {
		if job.Adapter == adapter && is.worker != "" {
			held = append(held, execution.Held{Job: job, Worker: is.worker})
		}
	}
	return held, nil
}

// Drop implements execution.Dispatcher.
func (q *Queue) Drop(_ context.Context, held execution.Held) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if is := q.jobs[held.Job]; is != nil && is.worker == held.Worker {
		delete(q.jobs, held.Job)
	}
	return nil
}
