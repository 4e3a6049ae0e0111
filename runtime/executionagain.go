package aql

import (
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// startsAgain is a request to start an execution again, as the gate sees it: people are asked about what it runs, and
// what they confirm is that.
type startsAgain struct {
	*request
	runs *request // with the parameters of the execution
}

// asked returns what people are asked about for a request to start an execution again; nil: it is any other request, or
// it starts nothing. Then an approval of it counts for nothing that it starts later.
func (e *executions) asked(ctx context.Context, x *exchange, q *request) gate.Params {
	if q.operation.definition.Name != gen.RetryExecution || !q.operation.gated() {
		return nil
	}
	ctx, cancel := x.checkpoint.gate.Bound(ctx)
	defer cancel()
	r, err := e.engine.Get(ctx, CallerOf(ctx).Key(), textOfJSON(q.Value("execution_id")))
	if err != nil {
		return nil
	}
	o := x.view.directory.operations[r.Operation]
	if o == nil {
		return nil
	}
	params, err := e.engine.Params(ctx, r)
	if err != nil {
		return nil
	}
	runs, invalid := e.adapter.requestOf(ctx, o, params)
	if invalid != nil {
		return nil
	}
	return &startsAgain{q, runs}
}

// Canonical returns what a confirmation is bound to: the execution, and what it runs.
func (s *startsAgain) Canonical() []byte {
	canonical := append(s.request.Canonical(), s.runs.operation.definition.Name...)
	return append(canonical, s.runs.Canonical()...)
}

// Asked returns a question with that of the operation in it, and the parameters of the execution behind its id, with
// the name of the operation before theirs.
func (s *startsAgain) Asked() (message string, params []byte) {
	definition := &s.runs.operation.definition
	message = "Start operation '" + definition.Name + "' (danger: " + string(definition.Danger) + ") again?"
	own, of := s.runs.Asked()
	if own != "" {
		message += "\n" + own
	}
	if len(definition.Reasons) > 0 {
		message += "\nWhy it is dangerous: " + strings.Join(definition.Reasons, "; ")
	}
	w := wire.NewWriter(nil)
	w.BeginObject()
	_, id := s.request.Asked()
	writeMembers(w, "", id)
	writeMembers(w, definition.Name+".", of)
	w.EndObject()
	return message, w.Bytes()
}

// writeMembers writes the members of an object with something before their names.
func writeMembers(w *wire.Writer, before string, object []byte) {
	r := wire.NewReader(string(object), wire.Limits{})
	r.Object()
	for r.NextUnchecked() {
		name := r.Name()
		w.KeyEscaped(before + name)
		w.Raw(r.Raw())
	}
}
