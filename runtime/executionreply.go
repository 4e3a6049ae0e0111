package aql

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Execution is an execution that a request has started or is about (MCP-AQL core §8.4), for transports that have a
// protocol of their own for what outlives a call.
type Execution struct {
	ID      string
	Started bool   // by this request; otherwise it is about one that was there
	State   string // one of those that introspection lists for the operation
	Message string // how far it is, or why it ended; may be empty
	Created time.Time
	Changed time.Time // when it was created, started or ended, whichever is last; pauses and progress do not count
	Expires time.Time // when it is forgotten; zero: not while it is under way
	// PollAfter is after how long it is worth to ask about it again; zero: it has ended.
	PollAfter time.Duration
	// WaitsFor is what it is paused for; nil: it is not paused.
	WaitsFor *ExecutionWait
	// Failure is what the operation would have answered if it had failed within its call; nil: it has not failed.
	Failure *Reply
}

// ExecutionWait is what a paused execution waits for.
type ExecutionWait struct {
	Name     string // of the question, unique in the execution
	Operator bool   // people decide in the inbox; otherwise the caller answers, with answer_execution
	Type     string // JSON type of the caller's answer; empty: any
	Message  string // what the operator is asked
	Approval string // ID of the item in the inbox
}

// tell notes in a reply to a request of its own which execution it is about.
func (e *executions) tell(v *executionVisit, r *execution.Record, started bool) {
	if v.batch {
		return
	}
	told := &Execution{
		ID: r.ID, Started: started, State: string(r.State), Message: r.Reason, Created: r.Created, Changed: r.Created,
		Expires: e.engine.Expires(r),
	}
	for _, at := range []time.Time{r.Started, r.Finished} {
		if at.After(told.Changed) {
			told.Changed = at
		}
	}
	if p := r.Progress; p != nil && told.Message == "" {
		told.Message = p.Message
		if p.Current != nil && p.Total != nil {
			told.Message += fmt.Sprintf(" (%d of %d)", *p.Current, *p.Total)
		}
	}
	if !r.State.Terminal() {
		told.PollAfter = executionPollAfter * time.Millisecond
	}
	shown := withoutResult(r)
	if w := shown.WaitsFor; w != nil {
		told.WaitsFor = &ExecutionWait{w.Name, w.From == "operator", w.Type, w.Message, w.Approval}
	}
	if f := shown.Error; f != nil && r.State == execution.Failed {
		told.Message = f.Message
		w := wire.NewWriter(nil)
		w.Raw(`{"success":false,"error":{"code":`)
		w.String(f.Code)
		w.Raw(`,"message":`)
		w.String(f.Message)
		if len(f.Details) > 0 {
			w.Raw(`,"details":` + string(f.Details))
		}
		w.Raw("}}")
		told.Failure = &Reply{JSON: w.Bytes(), IsError: v.exchange.isError(Code(f.Code))}
	}
	v.exchange.execution = told
}

// sanitized returns what is told of an execution, with sanitized texts.
func (e *Execution) sanitized(by Sanitize) *Execution {
	if e == nil {
		return nil
	}
	clean := *e
	clean.Message = by.text(e.Message)
	if e.WaitsFor != nil {
		waits := *e.WaitsFor
		waits.Message = by.text(waits.Message)
		clean.WaitsFor = &waits
	}
	if e.Failure != nil {
		failure := *e.Failure
		failure.JSON = by.answer(failure.JSON)
		clean.Failure = &failure
	}
	return &clean
}

// text returns a sanitized text.
func (s Sanitize) text(text string) string {
	if quoted, err := json.Marshal(text); err == nil {
		_ = json.Unmarshal(s.answer(quoted), &text) // it is a text before and after
	}
	return text
}
