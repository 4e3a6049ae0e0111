package execution

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// defaultSilence is the default of Start.Silence.
const defaultSilence = 30 * time.Minute

// silent is the failure of an execution of which nothing was heard.
func silent() *Failure {
	return &Failure{Code: "INTERNAL_ERROR", Message: "Internal error: 'nothing was heard of it'"}
}

// startOutside makes an execution that is carried out elsewhere. It runs.
func (e *Engine) startOutside(ctx context.Context, r *Record, s *Start) (*Record, error) {
	r.State, r.Started, r.Attempt, r.Due = Running, r.Created, 1, time.Time{}
	r.Outside, r.Until = true, e.now().Add(cmp.Or(s.Silence, defaultSilence))
	if err := e.put(ctx, e.ownerKey(r), ownedBy(r), 0); err != nil {
		return nil, err
	}
	if err := e.keepParams(ctx, r, s.Params); err != nil {
		return nil, err
	}
	if err := e.saveNew(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Hear says that an execution of a caller goes on which is carried out elsewhere, and how far it is. Then nothing need
// be heard of it for a while; zero: 30 minutes. It fails with a *StateError where the execution has ended.
func (e *Engine) Hear(
	ctx context.Context, callerKey, id string, silence time.Duration, p *Progress,
) (*Record, error) {
	return e.change(ctx, callerKey, id, e.save, func(r *Record) {
		r.Progress, r.Until = p, e.now().Add(cmp.Or(silence, defaultSilence))
	})
}

// Complete ends an execution of a caller which is carried out elsewhere, with its result. It fails with a *StateError
// where the execution has ended.
func (e *Engine) Complete(ctx context.Context, callerKey, id string, result []byte) (*Record, error) {
	return e.change(ctx, callerKey, id, e.conclude, func(r *Record) {
		r.State, r.Result = Completed, e.seal(r, "result", result)
	})
}

// change changes an execution that is carried out elsewhere, while it runs, and writes that.
func (e *Engine) change(
	ctx context.Context, callerKey, id string, write func(context.Context, *Record) error, change func(*Record),
) (*Record, error) {
	for ctx.Err() == nil {
		r, err := e.Get(ctx, callerKey, id)
		switch {
		case err != nil:
			return nil, err
		case !r.Outside:
			return nil, ErrNotFound
		case r.State.Terminal():
			return r, &StateError{Record: r}
		}
		change(r)
		if err := write(ctx, r); !errors.Is(err, store.ErrConflict) {
			return r, err
		}
	}
	return nil, context.Cause(ctx)
}

// heard fails an execution that is carried out elsewhere and of which nothing was heard for too long. It returns the
// execution as it is then; nil: it is gone.
func (e *Engine) heard(ctx context.Context, r *Record) (*Record, error) {
	for r != nil && r.Outside && !r.State.Terminal() && !e.now().Before(r.Until) {
		e.fail(r, silent())
		err := e.conclude(ctx, r)
		if !errors.Is(err, store.ErrConflict) {
			return r, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if r, err = e.read(ctx, r.ID); err != nil { // it was changed meanwhile
			return nil, err
		}
	}
	return r, nil
}
