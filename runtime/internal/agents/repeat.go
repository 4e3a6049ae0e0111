package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
)

const (
	// mostRepeated is how often the answer to a report is given again, and repeatable for how long. Then the report is one
	// of another step.
	mostRepeated = 3
	repeatable   = 5 * time.Minute
)

// answer is what came of the report before, for the client that did not receive it.
type answer struct {
	Report    string     `json:"report"`   // its digest
	Settings  string     `json:"settings"` // digest of those under which it was evaluated
	At        time.Time  `json:"at"`
	Repeated  int        `json:"repeated,omitempty"`
	Directive *Directive `json:"directive"`
}

// repeats reports whether the report is the one before, and its answer still holds.
func (j *judgement) repeats() bool {
	a := j.state.Answer
	return a != nil && j.report.Request != "" && a.Report == j.report.digest() && a.Settings == j.settings.digest &&
		a.Repeated < mostRepeated && j.keeper.now().Before(a.At.Add(repeatable))
}

// repeat returns the answer of the report before once more. It fails with store.ErrConflict where another report was
// faster.
func (j *judgement) repeat(ctx context.Context) (*Directive, error) {
	a := j.state.Answer
	a.Repeated++
	outcome := audit.Denied
	if a.Directive.Continue {
		outcome = audit.Allowed
	}
	record := j.keeper.record(&j.report.Who, audit.StepEvaluated, outcome, "the same report once more: the same answer")
	record.ApprovalID = a.Directive.Approval
	record.Parameters = j.stepOf(a.Directive, nil)
	if err := j.keeper.o.Write(ctx, record); err != nil {
		return nil, fmt.Errorf("recording a step: %w", err)
	}
	return a.Directive, j.keeper.put(ctx, j.state)
}
