package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/internal/usage"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostQuotaCallers bounds the callers whose counts are read: each takes a call of the store.
const mostQuotaCallers = 1000

// What is wrong with a command about quotas.
var (
	errNoQuotas = errors.New("this service has no quotas and no limits, so nothing is counted: its author sets them in " +
		"serve.Options.Adapter.Quota")
	errNoCounts = errors.New("there is no state here that keeps counts")
	errNoCaller = errors.New("nothing here names such a caller, and counts do not say whose they are: say with -caller " +
		"who it is, and with -issuer who vouches for the name, such as stdio")
)

// counts is what operator quotas prints.
type counts struct {
	usage.Table
	known  known
	unused int    // callers who have used nothing, and are left out
	asks   []asks // to lift pauses
}

// asks is an item that asks to lift the pause of a quota for a caller.
type asks struct {
	item   string
	caller identity.Caller
}

// quotas prints how much callers have used of the quotas of the adapter, and how much is left of its limits.
func (d *Desk) quotas(ctx context.Context, f Flags) error {
	switch {
	case len(d.Quota.Quotas)+len(d.Quota.Limits) == 0:
		return errNoQuotas
	case d.State == nil:
		return errNoCounts
	}
	items, unread, err := d.items(ctx)
	if err != nil {
		return err
	}
	found := new(counts)
	if found.known, err = d.knownCallers(ctx, items); err != nil {
		return err
	}
	callers := f.selected(found.known.callers)
	if len(callers) == 0 {
		return errors.Join(errNoCaller, unread)
	}
	reader := meter.Reader(d.Program, d.Quota, d.State)
	found.Table, err = usage.Read(ctx, callers, mostQuotaCallers,
		func(ctx context.Context, who identity.Caller) (quota.Use, error) {
			status, err := reader.StatusOfAll(ctx, who.Key(), d.now())
			return status.Use(), err
		})
	if err != nil {
		return fmt.Errorf("reading how much is used: %w", err)
	}
	if !f.All && f.Caller == "" && f.Issuer == "" {
		found.leaveOutUnused()
	}
	for i := range items {
		item := &items[i]
		if item.Kind == approve.Continuation && item.StateAt(d.now()) == approve.Open &&
			slices.ContainsFunc(callers, func(c identity.Caller) bool { return c.Key() == item.Caller.Key() }) {
			found.asks = append(found.asks, asks{item.ID, item.Caller})
		}
	}
	if f.JSON {
		return errors.Join(d.printDocument(found.document(d.now())), unread)
	}
	return errors.Join(d.printCounts(found), unread)
}

// selected returns the callers that the flags select: also one that is not known, if they say who it is.
func (f *Flags) selected(callers []identity.Caller) []identity.Caller {
	if f.Caller != "" && f.Issuer != "" {
		return []identity.Caller{{Subject: f.Caller, Issuer: f.Issuer}}
	}
	return slices.DeleteFunc(slices.Clone(callers), func(c identity.Caller) bool {
		return f.Caller != "" && f.Caller != c.Subject || f.Issuer != "" && f.Issuer != c.Issuer
	})
}

// leaveOutUnused removes callers who have used nothing of their own quotas.
func (c *counts) leaveOutUnused() {
	used, all := make(map[string]bool), make(map[string]bool)
	for i := range c.Rows {
		if r := &c.Rows[i]; !r.Shared {
			all[r.Caller.Key()] = true
			used[r.Caller.Key()] = used[r.Caller.Key()] || r.Used.Used > 0
		}
	}
	c.Rows = slices.DeleteFunc(c.Rows, func(r usage.Row) bool { return !r.Shared && !used[r.Caller.Key()] })
	for key := range all {
		if !used[key] {
			c.unused++
		}
	}
}

// printCounts prints a line for each quota and each limit, and below them what they do not say.
func (d *Desk) printCounts(c *counts) error {
	table := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	anew := func(at time.Time) string {
		return "anew " + d.clock(at) + ", in " + max(at.Sub(d.now()), 0).Round(time.Second).String()
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		fmt.Fprintln(table, strings.Join([]string{
			r.Whose(), r.Counts(), r.State(), r.Amount(r.Used.Used) + " used", steps(r), anew(r.Resets),
		}, "\t"))
	}
	for _, l := range c.Limits {
		fmt.Fprintln(table, strings.Join([]string{
			"limit of the API", words.Printable(l.Scope), "", fmt.Sprintf("%d left", l.Remaining),
			fmt.Sprintf("of %d per %s", l.Limit, l.Window), anew(l.Resets),
		}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing quotas: %w", err)
	}
	var below strings.Builder
	for _, a := range c.asks {
		fmt.Fprintf(&below, "%s asks to let %s go on: %s operator show %[1]s\n", words.Printable(a.item),
			desk.Name(a.caller), d.Program)
	}
	if c.unused > 0 {
		fmt.Fprintf(&below, "Of those who are known, %d have used nothing; -all lists them.\n", c.unused)
	}
	if c.More {
		fmt.Fprintf(&below, "There are more than %d callers: name others with -caller.\n", mostQuotaCallers)
	}
	if len(d.Quota.Quotas) > 0 {
		below.WriteString(c.known.said())
	}
	_, err := fmt.Fprint(d.Stdout, &below)
	return err
}

// steps says where a quota warns, pauses and stops.
func steps(r *usage.Row) string {
	var parts []string
	for _, step := range []struct {
		does string
		at   float64
	}{{"warns", r.Warn}, {"pauses", r.Pause}, {"stops", r.HardStop}} {
		if text := r.Step(step.at); text != "" {
			parts = append(parts, step.does+" at "+text)
		}
	}
	return strings.Join(parts, ", ")
}
