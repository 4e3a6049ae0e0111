package console

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/console/internal/calls"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/words"
)

// healthPage is how the adapter is.
type healthPage struct {
	Ready                bool
	Parts                []part
	Waiting              []string // what waits, in sentences
	Version, Fingerprint string
	Replicas             []replicaRow
	Missing              string // why replicas are missing
	At                   moment
	follows
	Seen string
}

// title is the title of the page.
func (p *healthPage) title() string { return "Health" }

// Count says when it was so.
func (p *healthPage) Count() string { return "as of " + p.At.Clock }

// part is one of the things that an adapter depends on.
type part struct {
	Name   string
	State  outcome
	Says   string
	Millis string // of the look; empty: nobody has looked
}

// replicaRow is a process that shares the state.
type replicaRow struct {
	Name   string
	Since  moment
	Calls  uint64 // of the last hour
	Latest moment // call; the zero value: there was none
}

// parts are the things that an adapter depends on, in the order of the page: what is said of each where it is as it
// should be, where it is not, and where there is none.
var parts = []struct{ check, name, well, fails, none string }{
	{
		"store", "State", "It answers within a second.",
		"It does not answer within a second. Calls that need it are refused, and nothing runs without a decision.",
		"It is in memory, and lost when the process ends.",
	},
	{
		"audit", "Audit log", "It keeps its records.",
		"It has failed to keep records. What has to be on record is refused until it can be.",
		"There is none: nothing is on record.",
	},
	{
		"worker", "Worker", "This process runs executions.",
		"This process runs no executions. Those that are durable go on in other replicas, if there are some.",
		"The service has no executions.",
	},
	{
		executionsCheck, "Executions", "This process can run what is due, or others take it.",
		"Some are due that this process cannot run: for an hour or longer, of operations that it does not have, or written " +
			"by a later version.",
		"The service has no executions.",
	},
	{
		policyCheck, "Policy file", "The policy in force is that of the file.",
		"It has changed and cannot be read, or has mistakes. The policy before stays in force.",
		"The adapter was started without one.",
	},
}

// The names of the checks without which an adapter is ready all the same. Whoever reads the policy file logs why.
const (
	policyCheck     = "policy"
	executionsCheck = "executions"
)

// showHealth is GET /health.
func (c *console) showHealth(w http.ResponseWriter, r *http.Request, v *visit) {
	body := c.healthPage(r.Context())
	c.write(w, r, http.StatusOK, "health", body.title(), v, body)
}

// healthPage looks at how the adapter is.
func (c *console) healthPage(ctx context.Context) *healthPage {
	now, h := c.now(), c.o.Health(ctx)
	body := &healthPage{
		At: momentOf(now, now), Ready: true,
		Version: words.Clip(cmp.Or(h.Version, "not known"), longestLine), Fingerprint: words.Clip(h.Fingerprint, longestLine),
	}
	for _, of := range parts {
		shown := part{Name: of.name, State: outcome{"none", ""}, Says: of.none}
		for i := range h.Checks {
			if check := &h.Checks[i]; check.Name == of.check {
				shown.State, shown.Says = outcome{"well", "good"}, of.well
				if check.Took >= 100*time.Microsecond { // otherwise nothing was asked
					shown.Millis = millis(check.Took)
				}
				switch of.check {
				case policyCheck:
				case executionsCheck:
					c.checked.TellDegraded(ctx, c.o.Logger, check.Name, check.Err)
				default:
					c.checked.Tell(ctx, c.o.Logger, check.Name, check.Err)
				}
				if check.Err != nil && of.check == policyCheck {
					shown.State, shown.Says = outcome{"not in force", "warn"}, of.fails+" The log of the adapter says why."
				} else if check.Err != nil && of.check == executionsCheck {
					shown.State, shown.Says = outcome{"left over", "warn"}, of.fails+" The log of the adapter says which."
				} else if check.Err != nil {
					body.Ready = false
					shown.State, shown.Says = outcome{"fails", "bad"}, of.fails+" The log of the adapter says why."
				}
			}
		}
		if of.check == "audit" && h.Unrecorded > 0 {
			shown.Says += " " + words.Count(h.Unrecorded, "record") + " of this process wait" + third(h.Unrecorded) +
				" to be stored."
		}
		body.Parts = append(body.Parts, shown)
	}
	body.Waiting = waitingSays(h.Backlog)
	if c.feed != nil {
		c.addReplicas(ctx, body)
	}
	var waiting []int
	if b := h.Backlog; b != nil {
		waiting = []int{b.Approvals, b.Due, b.Later, b.Running}
	}
	body.Seen = seenHealth(body, now, waiting...)
	body.Live = c.o.Path + "/health/events?" + url.Values{seenField: {body.Seen}}.Encode()
	return body
}

// waitingSays says what waits in the state.
func waitingSays(b *setup.Backlog) []string {
	if b == nil {
		return []string{"What waits cannot be counted. The log of the adapter says why."}
	}
	says := []string{"Nothing waits for people."}
	if b.Approvals > 0 {
		says[0] = words.Count(b.Approvals, "item") + " wait" + third(b.Approvals) + " for people."
	}
	if b.Due+b.Later+b.Running == 0 {
		return append(says, "No execution runs or is to run.")
	}
	var some []string
	add := func(n int, what string) {
		if n > 0 {
			some = append(some, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(b.Running, "under way")
	due := "due"
	if b.Oldest > 0 {
		due += ", the oldest for " + span(b.Oldest)
	}
	add(b.Due, due)
	add(b.Later, "for a later time")
	return append(says, "Executions: "+strings.Join(some, "; ")+".")
}

// third is the ending of a verb about so many.
func third(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

// addReplicas adds the processes that share the state and have a console.
func (c *console) addReplicas(ctx context.Context, body *healthPage) {
	all, now := c.feed.look(ctx), c.now()
	if all.err != nil {
		c.o.Logger.WarnContext(ctx, "other replicas are not known", slog.Any("error", all.err))
		body.Missing = "The state does not say which other replicas there are. The log of the adapter says why."
	}
	for i := range all.replicas {
		of := &all.replicas[i]
		row := replicaRow{Name: c.nameOf(of), Since: momentOf(of.Since, now), Calls: lately(of, now)}
		if len(of.Calls) > 0 {
			row.Latest = momentOf(of.Calls[0].At, now)
		}
		body.Replicas = append(body.Replicas, row)
	}
}

// lately returns how many calls of the last hour a replica has answered.
func lately(of *replica, now time.Time) (count uint64) {
	for i := range of.Minutes {
		if ago := calls.MinuteOf(now) - of.Minutes[i].Number; ago >= 0 && ago < calls.Minutes {
			count += uint64(of.Minutes[i].Calls)
		}
	}
	return count
}
