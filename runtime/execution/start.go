package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Start is what an execution is to be made of.
type Start struct {
	Operation string
	CallerKey string // identifies the caller
	Caller    []byte // for Record.Caller
	Params    []byte
	// Session is that in which it is started; empty: none. An attached execution ends with it.
	Session string
	// Once is a key: of several starts of the caller with one key, the first makes an execution. Empty: none.
	Once string
	// Silence is for how long nothing may be heard of an execution that is carried out elsewhere. Default: 30 minutes.
	Silence time.Duration
}

// once is what an entry of a key has.
type once struct{ ID, Params string }

// Start makes an execution, and returns it when it is sure to run. With a key that the caller has used before it
// returns the execution that there is. It fails with ErrTooMany, with ErrNotWorking for an attached execution, with an
// *OnceError where the parameters of the key are others, or where the store fails: then it is unknown whether the
// execution runs.
func (e *Engine) Start(ctx context.Context, s Start) (*Record, error) {
	operation := e.o.Operations[s.Operation]
	if operation == nil {
		return nil, fmt.Errorf("starting an execution: there is no operation %s", s.Operation)
	}
	key := ""
	if s.Once != "" {
		key = digest(s.CallerKey, s.Operation, s.Once)
	}
	const tries = 5
	for range tries {
		r, err := e.start(ctx, operation, &s, key)
		if !errors.Is(err, store.ErrConflict) {
			return r, err
		}
	}
	return nil, fmt.Errorf("starting an execution of %s: %w", s.Operation, store.ErrBusy)
}

// start is one try of Start. It fails with ErrConflict where another process has buried the execution.
func (e *Engine) start(ctx context.Context, operation *Operation, s *Start, key string) (*Record, error) {
	now := e.now()
	r := &Record{
		ID: newID("exec_"), Operation: s.Operation, CallerKey: s.CallerKey, Caller: s.Caller, State: Pending,
		Attached: !operation.Durable, Created: now, Due: now, Once: key,
		Counted: now.Truncate(day).Add(day),
	}
	var claimed store.Version
	if key != "" {
		known, version, err := e.claimKey(ctx, r, s.Params)
		if known != nil || err != nil {
			return known, err
		}
		claimed = version
	}
	counts, err := e.o.Store.Take(ctx, []store.Claim{e.counted(r, 1)})
	if err == nil && counts[0].Refused {
		err = ErrTooMany
	}
	if err != nil {
		if key != "" {
			_ = e.o.Store.Delete(ctx, e.root+oncePart+key, claimed) // else the next one with the key finds no execution
		}
		return nil, err
	}
	switch {
	case operation.Outside:
		r.Attached = false
		return e.startOutside(ctx, r, s)
	case r.Attached:
		return e.startHere(ctx, r, s)
	}
	r.Params = e.seal(r, "params", s.Params)
	if err := e.put(ctx, e.queueKey(r), nil, 0); err != nil {
		return nil, err
	}
	if err := e.put(ctx, e.ownerKey(r), []byte(key), 0); err != nil {
		return nil, err
	}
	if err := e.save(ctx, r); err != nil {
		return nil, err
	}
	e.nudge()
	return r, nil
}

// startHere makes an attached execution, which only this process runs.
func (e *Engine) startHere(ctx context.Context, r *Record, s *Start) (*Record, error) {
	r.Worker = e.name()
	if r.Worker == "" {
		return nil, ErrNotWorking
	}
	e.activate(r.ID)
	err := e.put(ctx, e.workKey(r.Worker, r.ID), nil, 0)
	if err == nil {
		err = e.put(ctx, e.ownerKey(r), []byte(r.Once), 0)
	}
	if err == nil {
		err = e.save(ctx, r)
	}
	if err != nil {
		e.deactivate(r.ID) // so that what is left of it is removed
		return nil, err
	}
	copied := *r
	run := e.newRun(&copied)
	run.params, run.session = s.Params, s.Session
	e.carryOutHere(run, 0)
	return r, nil
}

const day = 24 * time.Hour

// counted is the claim of an execution on the number of those that its caller may have under way. What a crash leaves
// counted is forgotten with the day (UTC), and so is what was started on it and is still under way.
func (e *Engine) counted(r *Record, n int64) store.Claim {
	return store.Claim{Key: e.root + "n/" + digest(r.CallerKey), N: n, Limit: int64(e.o.Most), Ends: r.Counted}
}

// claimKey makes the entry of a key for an execution and returns its version, or returns the execution that has it.
func (e *Engine) claimKey(ctx context.Context, r *Record, params []byte) (*Record, store.Version, error) {
	key := e.root + oncePart + r.Once
	mine, err := json.Marshal(once{r.ID, e.digestOf(params)})
	if err != nil {
		return nil, 0, err
	}
	for pause := time.Millisecond; ; pause *= 2 {
		version, err := e.o.Store.Put(ctx, key, mine, 0, 0)
		if !errors.Is(err, store.ErrConflict) {
			return nil, version, err
		}
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil {
			return nil, 0, err
		}
		if !entry.Exists() {
			continue
		}
		var theirs once
		if err := json.Unmarshal(entry.Value, &theirs); err != nil {
			return nil, 0, fmt.Errorf("reading the key of an execution: %w", err)
		}
		known, err := e.read(ctx, theirs.ID)
		switch {
		case err != nil:
			return nil, 0, err
		case known != nil && !known.Buried && theirs.Params != e.digestOf(params):
			return nil, 0, &OnceError{theirs.ID}
		case known != nil && !known.Buried:
			return known, 0, nil
		case known == nil && pause < mostPatient:
			if err := sleep(ctx, pause); err != nil {
				return nil, 0, err
			}
			continue
		}
		// Its maker is dead, or slow between two writes. If it is slow it must find out that the key is another one's.
		if known == nil {
			buried, err := e.bury(ctx, theirs.ID)
			if err != nil {
				return nil, 0, err
			}
			if !buried {
				continue
			}
		}
		version, err = e.o.Store.Put(ctx, key, mine, entry.Version, 0)
		return nil, version, err // a conflict begins anew
	}
}

// mostPatient is about how long a start waits for another one with its key that has not made its record yet.
const mostPatient = 500 * time.Millisecond

// sleep waits, or returns why ctx has ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
