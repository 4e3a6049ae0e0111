package execution

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Load is what the store has of executions that have not ended, in all processes that share it.
type Load struct {
	Due     int // in the queue, and could run now
	Later   int // in the queue for a later time: they sleep, wait for something, or are to be repeated
	Running int // workers have them
	// Oldest is for how long the oldest one of those that are due has been; zero: none is.
	Oldest time.Duration
}

// Load counts executions. What a dispatcher has in its own queue is not counted.
func (e *Engine) Load(ctx context.Context) (l Load, err error) {
	now := e.now()
	err = e.each(ctx, e.root+queuePart, func(entry store.Entry) bool {
		due, known := e.dueOf(entry.Key)
		switch {
		case !known:
		case due.After(now):
			l.Later++
		default:
			l.Due++
			l.Oldest = max(l.Oldest, now.Sub(due))
		}
		return true
	})
	if err != nil {
		return Load{}, err
	}
	err = e.each(ctx, e.root+workPart, func(store.Entry) bool { l.Running++; return true })
	return l, err
}
