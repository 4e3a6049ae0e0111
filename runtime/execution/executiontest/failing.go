package executiontest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// mode is how a process fails.
type mode int

const (
	never mode = iota
	crashBefore
	crashAfter
	freezeBefore
	freezeAfter
)

// failing is a store as a process sees it that fails at one of its calls: from there on the process does nothing more,
// or nothing until it goes on.
type failing struct {
	store.Store
	mode mode
	at   int // number of the call

	mu   sync.Mutex
	made int
	dead chan struct{} // closed when the process fails
	thaw chan struct{}
	once sync.Once
	over chan struct{} // closed when the scenario is over
}

var errDead = errors.New("the process is dead")

// failed returns a channel that is closed when the process fails.
func (f *failing) failed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deadChannel()
}

func (f *failing) deadChannel() chan struct{} {
	if f.dead == nil {
		f.dead = make(chan struct{})
	}
	return f.dead
}

// goOn lets a frozen process go on.
func (f *failing) goOn() { f.once.Do(func() { close(f.thaw) }) }

func (f *failing) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made
}

// call makes a call, or does not.
func (f *failing) call(do func() error) error {
	f.mu.Lock()
	f.made++
	now, after := f.mode != never && f.made == f.at, f.mode != never && f.made > f.at
	if now {
		close(f.deadChannel())
	}
	f.mu.Unlock()
	switch {
	case !now && !after:
		return do()
	case now && (f.mode == crashAfter || f.mode == freezeAfter):
		err := do()
		if f.mode == crashAfter {
			return errDead
		}
		<-f.thaw
		return err
	case f.mode == crashBefore || f.mode == crashAfter:
		return errDead
	default:
		<-f.thaw
		return do()
	}
}

func (f *failing) Get(ctx context.Context, key string) (entry store.Entry, err error) {
	err = f.call(func() error { entry, err = f.Store.Get(ctx, key); return err })
	return entry, err
}

func (f *failing) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (version store.Version, err error) {
	err = f.call(func() error { version, err = f.Store.Put(ctx, key, value, old, ttl); return err })
	return version, err
}

func (f *failing) Delete(ctx context.Context, key string, old store.Version) error {
	return f.call(func() error { return f.Store.Delete(ctx, key, old) })
}

func (f *failing) List(ctx context.Context, prefix, after string, limit int) (entries []store.Entry, err error) {
	err = f.call(func() error { entries, err = f.Store.List(ctx, prefix, after, limit); return err })
	return entries, err
}

func (f *failing) Take(ctx context.Context, claims []store.Claim) (counts []store.Count, err error) {
	err = f.call(func() error { counts, err = f.Store.Take(ctx, claims); return err })
	return counts, err
}
