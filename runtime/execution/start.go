package execution

import (
	"context"
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
	// Session ends with the session in which it is started; nil: there is none. An attached execution ends with it.
	Session context.Context
	// Once is a key: of several starts of the caller with one key, the first makes an execution. Empty: none.
	Once string
	// Canonical is what starts with one key must have in common: a form of Params that does not depend on how they are
	// spelled. nil: Params.
	Canonical []byte
	// Silence is for how long nothing may be heard of an execution that is carried out elsewhere. Default: 30 minutes.
	Silence time.Duration
	Origin  string // for Record.Origin
}

// Start makes an execution, and returns it when it is sure to run. With a key that the caller has used before it
// returns the execution that there is. It fails with ErrTooMany, with ErrNotWorking for an attached execution, with an
// *OnceError where the parameters of the key are others, or where the store fails: then it is unknown whether the
// execution runs.
func (e *Engine) Start(ctx context.Context, s Start) (*Record, error) {
	operation := e.o.Operations[s.Operation]
	if operation == nil {
		return nil, fmt.Errorf("starting an execution: there is no operation %s", s.Operation)
	}
	key, err := e.onceKey(ctx, &s)
	if err != nil {
		return nil, err
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
		Attached: !operation.Durable, Created: now, Due: now, Once: key, Origin: s.Origin,
	}
	var claimed store.Version
	if key != "" {
		known, version, err := e.claimKey(ctx, r, s.canonical())
		if known != nil || err != nil {
			return known, err
		}
		claimed = version
	}
	giveUp := func(err error) (*Record, error) {
		if key != "" {
			_ = e.o.Store.Delete(ctx, e.root+oncePart+key, claimed) // else the next one with the key finds no execution
		}
		return nil, err
	}
	if err := e.takePlace(ctx, r); err != nil {
		return giveUp(err)
	}
	switch {
	case operation.Outside:
		r.Attached = false
		return e.startOutside(ctx, r, s)
	case r.Attached:
		started, err := e.startHere(ctx, r, s)
		if errors.Is(err, ErrNotWorking) {
			return giveUp(err)
		}
		return started, err
	}
	if _, err := e.enqueue(ctx, r); err != nil {
		return nil, err
	}
	if err := e.put(ctx, e.ownerKey(r), ownedBy(r), 0); err != nil {
		return nil, err
	}
	if err := e.keepParams(ctx, r, s.Params); err != nil {
		return nil, err
	}
	if err := e.saveNew(ctx, r); err != nil {
		return nil, err
	}
	e.announce(ctx)
	return r, nil
}

// saveNew writes the record of an execution that is started. Where somebody has buried the execution, it removes what
// the start has made before; walks remove what it leaves. The entry of the queue goes with whoever claims it.
func (e *Engine) saveNew(ctx context.Context, r *Record) error {
	err := e.save(ctx, r)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	if now, readErr := e.read(ctx, r.ID); readErr == nil && now != nil && now.Buried {
		_ = e.leavePlace(ctx, r)
		_ = e.drop(ctx, e.ownerKey(r))
		_ = e.clear(ctx, r.ID, nil)
	}
	return err
}

// startHere makes an attached execution, which only this process runs.
func (e *Engine) startHere(ctx context.Context, r *Record, s *Start) (*Record, error) {
	r.Worker = e.comingWorker(ctx)
	if r.Worker == "" {
		_ = e.leavePlace(ctx, r) // else walks do it
		return nil, ErrNotWorking
	}
	e.activate(r.ID)
	err := e.put(ctx, e.workKey(r.Worker, r.ID), nil, 0)
	if err == nil {
		err = e.put(ctx, e.ownerKey(r), ownedBy(r), 0)
	}
	if err == nil {
		err = e.saveNew(ctx, r)
	}
	if err != nil {
		e.deactivate(r.ID) // so that what is left of it is removed
		return nil, err
	}
	copied := *r
	run := e.newRun(s.Session, &copied)
	run.params = s.Params
	e.carryOutHere(run, 0)
	return r, nil
}

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
