package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

func hasExecutions(o *Options) bool { return o.Executions != nil }

func (c *console) handleExecutions(handle func(route string, h http.HandlerFunc)) {
	if !hasExecutions(&c.o) {
		return
	}
	handle("GET /executions", c.known(c.showExecutions))
	handle("GET /executions/events", c.showExecutionsEvents)
	handle("GET /executions/{execution}", c.known(c.showExecution))
	handle("GET /executions/{execution}/events", c.showExecutionEvents)
	handle("POST /executions/{execution}", c.known(c.cancelExecution))
}

// states are those of executions, in the order in which most go through them.
var states = []execution.State{
	execution.Pending, execution.Running, execution.Paused, execution.Retrying, execution.Completed, execution.Failed,
	execution.Cancelled,
}

// executionsPage are executions of all callers.
type executionsPage struct {
	At       moment
	State    string // that all of them are in; empty: any
	States   []option
	Rows     []executionRow
	Later    bool   // this is not the first page
	Earlier  string // the address of the next page; empty: this is the last
	Filtered bool
	follows
	Seen string
}

// title is the title of the page.
func (p *executionsPage) title() string { return "Executions" }

// Count says what the page has, and since when it is so.
func (p *executionsPage) Count() string {
	return "What goes on after the call that has begun it, of all callers, at " + p.At.Clock + "."
}

// executionRow is one of them.
type executionRow struct {
	Address, Operation, Danger, Progress, Who string
	State                                     outcome
	Created                                   moment
}

// executionAddress returns the address of the page of an execution, in a console with a path.
func executionAddress(path, id string) string { return path + "/executions/" + url.PathEscape(id) }

// showExecutions is GET /executions.
func (c *console) showExecutions(w http.ResponseWriter, r *http.Request, v *visit) {
	body, err := c.executionsPage(r.Context(), c.executionQuery(r))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.write(w, r, http.StatusOK, "executions", body.title(), v, body)
}

// executionQuery returns which executions a request asks for.
func (c *console) executionQuery(r *http.Request) execution.Query {
	q := execution.Query{First: perPage, After: r.FormValue("after")}
	if state := execution.State(r.FormValue("state")); slices.Contains(states, state) {
		q.State = state
	}
	return q
}

// executionsPage looks at executions.
func (c *console) executionsPage(ctx context.Context, q execution.Query) (*executionsPage, error) {
	list, next, err := c.o.Executions.Executions(ctx, q)
	if err != nil {
		return nil, err
	}
	now := c.now()
	body := &executionsPage{
		At: momentOf(now, now), State: string(q.State), Later: q.After != "", Filtered: q.State != "",
	}
	for _, state := range states {
		body.States = append(body.States, option{Value: string(state), Label: string(state), Chosen: state == q.State})
	}
	for i := range list {
		of := &list[i]
		body.Rows = append(body.Rows, executionRow{
			Address: executionAddress(c.o.Path, of.ID), Operation: nameOf(of), Danger: dangerOf(of.Danger),
			State: stateShown(of), Progress: progressOf(of.Progress).Says, Who: desk.Name(of.Caller),
			Created: momentOf(of.Created, now),
		})
	}
	if next != "" {
		query := url.Values{"after": {next}}
		if q.State != "" {
			query.Set("state", body.State)
		}
		body.Earlier = c.o.Path + "/executions?" + query.Encode()
	}
	if body.Seen = seenExecutions(body, now); !body.Later {
		query := url.Values{seenField: {body.Seen}}
		if body.Filtered {
			query.Set("state", body.State)
		}
		body.Live = c.o.Path + "/executions/events?" + query.Encode()
	}
	return body, nil
}

// nameOf returns what an execution is of: an agent, or an operation.
func nameOf(of *aql.Overseen) string {
	if of.Agent != "" {
		return "Agent " + words.Quote(of.Agent, longestLine, 0)
	}
	return words.Clip(of.Operation, longestLine)
}

// dangerOf returns a danger level as pages have it; empty: nobody knows it.
func dangerOf(d gen.Danger) string {
	if d.Level() < 0 {
		return ""
	}
	return string(d)
}

// stateOf returns the state of an execution in a word or two.
func stateOf(of *aql.Overseen) string {
	if of.Cancel && !of.State.Terminal() {
		return "is to end"
	}
	return words.Clip(string(of.State), longestLine)
}

// stateShown returns the state of an execution, and its class.
func stateShown(of *aql.Overseen) outcome {
	state := outcome{Word: stateOf(of)}
	switch of.State {
	case execution.Paused, execution.Retrying:
		state.Class = "warn"
	case execution.Completed:
		state.Class = "good"
	case execution.Failed:
		state.Class = "bad"
	}
	return state
}

// progress is how far an execution is.
type progress struct {
	Says    string // empty: nobody has said it
	Of      string // from 0 to 1; empty: it is no number
	Percent string
}

// progressOf returns progress in words.
func progressOf(p *execution.Progress) (of progress) {
	if p == nil {
		return of
	}
	switch {
	case p.Current != nil && p.Total != nil:
		of.Says = strconv.Itoa(*p.Current) + " of " + strconv.Itoa(*p.Total)
		if *p.Total > 0 {
			of.set(float64(*p.Current) / float64(*p.Total))
		}
	case p.Percentage != nil:
		of.set(*p.Percentage / 100)
		of.Says = of.Percent
	case p.Current != nil:
		of.Says = strconv.Itoa(*p.Current)
	}
	if p.Message != "" {
		if of.Says != "" {
			of.Says += " · "
		}
		of.Says += words.Clip(p.Message, longestLine)
	}
	return of
}

// set sets a share, within its bounds.
func (p *progress) set(share float64) {
	share = min(max(share, 0), 1)
	p.Of = strconv.FormatFloat(share, 'f', 3, 64)
	p.Percent = strconv.Itoa(int(100*share)) + " %"
}
