package execution

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Paused is a state of running: the execution has no attempt until what it waits for is there.
const Paused State = "paused"

// From says whom an execution waits for.
type From string

// Whom executions wait for.
const (
	FromPerson From = "ask"  // Operation.Decided tells what a person has decided
	FromCaller From = "wait" // Engine.Answer brings the answer
)

// Waiting is what a paused execution waits for.
type Waiting struct {
	From  From      `json:"from"`
	Name  string    `json:"name"`
	Again int       `json:"again,omitempty"` // how many answers to it were of no use
	Until time.Time `json:"until"`           // then it goes on without an answer
	About string    `json:"about,omitempty"` // for whoever looks for the answer, and shows what is waited for
	Ref   string    `json:"ref,omitempty"`   // by which Options.Undecided knows what a person is asked; empty: it does not
	// Answer is sealed as the result of the step that it becomes when the next attempt begins.
	Answer []byte `json:"answer,omitempty"`
}

// step is the name of the step that has the answer.
func (w *Waiting) step() string {
	if w.Again > 0 {
		return string(w.From) + " " + w.Name + "\x00" + strconv.Itoa(w.Again)
	}
	return string(w.From) + " " + w.Name
}

// Await returns the answer to what is called name, which is kept as the result of a step is. As long as there is none,
// look finds out what is known: the answer, or what the execution waits for. before is what it has waited for already;
// nil: this is new. Without an answer the attempt ends, and another one begins when there is one, or at Waiting.Until.
// The error is to be returned.
func (r *Run) Await(
	ctx context.Context, from From, name string,
	look func(ctx context.Context, before *Waiting) (answer []byte, next Waiting, err error),
) ([]byte, error) {
	return r.AwaitAgain(ctx, from, name, 0, look)
}

// AwaitAgain is Await after some answers to what is called name were of no use.
func (r *Run) AwaitAgain(
	ctx context.Context, from From, name string, again int,
	look func(ctx context.Context, before *Waiting) (answer []byte, next Waiting, err error),
) ([]byte, error) {
	next := Waiting{From: from, Name: name, Again: again}
	step := next.step()
	key, kept, err := r.beginStep(ctx, step)
	if kept != nil || err != nil {
		return kept, err
	}
	before := r.begun.Waiting
	if before != nil && before.step() != step {
		before = nil
	}
	answer, next, err := look(ctx, before)
	if err != nil {
		return nil, r.broken(err)
	}
	if answer != nil {
		return r.keep(ctx, key, step, answer)
	}
	next.From, next.Name, next.Again = from, name, again
	next.Until = next.Until.UTC().Round(0)
	if from == FromPerson {
		e := r.engine
		if err := e.renew(ctx, e.pauseKey(r.ID(), &next), []byte(e.refMark(next.Ref)), 0); err != nil {
			return nil, r.broken(err)
		}
	}
	r.mu.Lock()
	r.waiting, r.undone = &next, true
	r.mu.Unlock()
	r.cancel(ErrPaused)
	return nil, ErrPaused
}

// pausePart has an entry for each question that a person is asked: <id>/<mark of its step>. Its value is refMark.
const pausePart = "p/"

func (e *Engine) pauseKey(id string, w *Waiting) string {
	return e.root + pausePart + id + "/" + e.mark("pause", id, w.step())
}

// takeAnswer makes the answer that has ended the last pause the result of its step, and removes what the pause has
// left. It may be done again.
func (e *Engine) takeAnswer(ctx context.Context, r *Record) error {
	w := r.Waiting
	if w == nil || w.Answer == nil {
		return nil
	}
	if err := e.put(ctx, e.root+stepPart+r.ID+"/"+e.stepMark(r.ID, w.step()), w.Answer, 0); err != nil {
		return err
	}
	return e.endPause(ctx, r)
}

// endPause removes the entries of the last pause of an execution. It may be done again. It fails with ErrConflict where
// the execution was started again meanwhile, which may wait for the same.
func (e *Engine) endPause(ctx context.Context, r *Record) error {
	w := r.Waiting
	if w == nil {
		return nil
	}
	remove := func(entry store.Entry) error { return e.remove(ctx, entry) }
	paused := *r
	if paused.Due = w.Until; e.queueKey(&paused) != e.queueKey(r) || r.State.Terminal() {
		if err := e.rewriteOne(ctx, r, e.queueKey(&paused), remove); err != nil {
			return err
		}
	}
	if w.From != FromPerson {
		return nil
	}
	return e.rewriteOne(ctx, r, e.pauseKey(r.ID, w), remove)
}

// ended lets go of what others have for an execution that has ended. It may be done again, also late: one that was
// started again meanwhile may need it.
func (e *Engine) ended(ctx context.Context, r *Record) error {
	if e.o.Ended == nil {
		return nil
	}
	if r.State == Failed { // the others are final
		now, err := e.read(ctx, r.ID)
		if err != nil || now != nil && (!now.State.Terminal() || now.Again != r.Again) {
			return err
		}
	}
	return e.o.Ended(ctx, r)
}

// Answer answers what an execution of a caller waits for. It fails with a *StateError where it does not wait for that.
func (e *Engine) Answer(ctx context.Context, callerKey, id, name string, value []byte) (*Record, error) {
	if len(value) > largestStep {
		return nil, errors.New("the answer is larger than a step may return")
	}
	for {
		r, err := e.Get(ctx, callerKey, id)
		if err != nil {
			return nil, err
		}
		if r.State != Paused || r.Waiting == nil || r.Waiting.From != FromCaller || r.Waiting.Name != name {
			return r, &StateError{Record: r, Answer: true}
		}
		if err := e.resume(ctx, r, value); !errors.Is(err, store.ErrConflict) {
			return r, err
		}
	}
}

// resume ends the pause of an execution with an answer. One change of the record does both, so that one answer counts.
// An entry of a worker makes sure that what follows is done to the end.
func (e *Engine) resume(ctx context.Context, r *Record, answer []byte) error {
	work := e.workKey(newID("r"), r.ID)
	if !r.Attached {
		if err := e.put(ctx, work, nil, 0); err != nil {
			return err
		}
	}
	waiting := *r.Waiting
	waiting.Answer = e.seal(r, "step "+waiting.step(), answer)
	r.State, r.Due, r.Waiting = Running, e.soon(r), &waiting
	err := e.save(ctx, r)
	switch {
	case r.Attached && err == nil:
		return e.askToLook(ctx, r.Worker, r.ID)
	case r.Attached:
		return err
	case errors.Is(err, store.ErrConflict):
		return errors.Join(err, e.drop(ctx, work))
	case err != nil: // it may have been made
		return err
	}
	if _, err := e.enqueue(ctx, r); err != nil {
		return err
	}
	e.announce(ctx)
	return e.drop(ctx, work)
}

// pause waits until an attempt at an attached execution begins: for a while, or until what it waits for is there. It
// fails where the attempt is to end.
func (e *Engine) pause(run *Run, after time.Duration) error {
	if run.begun.State == Paused {
		return e.untilResumed(run, run.begun.Due)
	}
	return sleep(run.ctx, after)
}

// untilResumed waits until an attached execution is no longer paused, is due, or is to end.
func (e *Engine) untilResumed(run *Run, due time.Time) error {
	run.pausing.Store(true)
	defer run.pausing.Store(false)
	changed, done := e.waiting(run.ID())
	defer done()
	ctx, stop := context.WithDeadline(run.ctx, time.Now().Add(due.Sub(e.now())))
	defer stop()
	news := e.news(ctx, recordPart+run.ID(), max(e.o.Poll, quietLook)) // the worker is told
	for {
		if r, err := e.read(ctx, run.ID()); err == nil && (r == nil || r.State != Paused) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(run.ctx)
		case <-changed:
		case <-news:
		}
	}
}
