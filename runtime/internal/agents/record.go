package agents

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/loop"
)

// stepLifetime is how long people have to answer a question about an agent.
const stepLifetime = 30 * time.Minute

// withdrawTimeout bounds how long the audit log may take for a record that nobody waits for.
const withdrawTimeout = 10 * time.Second

// longestRecorded bounds what a record has of a hint, in bytes.
const longestRecorded = 500

// bindingOf is what an item about an agent is bound to. It is no secret: who knows all of it may as well have made the
// report. Who can write the store without the state key can make no item.
func bindingOf(texts ...string) approve.Binding {
	return sha256.Sum256([]byte(digestOf(texts...)))
}

// stepRecord is what a record of a step has in place of parameters.
type stepRecord struct {
	// Evaluation is the same in all records of one evaluation, of which the last counts: others were faster, the answer
	// was given again, or nobody was told it.
	Evaluation string    `json:"evaluation,omitempty"`
	Execution  string    `json:"execution_id"`
	Step       int       `json:"step"`
	Hint       string    `json:"next_action_hint"`
	Outcome    string    `json:"outcome,omitempty"`
	Tier       loop.Tier `json:"tier,omitempty"`
	Score      *int      `json:"risk,omitempty"`
	Continue   bool      `json:"continue"`
}

// record is the record of a step. It has of the hint the beginning, and nothing of what the agent has found.
func (j *judgement) record(d *loop.Directive, answer *Directive) audit.Record {
	outcome := audit.Denied
	switch {
	case d.Continue && (j.decided != 0 || j.renewed):
		outcome = audit.Confirmed
	case d.Continue:
		outcome = audit.Allowed
	}
	record := j.keeper.record(&j.report.Who, audit.StepEvaluated, outcome, d.Reason)
	record.Rule, record.ApprovalID = d.Rule, answer.Approval
	var score *int
	if d.Score >= 0 {
		score = &d.Score
	}
	record.Parameters = j.stepOf(answer, score)
	return record
}

// stepOf is what a record of a step has in place of parameters.
func (j *judgement) stepOf(answer *Directive, score *int) []byte {
	step := stepRecord{
		Evaluation: answer.Evaluation, Execution: answer.Execution, Step: answer.Step, Hint: j.report.Hint,
		Outcome: string(j.report.Outcome), Tier: answer.Tier, Score: score, Continue: answer.Continue,
	}
	if len(step.Hint) > longestRecorded {
		step.Hint = strings.ToValidUTF8(step.Hint[:longestRecorded], "")
	}
	text, err := json.Marshal(step)
	if err != nil { // which texts and numbers cannot fail to be
		return nil
	}
	return text
}

// withdraw writes that nobody was told to go on, although that is on record: it had to be, before anybody could be. The
// record stands as it is where that fails, so that there is one of a step too many rather than one too few.
func (j *judgement) withdraw(ctx context.Context) {
	k, untold := j.keeper, *j.went
	untold.Continue = false
	record := k.record(&j.report.Who, audit.StepEvaluated, audit.Denied, "withdrawn: the agent was not told to go on")
	record.Parameters = j.stepOf(&untold, nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	if err := k.o.Write(ctx, record); err != nil {
		k.o.Logger.LogAttrs(ctx, slog.LevelError, "a step is on record that nobody was told to take",
			slog.String("agent", j.report.Agent), slog.Any("error", err))
	}
}

// used is the record of an approval that was used up.
func (j *judgement) used(item *approve.Item) audit.Record {
	var names []string
	for _, vote := range item.Votes {
		names = append(names, vote.By.Key())
	}
	record := j.keeper.record(&j.report.Who, audit.ApprovalUsed, audit.Success, "approved by "+strings.Join(names, ", "))
	record.ApprovalID = item.ID
	return record
}
