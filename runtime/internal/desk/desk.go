// Package desk has what is the same wherever people decide about items of an inbox, at a terminal and in a browser: how
// a vote is recorded, and the words for who has to approve.
package desk

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
)

// Holds reports whether an item is about an agent that is held.
func Holds(item *approve.Item) bool { return item.Kind == approve.Pause || item.Kind == approve.Block }

// UnrecordedError is the error of a vote that counts, but is not in the audit log.
type UnrecordedError struct{ Err error }

func (e *UnrecordedError) Error() string {
	return fmt.Sprintf("the vote counts, but it is not in the audit log: %v", e.Err)
}

func (e *UnrecordedError) Unwrap() error { return e.Err }

// castVote adds a vote to an item, and records it in a log; nil: there is none.
func castVote(ctx context.Context, in approve.Inbox, log *audit.Log, id string, v approve.Vote) (approve.Item, error) {
	item, err := in.Vote(ctx, id, v)
	if err != nil || log == nil || item.State == approve.Used { // what is lifted is on record already
		return item, err
	}
	event := audit.ApprovalGranted
	if !v.Approve {
		event = audit.ApprovalDenied
	}
	err = log.Write(ctx, audit.Record{
		Time: v.At, Event: event, Adapter: item.Adapter, Operation: item.Operation, DangerLevel: item.Danger.Level(),
		Outcome: audit.Success, Reason: v.Reason, Rule: item.Rule, ApprovalID: item.ID, Caller: v.By,
	})
	if err != nil {
		return item, &UnrecordedError{err}
	}
	return item, nil
}
