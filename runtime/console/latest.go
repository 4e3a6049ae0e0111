package console

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// longestLook bounds a look for pages that are open.
const longestLook = 5 * time.Second

// places are those of pages that are told of changes.
type places struct{ taken atomic.Int32 }

// join takes the place of a page, until leave is called.
func (p *places) join() (leave func(), err error) {
	if p.taken.Add(1) > mostOpen {
		p.taken.Add(-1)
		return nil, errOpen
	}
	return sync.OnceFunc(func() { p.taken.Add(-1) }), nil
}

// latest has the last look at something for all pages together that are open: every lookEvery, and more seldom where a
// look takes longer than a tenth of that.
type latest[T any] struct {
	mu    sync.Mutex
	seen  T
	err   error
	until time.Time // until when that is shown
}

// shared returns the last look, or looks anew.
func (l *latest[T]) shared(ctx context.Context, look func(context.Context) (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	began := time.Now()
	if began.Before(l.until) {
		return l.seen, l.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestLook) // others wait for it, too
	defer cancel()
	l.seen, l.err = look(ctx)
	ended := time.Now()
	l.until = ended.Add(max(lookEvery, 10*ended.Sub(began)))
	return l.seen, l.err
}
