package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/internal/usage"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostQuotaCallers bounds the callers whose counts stand on one page: each takes a call of the store.
const mostQuotaCallers = 20

func hasQuotas(o *Options) bool { return o.Quotas != nil }

func (c *console) handleQuotas(handle func(route string, h http.HandlerFunc)) {
	if hasQuotas(&c.o) {
		handle("GET /quotas", c.known(c.showQuotas))
	}
}

// quotasPage is how much is used of limits and quotas.
type quotasPage struct {
	At             moment
	Caller, Issuer string // whose counts are asked for; empty: those of everybody who is known
	One            bool
	Rows           []quotaRow
	Limits         []limitRow
	More           bool // there are more callers than are shown
}

// quotaRow is a quota of a caller.
type quotaRow struct {
	Who, Metric, Used, Warn, Pause, Stop, State string
	Good, Warned, Bad                           bool
	Resets                                      moment
}

// limitRow is a limit of all callers together.
type limitRow struct {
	Scope, Limit, Left, Window string
	Resets                     moment
}

// showQuotas is GET /quotas.
func (c *console) showQuotas(w http.ResponseWriter, r *http.Request, v *visit) {
	now := c.now()
	body := &quotasPage{
		At: momentOf(now, now), Caller: strings.TrimSpace(r.FormValue("caller")),
		Issuer: strings.TrimSpace(r.FormValue("issuer")),
	}
	body.One = body.Caller != ""
	callers := []aql.Caller{{Subject: body.Caller, Issuer: body.Issuer}}
	if !body.One {
		var err error
		if callers, err = c.callers(r.Context(), v); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	table, err := usage.Read(r.Context(), callers, mostQuotaCallers, c.o.Quotas.QuotaUse)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	body.More = table.More
	body.limits(table.Limits, now)
	for i := range table.Rows {
		body.Rows = append(body.Rows, quotaRowOf(&table.Rows[i], now))
	}
	c.write(w, r, http.StatusOK, "quotas", "Quotas", v, body)
}

// limits fills in the limits of all callers together.
func (p *quotasPage) limits(all []aql.LimitUsed, now time.Time) {
	for _, l := range all {
		p.Limits = append(p.Limits, limitRow{
			Scope: words.Printable(l.Scope), Limit: strconv.FormatInt(l.Limit, 10),
			Left: strconv.FormatInt(l.Remaining, 10), Window: string(l.Window), Resets: momentOf(l.Resets, now),
		})
	}
}

// callers returns the callers who are known: who is logged in, who has asked for something that waits, and who has
// started an execution. Counts do not say whose they are.
func (c *console) callers(ctx context.Context, v *visit) ([]aql.Caller, error) {
	all := []aql.Caller{v.Who}
	seen, _, err := c.overview.current(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range seen.all {
		all = append(all, h.caller)
	}
	if hasExecutions(&c.o) {
		list, _, err := c.o.Executions.Executions(ctx, execution.Query{First: mostAgentExecutions})
		if err != nil {
			return nil, err
		}
		for i := range list {
			all = append(all, list[i].Caller)
		}
	}
	return usage.Distinct(all), nil
}

// quotaRowOf returns the row of a quota.
func quotaRowOf(of *usage.Row, now time.Time) quotaRow {
	row := quotaRow{
		Who: of.Whose(), Metric: of.Counts(), Used: of.Amount(of.Used.Used), Warn: of.Step(of.Warn),
		Pause: of.Step(of.Pause), Stop: of.Step(of.HardStop), State: of.State(), Good: of.Good(), Warned: of.Warned(),
		Resets: momentOf(of.Resets, now),
	}
	row.Bad = !row.Good && !row.Warned
	return row
}
