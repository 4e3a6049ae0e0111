package execution

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// mostWaiting is how many requests may wait for changes.
const mostWaiting = 64

// Follow says for what a request waits.
type Follow struct {
	CallerKey, ID string
	Version       uint64        // that is known
	Most          time.Duration // how long it waits
	// Enough says of each later version whether it ends the wait; nil: the first one does.
	Enough func(r *Record) bool
	// Pause is called before the wait, if there is one, and what it returns after that; nil: nothing is.
	Pause func() (resume func())
}

// Follow returns an execution as soon as it has changed as is asked for, or has ended, or after a while. Where too many
// wait already it returns at once.
func (e *Engine) Follow(ctx context.Context, f Follow) (*Record, error) {
	r, err := e.Get(ctx, f.CallerKey, f.ID)
	if err != nil || f.Most <= 0 || f.ends(r) {
		return r, err
	}
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	default:
		return r, nil
	}
	if f.Pause != nil {
		defer f.Pause()()
	}
	changed, done := e.waiting(f.ID)
	defer done()
	waiting, cancel := context.WithTimeout(ctx, f.Most)
	defer cancel()
	news := e.news(waiting, recordPart+f.ID, e.o.Poll)
	for {
		if r, err = e.Get(ctx, f.CallerKey, f.ID); err != nil || f.ends(r) {
			return r, err
		}
		select {
		case <-waiting.Done():
			return r, ctx.Err()
		case <-changed:
		case <-news:
		}
	}
}

// ends reports whether a version of the execution ends the wait.
func (f *Follow) ends(r *Record) bool {
	if r.Version() == f.Version {
		return r.State.Terminal()
	}
	f.Version = r.Version()
	return r.State.Terminal() || f.Enough == nil || f.Enough(r)
}

// Wait returns an execution as soon as it is no longer at a version, or after a while. Where too many wait already it
// returns at once.
func (e *Engine) Wait(
	ctx context.Context, callerKey, id string, version uint64, most time.Duration,
) (*Record, error) {
	return e.Follow(ctx, Follow{CallerKey: callerKey, ID: id, Version: version, Most: most})
}

// news returns a channel that receives when entries below a part of the keys may have changed: as soon as the store
// says so, if it does, and in intervals.
func (e *Engine) news(ctx context.Context, part string, interval time.Duration) <-chan struct{} {
	changed := make(chan struct{})
	var told <-chan struct{}
	if n, ok := e.o.Store.(store.Notifier); ok {
		told = n.Listen(ctx, e.topic(part))
	}
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			case _, open := <-told:
				if !open {
					told = nil
					ticker.Reset(e.o.Poll)
					continue
				}
			}
			select {
			case <-ctx.Done():
				return
			case changed <- struct{}{}:
			}
		}
	}()
	return changed
}

// tell tells other processes that entries below a part of the keys have changed. It is a hint.
func (e *Engine) tell(ctx context.Context, part string) {
	if n, ok := e.o.Store.(store.Notifier); ok {
		_ = n.Notify(ctx, e.topic(part)) // who is not told looks later
	}
}

// topic is what is notified of a part of the keys.
func (e *Engine) topic(part string) string { return "exec/" + digest(e.root, part) }
