package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// executionList is what operator executions prints with -json.
type executionList struct {
	Executions []executionDocument `json:"executions"`
	// Next is the value of -after for those that follow; absent: there are none.
	Next string `json:"next,omitempty"`
}

// executionDocument is an execution as -json prints it. Names that the protocol has for it are those of the protocol
// (MCP-AQL core §8.4.3).
type executionDocument struct {
	ID        string          `json:"execution_id"`
	Operation string          `json:"operation"`
	Status    execution.State `json:"status"`
	Caller    identity.Caller `json:"caller"`
	// Durable is false for an execution that ends with its session and its process.
	Durable         bool                `json:"durable"`
	Attempt         int                 `json:"attempt"`
	Repeats         int                 `json:"repeats,omitempty"`
	StartedAgain    int                 `json:"started_again,omitempty"`
	WorkersLost     int                 `json:"workers_lost,omitempty"`
	StepsDone       *int                `json:"steps_done,omitempty"` // absent in lists
	Worker          string              `json:"worker,omitempty"`
	WorkerAlive     *bool               `json:"worker_alive,omitempty"` // absent in lists, and where there is no worker
	CreatedAt       time.Time           `json:"created_at"`
	StartedAt       time.Time           `json:"started_at,omitzero"`
	FinishedAt      time.Time           `json:"finished_at,omitzero"`
	DueAt           time.Time           `json:"due_at,omitzero"`     // of a queued one: when its next attempt begins
	ExpiresAt       time.Time           `json:"expires_at,omitzero"` // of one that has ended: when it is forgotten
	CancelRequested bool                `json:"cancel_requested,omitempty"`
	Reason          string              `json:"reason,omitempty"` // of the cancellation
	Progress        *execution.Progress `json:"progress,omitempty"`
	WaitsFor        *waitDocument       `json:"waits_for,omitempty"`
	Error           *execution.Failure  `json:"error,omitempty"`
}

// waitDocument is what a paused execution waits for, as -json prints it.
type waitDocument struct {
	Name     string    `json:"name"`
	From     string    `json:"from"` // operator or caller
	Message  string    `json:"message,omitempty"`
	Approval string    `json:"approval_id,omitempty"` // of the item of the inbox
	Until    time.Time `json:"until"`
}

// documentOf returns what a record says of an execution.
func documentOf(engine *execution.Engine, r *execution.Record) executionDocument {
	e := executionDocument{
		ID: r.ID, Operation: r.Operation, Status: r.State, Caller: callerOf(r), Durable: !r.Attached, Attempt: r.Attempt,
		Repeats: r.Repeats, StartedAgain: r.Again, WorkersLost: r.Lost, Worker: r.Worker, CreatedAt: r.Created,
		StartedAt: r.Started, FinishedAt: r.Finished, ExpiresAt: engine.Expires(r), Progress: r.Progress,
		CancelRequested: r.Cancel && !r.State.Terminal(), Reason: r.Reason, Error: r.Failure,
	}
	if r.State == execution.Failed && r.Failure == nil {
		e.Error = &execution.Failure{Code: "INTERNAL_ERROR", Message: "The failure cannot be read: give the -state-key " +
			"of the adapter"}
	}
	if !r.State.Terminal() && r.Worker == "" && !r.Outside {
		e.DueAt = r.Due
	}
	if w := r.Waiting; w != nil && r.State == execution.Paused {
		var about struct{ Name, Item, Message string }
		_ = json.Unmarshal([]byte(w.About), &about) // of another version: it says nothing
		e.WaitsFor = &waitDocument{Name: w.Name, From: "caller", Message: about.Message, Approval: about.Item, Until: w.Until}
		if about.Name != "" {
			e.WaitsFor.Name = about.Name
		}
		if w.From == execution.FromPerson {
			e.WaitsFor.From = "operator"
		}
	}
	return e
}

// look adds what a record does not have.
func (e *executionDocument) look(ctx context.Context, engine *execution.Engine, r *execution.Record) error {
	steps, err := engine.StepsDone(ctx, r.ID)
	if err != nil {
		return err
	}
	if !r.Outside && (steps > 0 || !r.State.Terminal()) {
		e.StepsDone = &steps
	}
	if r.Worker == "" {
		return nil
	}
	alive, err := engine.WorksStill(ctx, r)
	e.WorkerAlive = &alive
	return err
}

// writeExecution writes everything about an execution for people to read. What others have written is in it with an
// escape for each character that could control the terminal, cannot be seen, or misleads.
func (d *Desk) writeExecution(w io.Writer, e *executionDocument) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s is %s.\n\n", words.Printable(e.ID), words.Printable(string(e.Status)))
	fact := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&out, "  %-11s %s\n", title, words.Printable(text))
		}
	}
	moment := func(title string, at time.Time) {
		if !at.IsZero() {
			fact(title, d.clock(at))
		}
	}
	fact("operation", e.Operation)
	fact("started by", desk.Name(e.Caller)+", "+d.ago(e.CreatedAt))
	if !e.Durable {
		fact("lasts", "as long as the session in which it was started, and its process")
	}
	fact("progress", progressText(e.Progress))
	fact("attempt", e.attempts())
	if e.StepsDone != nil {
		fact("steps", fmt.Sprintf("%d done", *e.StepsDone))
	}
	if e.WorkerAlive != nil {
		state := "alive"
		if !*e.WorkerAlive {
			state = "gone; another one goes on"
		}
		fact("worker", e.Worker+", "+state)
	}
	if e.WaitsFor == nil && e.DueAt.After(d.now()) {
		moment("goes on", e.DueAt)
	}
	if w := e.WaitsFor; w != nil {
		who := "its caller, with answer_execution"
		if w.From == "operator" {
			who = "an operator"
		}
		fact("waits for", who+", until "+d.clock(w.Until))
		for line := range strings.SplitSeq(w.Message, "\n") {
			fact("question", line)
		}
		if w.Approval != "" && w.Approval != "-" {
			fact("to decide", d.Program+" operator approve "+w.Approval)
		}
	}
	moment("began", e.StartedAt)
	moment("ended", e.FinishedAt)
	if e.CancelRequested {
		fact("cancelled", "it is to end, and does when it notices")
	}
	fact("reason", e.Reason)
	if e.Error != nil {
		fact("failed", e.Error.Code+": "+e.Error.Message)
	}
	moment("kept until", e.ExpiresAt)
	_, err := io.WriteString(w, out.String())
	return err
}

// attempts says how often an execution was attempted, and why more than once.
func (e *executionDocument) attempts() string {
	if e.Attempt == 0 {
		return ""
	}
	text := fmt.Sprint(e.Attempt)
	for _, more := range []struct {
		n    int
		what string
	}{
		{e.Repeats, "repeated %d× after a failure"}, {e.StartedAgain, "started again %d×"},
		{e.WorkersLost, "lost %d× with its worker since the last step"},
	} {
		if more.n > 0 {
			text += ", " + fmt.Sprintf(more.what, more.n)
		}
	}
	return text
}

// printDocument prints a value as one line of JSON, with an escape for each character that cannot be seen or misleads.
func (d *Desk) printDocument(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding as JSON: %w", err)
	}
	_, err = fmt.Fprintln(d.Stdout, words.PrintableJSON(string(text)))
	return err
}
