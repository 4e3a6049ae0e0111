package aql

import (
	"context"
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Overseen is an execution as people see it who look after the adapter, such as in a console. Its parameters, and what
// it and its steps have returned, are no part of it.
type Overseen struct {
	*execution.Record
	Caller Caller
	Agent  string     // the name of the agent whose execution it is; empty: it is none of an agent
	Danger gen.Danger // of its operation; empty: the adapter does not have that
	Item   string     // of the inbox, in which it asks a person; empty: it asks nobody
	// Steps is how many of its steps are done, as long as it can go on. Lists do not have it.
	Steps int
}

// Executions returns executions of all callers, the newest first, and where the next page begins; empty: this is the
// last. CallerKey of the query does not count. It is for people who look after the adapter, and not for agents: no
// policy hides anything from them.
func (a *Adapter) Executions(ctx context.Context, q execution.Query) (page []Overseen, next string, err error) {
	if a.executing == nil {
		return nil, "", nil
	}
	return a.executing.listAll(ctx, q)
}

// Execution returns an execution, whoever's it is, for people who look after the adapter. It fails with
// execution.ErrNotFound where there is none.
func (a *Adapter) Execution(ctx context.Context, id string) (Overseen, error) {
	if a.executing == nil {
		return Overseen{}, execution.ErrNotFound
	}
	return a.executing.look(ctx, id)
}

// CancelExecution ends an execution, whoever's it is, for people who look after the adapter. One that runs is asked to
// end, and may complete meanwhile. It fails with execution.ErrNotFound where there is none, and with an
// *execution.StateError where it has ended. Whoever calls it records that.
func (a *Adapter) CancelExecution(ctx context.Context, id, reason string) error {
	if a.executing == nil {
		return execution.ErrNotFound
	}
	return a.executing.cancelAny(ctx, id, reason)
}

func (e *executions) listAll(ctx context.Context, q execution.Query) (list []Overseen, next string, err error) {
	page, err := e.engine.ListAll(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for _, r := range page.Records {
		list = append(list, e.overseen(ctx, r))
	}
	if page.More {
		next = page.End
	}
	return list, next, nil
}

func (e *executions) look(ctx context.Context, id string) (Overseen, error) {
	r, err := e.engine.Look(ctx, id)
	if err != nil {
		return Overseen{}, err
	}
	o := e.overseen(ctx, r)
	o.Steps, err = e.engine.StepsDone(ctx, id)
	return o, err
}

func (e *executions) cancelAny(ctx context.Context, id, reason string) error {
	r, err := e.engine.Look(ctx, id)
	if err == nil {
		_, err = e.engine.Cancel(ctx, r.CallerKey, id, reason)
	}
	return err
}

// overseen returns an execution with what its record has only in the form of this package.
func (e *executions) overseen(ctx context.Context, r *execution.Record) Overseen {
	of := *r
	of.Params, of.Result = nil, nil
	o := Overseen{Record: &of}
	var by starter
	if json.Unmarshal(r.Caller, &by) == nil { // else nobody knows
		o.Caller = by.Caller
	}
	if operation, ok := e.adapter.definitions.Operation(r.Operation); ok {
		o.Danger = operation.Danger
	}
	if r.Waiting != nil && !r.State.Terminal() {
		o.Item = askedOf(r.Waiting).Item
	}
	if r.Operation != gen.ExecuteAgent || !r.Outside {
		return o
	}
	var start struct {
		Agent string `json:"element_name"`
	}
	params, err := e.engine.Params(ctx, r)
	if err == nil && json.Unmarshal(params, &start) == nil {
		o.Agent = start.Agent
	}
	return o
}
