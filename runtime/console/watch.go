package console

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// lookEvery is how often the inbox is looked at while a page is open that shows it; more seldom where a look takes
	// longer than a tenth of that. lookAfter is the time between two looks at least.
	lookEvery, lookAfter = time.Second, 250 * time.Millisecond
	// mostOpen bounds the pages that are told of changes at the same time.
	mostOpen = 64
)

// errOpen says that too many pages are open.
var errOpen = errors.New("too many pages are open")

// watch looks at the inbox for all pages together that are open in browsers. While there is none, it does nothing.
type watch struct {
	*overview

	mu     sync.Mutex
	open   int
	end    context.CancelFunc
	latest *told
}

// told is what the pages are told of. later is closed when there is something else.
type told struct {
	look  *look // nil: nobody has looked yet
	later chan struct{}
}

// join begins to look for a page, until leave is called.
func (w *watch) join() (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == mostOpen {
		return nil, errOpen
	}
	if w.open++; w.open == 1 {
		ctx, end := context.WithCancel(context.Background())
		w.end, w.latest = end, &told{later: make(chan struct{})}
		go w.run(ctx)
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open--; w.open == 0 {
			w.end()
		}
	}), nil
}

// tells returns what the pages are told of last.
func (w *watch) tells() *told {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest
}

// run looks at the inbox until ctx ends.
func (w *watch) run(ctx context.Context) {
	changes := w.inbox.Changes(ctx)
	for {
		began := time.Now()
		seen, err := w.anew(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil { // otherwise pages stay as they are
			w.publish(ctx, seen)
		}
		took := time.Since(began)
		timer := time.NewTimer(max(lookEvery, 10*took))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case _, ok := <-changes:
			if !ok {
				changes = nil
			}
			timer.Reset(max(lookAfter, 10*took))
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
		}
		timer.Stop()
	}
}

// publish tells the pages of a look, unless it is the last one.
func (w *watch) publish(ctx context.Context, seen *look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.latest
	if ctx.Err() != nil || before.look == seen { // another one looks by now, or nothing has changed
		return
	}
	w.latest = &told{seen, make(chan struct{})}
	close(before.later)
}
