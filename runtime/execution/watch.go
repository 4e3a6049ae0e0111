package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// What a paused execution waits for is not looked up for each of them in turn: one call says about which questions
// nobody has decided, and the entries of the others lead to the executions that go on. Where the store tells of
// changes, that is done when it does, and once a minute; else whenever the worker looks for executions that others have
// started.

// quietLook is how often what is told is looked up all the same.
const quietLook = time.Minute

// watches resumes executions about which people have decided until ctx ends.
func (e *Engine) watches(ctx context.Context) {
	asks := false
	for _, o := range e.o.Operations {
		asks = asks || o.Decided != nil
	}
	if !asks {
		return
	}
	var decided <-chan struct{}
	if e.o.Decisions != nil {
		decided = e.o.Decisions(ctx)
	}
	interval := e.o.Poll
	if decided != nil {
		interval = max(e.o.Poll, quietLook)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		e.lookAtPaused(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case _, open := <-decided:
			if !open {
				decided = nil
				ticker.Reset(e.o.Poll)
			}
		}
	}
}

// lookAtPaused resumes the executions about which people have decided.
func (e *Engine) lookAtPaused(ctx context.Context) {
	var entries []store.Entry
	err := e.each(ctx, e.root+pausePart, func(entry store.Entry) bool {
		entries = append(entries, entry)
		return true
	})
	var open map[string]bool // marks of questions
	if err == nil && len(entries) > 0 && e.o.Undecided != nil {
		var refs []string
		refs, err = e.o.Undecided(ctx)
		open = make(map[string]bool, len(refs))
		for _, ref := range refs {
			open[e.refMark(ref)] = true
		}
	}
	if err != nil {
		e.warn(ctx, "executions: looking for answers failed", err)
		return
	}
	for _, entry := range entries {
		if open[string(entry.Value)] {
			continue
		}
		if e.lookAt(ctx, entry); ctx.Err() != nil {
			return
		}
	}
}

// lookAt resumes the execution of an entry, if it is decided about.
func (e *Engine) lookAt(ctx context.Context, entry store.Entry) {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := e.lookAtQuestion(bounded, entry); err != nil && !errors.Is(err, store.ErrConflict) {
		e.warn(ctx, "executions: looking for the answer to a question failed", err)
	}
}

// lookNow looks for the answer to the question of an execution that has just paused: it may have come before.
func (e *Engine) lookNow(ctx context.Context, r *Record) {
	w := r.Waiting
	if r.State != Paused || w == nil || w.From != FromPerson {
		return
	}
	entry, err := e.o.Store.Get(ctx, e.pauseKey(r.ID, w))
	if err == nil && entry.Exists() { // else it is looked at later
		e.lookAt(ctx, entry)
	}
}

// refMark is what the entry of a question has of Waiting.Ref; empty: nothing.
func (e *Engine) refMark(ref string) string {
	if ref == "" {
		return ""
	}
	return e.mark("question", ref)
}

// lookAtQuestion resumes the execution of an entry, if it is decided about. The entry stays while an attempt runs: that
// may be about to pause.
func (e *Engine) lookAtQuestion(ctx context.Context, entry store.Entry) error {
	id := entry.Key[len(e.root+pausePart):]
	id = id[:max(len(id)-len(lastOf(id))-1, 0)]
	r, err := e.read(ctx, id)
	switch {
	case errors.Is(err, errFormat):
		return nil
	case err != nil:
		return err
	case r != nil && r.unread: // processes that have the key look after it
		return nil
	case r == nil, r.State.Terminal(), r.State == Paused && (r.Waiting == nil || e.pauseKey(id, r.Waiting) != entry.Key):
		e.discard(ctx, entry)
		return nil
	case r.State != Paused:
		return nil
	}
	o := e.operation(r)
	if o.Decided == nil { // another process has the operation
		return nil
	}
	answer, err := decided(ctx, o, r)
	if err != nil || answer == nil {
		return err
	}
	return e.resume(ctx, r, answer)
}

// decided calls Decided, and makes a panic an error: it concerns one execution, and not the process.
func decided(ctx context.Context, o *Operation, r *Record) (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			answer, err = nil, fmt.Errorf("execution %s: panic: %v", r.ID, v)
		}
	}()
	return o.Decided(ctx, r)
}
