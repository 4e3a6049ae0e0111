package aql

import (
	"context"
	"crypto/sha256"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
)

// executionsRequest is a request to list_executions.
type executionsRequest struct {
	Status, Operation string
	First             int
	After             string
}

// executionList is a page of executions. The names of its fields on the wire are those of gen.ExecutionTypes.
type executionList struct {
	Items []executionAnswer
	Page  executionPage
}

// executionPage is what is around a page (MCP-AQL pagination §3.1).
type executionPage struct {
	Next, Previous bool
	Start, End     string
}

func (e *executions) list(ctx context.Context, _ []any, request any) (any, error) {
	q := request.(*executionsRequest)
	box, err := e.cursors().box(ctx)
	if err != nil {
		return nil, err
	}
	query := execution.Query{
		CallerKey: CallerOf(ctx).Key(), State: execution.State(q.Status), Operation: q.Operation, First: q.First,
	}
	bound := e.bindings(&query)
	if q.After != "" {
		after, ok := box.Open(bound[:], q.After)
		if !ok {
			return nil, invalidType("after", "cursor of this operation", "string", "").
				WithDetail("hint", "Repeat status and operation as they were, or start again without after")
		}
		query.After = string(after)
	}
	page, err := e.engine.List(ctx, query)
	if err != nil {
		return nil, e.failure(err, "")
	}
	list := &executionList{
		Items: []executionAnswer{}, Page: executionPage{Next: page.More, Previous: query.After != ""},
	}
	for _, r := range page.Records {
		list.Items = append(list.Items, *withoutResult(r))
	}
	if len(page.Records) > 0 {
		list.Page.Start = box.Seal(bound[:], []byte(page.Start))
	}
	if len(page.Records) > 0 || page.More {
		list.Page.End = box.Seal(bound[:], []byte(page.End))
	}
	return list, nil
}

// bindings returns what the cursors of a list are bound to: one that is given back by another caller, or with another
// filter, is none.
func (e *executions) bindings(q *execution.Query) [sha256.Size]byte {
	var text []byte
	for _, part := range []string{e.adapter.options.Name, gen.ListExecutions, q.CallerKey, string(q.State), q.Operation} {
		text = appendText(text, part)
	}
	return sha256.Sum256(text)
}
