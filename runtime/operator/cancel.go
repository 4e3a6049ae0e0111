package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Why nothing is cancelled.
var (
	errEnded       = errors.New("nothing is cancelled: the execution has ended already")
	errNoWhy       = errors.New("nothing is cancelled: that needs a reason, of up to 500 bytes, which its caller is told")
	errForeignKeys = errors.New("nothing is cancelled: the execution was written with another state key, or with none; " +
		"give the -state-key of the adapter")
)

// longestWhy bounds the reason of a cancellation in bytes, as cancel_execution does.
const longestWhy = 500

// cancel ends an execution, when the person at the terminal has typed so and why.
func (d *Desk) cancel(ctx context.Context, f Flags, id string) error {
	engine, err := d.engine()
	if err != nil {
		return err
	}
	r, err := d.cancellable(ctx, engine, id)
	if err != nil {
		return err
	}
	document := documentOf(engine, r)
	if err := document.look(ctx, engine, r); err != nil {
		return fmt.Errorf("reading the execution: %w", err)
	}
	t, err := d.dialog("a cancellation is typed")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, false); err != nil {
		return err
	}
	if err := d.person.Ends(); err != nil {
		return err
	}
	if err := d.writeExecution(t, &document); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	typed, err := t.ask(ctx, "\nType cancel to end this execution, whatever it has done until now: ")
	if err == nil && typed != "cancel" {
		err = fmt.Errorf("%w cancel", errNotTyped)
	}
	if err == nil && f.Reason == "" {
		f.Reason, err = t.ask(ctx, "Reason, which its caller is told: ")
	}
	if err != nil {
		return err
	}
	if f.Reason = strings.TrimSpace(f.Reason); f.Reason == "" || len(f.Reason) > longestWhy {
		return errNoWhy
	}
	return d.cancelNow(ctx, f, engine, r)
}

// cancellable returns an execution that has not ended.
func (d *Desk) cancellable(ctx context.Context, engine *execution.Engine, id string) (*execution.Record, error) {
	r, err := engine.Look(ctx, id)
	switch {
	case errors.Is(err, execution.ErrNotFound):
		return nil, errNoExecution
	case err != nil:
		return nil, fmt.Errorf("reading the execution: %w", err)
	case r.State.Terminal():
		return nil, fmt.Errorf("%w: it is %s", errEnded, r.State)
	}
	params, err := engine.Params(ctx, r)
	if err != nil || len(params) > 0 && !json.Valid(params) {
		return nil, errors.Join(errForeignKeys, err)
	}
	return r, nil
}

// cancelNow ends an execution, which is on record before, and says what has become of it.
func (d *Desk) cancelNow(ctx context.Context, f Flags, engine *execution.Engine, r *execution.Record) error {
	params, _ := json.Marshal(map[string]string{"execution_id": r.ID}) // of two texts
	err := d.Audit.Write(ctx, audit.Record{
		Time: d.now(), Event: audit.OperationAllowed, Adapter: d.Program, Operation: gen.CancelExecution,
		Outcome: audit.Allowed, Reason: f.Reason, Rule: "terminal", Caller: d.Who, Parameters: params,
		Identifiers: []string{"execution_id"},
	})
	if err != nil {
		return fmt.Errorf("nothing is cancelled: recording that: %w", err)
	}
	ended, err := engine.Cancel(ctx, r.CallerKey, r.ID, f.Reason)
	var state *execution.StateError
	switch {
	case errors.As(err, &state):
		return fmt.Errorf("%w: it is %s", errEnded, state.Record.State)
	case errors.Is(err, execution.ErrNotFound):
		return errNoExecution
	case err != nil:
		return fmt.Errorf("cancelling the execution: %w", err)
	}
	if f.JSON {
		return d.printDocument(documentOf(engine, ended))
	}
	says := "%s is cancelled. Its caller is told so, and why.\n"
	if !ended.State.Terminal() {
		says = "%s is told to end, and does when it notices. It may also complete until then.\n"
	}
	fmt.Fprintf(d.Stdout, says, words.Printable(r.ID))
	return nil
}
