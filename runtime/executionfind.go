package aql

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
)

// foundExecution is what a request finds in place of starting an execution, since one of its key is there.
type foundExecution struct {
	id     string
	record any          // an *execution.Record, of which adapters without executions link nothing
	err    error        // an *execution.OnceError, in place of the record: it was started with other parameters
	reads  gate.Request // as which the request counts
}

// find returns what the key of a request finds, before anybody is asked to confirm it; nil: the request may start an
// execution. A caller who may not read executions without further ado finds nothing.
func (e *executions) find(ctx context.Context, x *exchange, q *request) *foundExecution {
	l := e.operations[q.operation.definition.Name]
	reader := x.view.directory.operations[gen.GetExecution]
	if l == nil || l.Lifecycle.Once == "" || !q.operation.gated() || reader == nil || reader.gate == nil {
		return nil
	}
	key := textOfJSON(q.Value(l.Lifecycle.Once))
	if key == "" {
		return nil
	}
	c := &x.checkpoint
	starts := c.describe(ctx, q.operation)
	starts.RequestID, starts.Params = c.label, q
	refused := c.gate.Judge(&starts)
	if refused != nil && refused.Reason != gate.ConfirmationNeeded && refused.Reason != gate.NothingToType {
		return nil
	}
	bounded, cancel := c.gate.Bound(ctx)
	defer cancel()
	record, err := e.engine.Find(bounded, execution.Start{
		Operation: l.Name, CallerKey: starts.Caller.Key(), Once: key, Canonical: q.seen(),
	})
	var found *foundExecution
	var other *execution.OnceError
	switch {
	case errors.As(err, &other):
		found = &foundExecution{id: other.ID, err: err}
	case err != nil || record == nil: // where the state fails, the gate goes by the same one
		return nil
	default:
		found = &foundExecution{id: record.ID, record: record}
	}
	params, err := json.Marshal(map[string]string{"execution_id": found.id})
	if err != nil {
		return nil
	}
	read, invalid := e.adapter.requestOf(ctx, reader, params)
	if invalid != nil {
		return nil
	}
	found.reads = c.describe(ctx, reader)
	found.reads.RequestID, found.reads.Params = c.label, read
	if c.gate.Judge(&found.reads) != nil {
		return nil
	}
	return found
}

// findRefused is the failure of a request that is refused what its key finds.
func findRefused(refused *gate.Refusal) *Error {
	f := failure("RATE_LIMIT_QUOTA_PAUSE", "Quota pause threshold reached", quotaDetails(refused.Block, true)...)
	return f.WithDetail("hint", "The execution of this key is there; '"+gen.GetExecution+"' says how to go on")
}
