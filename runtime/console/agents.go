package console

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostAgentExecutions bounds the executions of agents that are looked at.
const mostAgentExecutions = 200

func hasAgents(o *Options) bool { return o.Agents && hasExecutions(o) }

func (c *console) handleAgents(handle func(route string, h http.HandlerFunc)) {
	if !hasAgents(&c.o) {
		return
	}
	handle("GET /agents", c.known(c.showAgents))
	handle("GET /agents/{agent}", c.known(c.showAgent))
}

// agentState is how an agent stands, the most urgent first.
type agentState int

const (
	agentBlocked agentState = iota
	agentPaused
	agentWaits
	agentRuns
	agentEnded
)

// String returns the state in a word or two.
func (s agentState) String() string {
	return [...]string{"blocked", "paused", "waits for a person", "running", "ended"}[s]
}

// agentsPage are the agents of all callers.
type agentsPage struct {
	At     moment
	Rows   []agentRow
	Unread string // what is wrong with the inbox
	More   bool   // there are more executions than were looked at
}

// agentRow is an agent of a caller.
type agentRow struct {
	Name, Address, Who, Why string // Address is empty where the agent has no page
	State                   agentState
	Item                    string // the address of the item that lets it go on; empty: there is none
	Execution               string // the address of its newest execution; empty: it has none any more
	Since                   moment
}

// held notes that an item has the agent stand still.
func (r *agentRow) held(h *head, state agentState, path string, now time.Time) {
	r.State, r.Item, r.Since = state, setup.ItemAddress(path, h.id), momentOf(h.opened, now)
	r.Why = h.holds.why
}

// agentPage is everything about the agents with a name.
type agentPage struct {
	Name, Back string
	Rows       []agentRow
	Records    []recordRow
	Audit      string // the address of all of its records; empty: there are none
	Unread     string
	Unrecorded string // why there are no records
}

// agentAddress returns the address of the page of an agent, in a console with a path; empty: it has none, because
// browsers take the name for a step up.
func agentAddress(path, name string) string {
	if name == "." || name == ".." {
		return ""
	}
	return path + "/agents/" + url.PathEscape(name)
}

// showAgents is GET /agents.
func (c *console) showAgents(w http.ResponseWriter, r *http.Request, v *visit) {
	now := c.now()
	rows, unread, more, err := c.agents(r.Context(), "")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.write(w, r, http.StatusOK, "agents", "Agents", v, &agentsPage{
		At: momentOf(now, now), Rows: rows, Unread: unread, More: more,
	})
}

// showAgent is GET /agents/{agent}.
func (c *console) showAgent(w http.ResponseWriter, r *http.Request, v *visit) {
	name := r.PathValue("agent")
	rows, unread, _, err := c.agents(r.Context(), name)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	shown := words.Quote(name, longestLine, 0)
	body := &agentPage{Name: shown, Back: c.o.Path + "/agents", Rows: rows, Unread: unread}
	if hasRecords(&c.o) {
		found := recordsPage{Page: 1, Search: search{Agent: name}}
		if _, err := c.lookForRecords(r.Context(), &found); err != nil {
			c.o.Logger.ErrorContext(r.Context(), "the audit log cannot be read", slog.Any("error", err))
			found.Error = "The audit log cannot be read. The log of the adapter says why."
		}
		body.Records, body.Unrecorded = found.Rows, found.Error
		if !found.Verdict.Whole && found.Error == "" {
			body.Unrecorded = found.Verdict.Says
		}
		body.Audit = c.o.Path + "/audit?" + url.Values{"agent": {name}}.Encode()
	}
	if len(rows) == 0 && len(body.Records) == 0 && unread == "" && body.Unrecorded == "" {
		c.write(w, r, http.StatusNotFound, "problem", "Nothing is known of this agent", v, problem{
			"Nothing is known of this agent", "It does not run, nothing holds it, and nothing is on record of it. Its name " +
				"may be mistyped.",
		})
		return
	}
	c.write(w, r, http.StatusOK, "agent", "Agent "+shown, v, body)
}

// agents returns the agents with a name, empty: all, the most urgent first, and what is wrong with the inbox. An agent
// is of its caller: two callers may call theirs the same.
func (c *console) agents(ctx context.Context, name string) (rows []agentRow, unread string, more bool, err error) {
	now := c.now()
	seen, heads, err := c.overview.with(ctx, func(seen *look) []*head { return seen.holding(name) })
	if err != nil {
		return nil, "", false, err
	}
	if seen.unread > 0 {
		unread = sentence(&approve.UnreadableError{Entries: seen.unread})
	}
	all := make(map[[2]string]*agentRow)
	row := func(agent string, who aql.Caller, since moment) *agentRow {
		key := [2]string{agent, who.Key()}
		if all[key] == nil {
			all[key] = &agentRow{
				Name: words.Quote(agent, longestLine, 0), Address: agentAddress(c.o.Path, agent), Who: desk.Name(who),
				State: agentEnded, Since: since,
			}
		}
		return all[key]
	}
	asks := make(map[string]*head) // by the execution
	for _, h := range heads {
		if h.holds.step != "" {
			asks[h.holds.step] = h
		}
		if h.holds.agent == "" || name != "" && h.holds.agent != name {
			continue
		}
		if of := row(h.holds.agent, h.caller, momentOf(h.opened, now)); h.holds.state < of.State {
			of.held(h, h.holds.state, c.o.Path, now)
		}
	}
	list, next, err := c.o.Executions.Executions(ctx, execution.Query{
		Operation: gen.ExecuteAgent, First: mostAgentExecutions,
	})
	if err != nil {
		return nil, "", false, err
	}
	for i := range list {
		e := &list[i]
		if e.Agent == "" || name != "" && e.Agent != name {
			continue
		}
		of := row(e.Agent, e.Caller, momentOf(e.Created, now))
		if of.Execution == "" {
			of.Execution = executionAddress(c.o.Path, e.ID)
		}
		if !e.State.Terminal() && of.State == agentEnded {
			of.State, of.Execution, of.Since = agentRuns, executionAddress(c.o.Path, e.ID), momentOf(e.Created, now)
		}
		if h := asks[e.ID]; h != nil && h.caller.Key() == e.Caller.Key() && of.State >= agentRuns {
			of.held(h, agentWaits, c.o.Path, now)
		}
	}
	for _, of := range all {
		rows = append(rows, *of)
	}
	slices.SortFunc(rows, func(x, y agentRow) int {
		return cmp.Or(cmp.Compare(x.State, y.State), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Who, y.Who))
	})
	return rows, unread, next != "", nil
}

// executionOf returns the execution of the agent that an item of the loop asks about.
func executionOf(item *approve.Item) string {
	var params struct {
		Execution string `json:"execution_id"`
	}
	if err := json.Unmarshal([]byte(item.Params), &params); err != nil {
		return ""
	}
	return params.Execution
}
