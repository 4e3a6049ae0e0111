package aql

import (
	"context"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

// newStageCheckpoint returns a checkpoint with two operations, what it records, and the log to close before reading it.
func newStageCheckpoint(t *testing.T) (c *checkpoint, get, drop *operation, records func() []string) {
	t.Helper()
	get, drop = stageOperation("get_note", "read", gen.Param{Name: "id"}), stageOperation("drop_note", "delete",
		gen.Param{Name: "id"})
	get.definition.Danger, drop.definition.Category = gen.Safe, gen.Delete
	book := new(notebook)
	log := audit.New(audit.Options{Sinks: []audit.Sink{book}})
	g, err := gate.New(gate.Options{Audit: log,
		Now: func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }},
		&gen.Definitions{Name: "notes", Operations: []gen.Operation{get.definition, drop.definition}})
	if err != nil {
		t.Fatal(err)
	}
	get.gate, drop.gate = g.Operation("get_note"), g.Operation("drop_note")
	c = &checkpoint{gate: g, session: g.NewSession(), label: "r1"}
	return c, get, drop, func() []string {
		if err := log.Close(context.Background()); err != nil {
			t.Error(err)
		}
		return book.lines()
	}
}

// A request that the gate holds until it is confirmed, and what is recorded of it.
func TestCheckpoint(t *testing.T) {
	c, _, drop, records := newStageCheckpoint(t)
	q := stageRequest(drop, "id", `"n1"`)
	_, refused := c.admit(t.Context(), q, nil)
	if refused == nil || refused.Reason != gate.ConfirmationNeeded {
		t.Fatalf("refused: %+v", refused)
	}
	q.tokens.Token = refused.Ticket.Token
	if _, refused := c.admit(t.Context(), q, nil); refused != nil {
		t.Fatalf("refused with the token: %+v", refused)
	}
	c.finish(t.Context(), q, quota.Usage{}, NotFound("note", "n1"))
	want := []string{
		`CONFIRMATION_REQUIRED drop_note denied {"id":"n1"}`,
		`TOKEN_ISSUED drop_note success`,
		`TOKEN_VALIDATED drop_note success`,
		`CONFIRMATION_GRANTED drop_note confirmed {"id":"n1"}`,
		`OPERATION_FINISHED drop_note failure reason=NOT_FOUND_RESOURCE`,
	}
	if diff := cmp.Diff(want, records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if c.request.Operation != nil || c.pass.Confirmed {
		t.Errorf("the checkpoint remembers %+v", c.request)
	}
}

// Built-in operations, and those that nothing holds, pass without the gate.
func TestCheckpointUngated(t *testing.T) {
	c, get, _, records := newStageCheckpoint(t)
	for _, o := range []*operation{get, stageOperation("introspect", "read")} {
		q := stageRequest(o)
		if warnings, refused := c.admit(t.Context(), q, nil); warnings != nil || refused != nil {
			t.Errorf("%s: %v, %v", o.definition.Name, warnings, refused)
		}
		c.finish(t.Context(), q, quota.Usage{}, nil)
	}
	if got := records(); len(got) > 0 {
		t.Errorf("recorded: %v", got)
	}
}

// A request that does not reach the gate is recorded if its operation is dangerous, even if another tool reaches that.
func TestCheckpointReject(t *testing.T) {
	c, get, drop, records := newStageCheckpoint(t)
	failed := failure(CodeMissingParam, "")
	for _, q := range []*request{{}, {operation: get}, {operation: drop}, {misrouted: drop}} {
		c.reject(t.Context(), q, failed)
	}
	denied := `OPERATION_DENIED drop_note denied reason=VALIDATION_MISSING_PARAM`
	if diff := cmp.Diff([]string{denied, denied}, records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// The answer of a human counts in place of a token, and a refusal leaves the token useless.
func TestCheckpointAnswer(t *testing.T) {
	c, _, drop, _ := newStageCheckpoint(t)
	q := stageRequest(drop, "id", `"n1"`)
	_, refused := c.admit(t.Context(), q, nil)
	state, err := c.session.Seal(t.Context(), refused.Ticket.Token, Caller{})
	if err != nil {
		t.Fatal(err)
	}
	_, declined := c.admit(t.Context(), q, &Answer{State: state})
	if declined == nil || declined.Reason != gate.Declined {
		t.Errorf("declined: %+v", declined)
	}
	_, late := c.admit(t.Context(), q, &Answer{State: state, Approved: true})
	if late == nil || late.Reason != gate.TokenRefused {
		t.Errorf("approved after it was declined: %+v", late)
	}
}
