package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// What is wrong with a command about executions.
var (
	errNoExecutions = errors.New("there is no state here that keeps executions")
	errNoExecution  = errors.New("there is no such execution, or it has been forgotten; list those that there are with: " +
		"operator executions")
	errStatus = errors.New("-status is one of: " + strings.Join(statuses(), ", "))
)

// statuses are the states of executions, as -status names them.
func statuses() []string {
	var names []string
	for _, state := range []execution.State{
		execution.Pending, execution.Running, execution.Paused, execution.Retrying, execution.Completed, execution.Failed,
		execution.Cancelled,
	} {
		names = append(names, string(state))
	}
	return names
}

// errLeft leaves to the workers of the adapter what follows from the end of an execution: they know what it has asked.
var errLeft = errors.New("the workers of the adapter clean up")

// engine returns what reads and cancels the executions of the adapter. It runs none.
func (d *Desk) engine() (*execution.Engine, error) {
	if d.Kept == nil {
		return nil, errNoExecutions
	}
	dispatcher, _ := d.Kept.(execution.Dispatcher)
	engine, err := execution.New(execution.Options{
		Store: d.Kept, Dispatcher: dispatcher, Name: d.Program, Keys: d.Keys, Now: d.Now,
		Logger: slog.New(slog.DiscardHandler),
		Ended:  func(context.Context, *execution.Record) error { return errLeft },
	})
	if err != nil {
		return nil, fmt.Errorf("opening the executions: %w", err)
	}
	return engine, nil
}

// mostListed is the most that -first can be, and standardListed its default.
const mostListed, standardListed = 1000, 50

// executions lists executions, or shows the one with an ID.
func (d *Desk) executions(ctx context.Context, f Flags, ids []string) error {
	if f.Status != "" && !slices.Contains(statuses(), f.Status) {
		return errStatus
	}
	engine, err := d.engine()
	if err != nil {
		return err
	}
	if len(ids) == 1 {
		return d.showExecution(ctx, f, engine, ids[0])
	}
	first := f.First
	if first == 0 {
		first = standardListed
	}
	page, err := engine.ListAll(ctx, execution.Query{
		State: execution.State(f.Status), Operation: f.Operation, First: first, After: f.After,
	})
	if err != nil {
		return fmt.Errorf("listing executions: %w", err)
	}
	next := ""
	if page.More {
		next = page.End
	}
	if f.JSON {
		list := executionList{Executions: []executionDocument{}, Next: next}
		for _, r := range page.Records {
			list.Executions = append(list.Executions, documentOf(engine, r))
		}
		return d.printDocument(list)
	}
	table := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range page.Records {
		fmt.Fprintln(table, d.executionLine(r))
	}
	switch {
	case next != "":
		fmt.Fprintf(table, "There may be more: -after %s\n", words.Printable(next))
	case len(page.Records) == 0:
		fmt.Fprintln(table, "There are no such executions.")
	}
	return table.Flush()
}

// executionLine is an execution in one line, with tabs between its columns.
func (d *Desk) executionLine(r *execution.Record) string {
	columns := []string{
		r.ID, string(r.State), r.Operation, "by " + desk.Name(callerOf(r)), d.ago(r.Created),
	}
	switch {
	case r.Failure != nil && r.State == execution.Failed:
		columns = append(columns, r.Failure.Code)
	case r.State.Terminal():
	case r.Cancel:
		columns = append(columns, "is to end")
	case r.State == execution.Paused && r.Waiting != nil:
		columns = append(columns, "waits for "+whom(r.Waiting))
	default:
		columns = append(columns, progressText(r.Progress))
	}
	for i := range columns {
		columns[i] = words.Printable(columns[i])
	}
	return strings.TrimRight(strings.Join(columns, "\t"), "\t")
}

// ago is how long ago something was.
func (d *Desk) ago(at time.Time) string {
	return max(d.now().Sub(at), 0).Round(time.Second).String() + " ago"
}

// whom says whom a paused execution waits for.
func whom(w *execution.Waiting) string {
	if w.From == execution.FromPerson {
		return "an operator"
	}
	return "its caller"
}

// progressText is how far an execution is, in a few words; empty: it does not say.
func progressText(p *execution.Progress) string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Current != nil && p.Total != nil {
		parts = append(parts, fmt.Sprintf("%d of %d", *p.Current, *p.Total))
	} else if p.Percentage != nil {
		parts = append(parts, fmt.Sprintf("%g %%", *p.Percentage))
	}
	if p.Message != "" {
		parts = append(parts, p.Message)
	}
	return strings.Join(parts, ", ")
}

// callerOf returns who has started an execution.
func callerOf(r *execution.Record) identity.Caller {
	var caller identity.Caller
	if json.Unmarshal(r.Caller, &caller) != nil { // written by a later version
		return identity.Caller{}
	}
	return identity.Caller{Subject: caller.Subject, Issuer: caller.Issuer}
}

// showExecution prints everything about one execution but its parameters and its result, which may be confidential.
func (d *Desk) showExecution(ctx context.Context, f Flags, engine *execution.Engine, id string) error {
	r, err := engine.Look(ctx, id)
	if errors.Is(err, execution.ErrNotFound) {
		return errNoExecution
	}
	if err != nil {
		return fmt.Errorf("reading the execution: %w", err)
	}
	document := documentOf(engine, r)
	if err := document.look(ctx, engine, r); err != nil {
		return fmt.Errorf("reading the execution: %w", err)
	}
	if f.JSON {
		return d.printDocument(document)
	}
	return d.writeExecution(d.Stdout, &document)
}
