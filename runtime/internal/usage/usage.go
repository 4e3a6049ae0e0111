// Package usage puts together how much callers have used of limits and quotas, the same at a terminal and in a browser.
//
// A count in a store does not say whose it is, and counts cannot be listed. So whoever asks names the callers.
package usage

import (
	"cmp"
	"context"
	"slices"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
)

// Table is how much callers have used.
type Table struct {
	Rows   []Row             // what holds calls up first, then in the order of the callers
	Limits []quota.LimitUsed // of all callers together
	More   bool              // there are more callers than were looked at
}

// Row is a quota of a caller, or of all callers together.
type Row struct {
	Caller identity.Caller // whose count it is, unless it is shared
	quota.Used
	// LiftedFor are those of the callers whom the pause of a shared quota does not hold up.
	LiftedFor []identity.Caller
}

// Read returns how much callers have used, of up to most of them. of says it of one.
func Read(
	ctx context.Context, callers []identity.Caller, most int,
	of func(context.Context, identity.Caller) (quota.Use, error),
) (Table, error) {
	t := Table{More: len(callers) > most}
	shared := make(map[quota.Metric]int) // places in the rows
	for i, who := range callers[:min(len(callers), most)] {
		use, err := of(ctx, who)
		if err != nil {
			return Table{}, err
		}
		if i == 0 {
			t.Limits = use.Limits
		}
		for _, q := range use.Quotas {
			if !q.Shared {
				t.Rows = append(t.Rows, Row{Caller: who, Used: q})
				continue
			}
			at, known := shared[q.Metric]
			if !known {
				at = len(t.Rows)
				shared[q.Metric] = at
				t.Rows = append(t.Rows, Row{Used: q})
			}
			t.Rows[at].lift(who, q.Lifted)
		}
	}
	slices.SortStableFunc(t.Rows, func(x, y Row) int { return cmp.Compare(x.rank(), y.rank()) })
	return t, nil
}

// lift notes whether the pause of a shared quota was lifted for a caller: it holds up all others.
func (r *Row) lift(who identity.Caller, lifted bool) {
	if lifted {
		r.Status, r.Lifted = paused, false
		r.LiftedFor = append(r.LiftedFor, who)
	}
}

// The states of a quota, as quota_status has them (MCP-AQL rate limiting §6).
const (
	ok     = "ok"
	warns  = "warn"
	paused = "paused"
)

// Good reports whether no step of the quota is reached.
func (r *Row) Good() bool { return r.Status == ok }

// Warned reports whether calls go on with a warning.
func (r *Row) Warned() bool { return r.Status == warns }

// rank is lower for what holds calls up.
func (r *Row) rank() int {
	switch {
	case r.Good():
		return 2
	case r.Warned():
		return 1
	}
	return 0
}

// Distinct returns callers without their scopes, each once, in the order of their keys.
func Distinct(callers []identity.Caller) []identity.Caller {
	all := make([]identity.Caller, 0, len(callers))
	for _, c := range callers {
		all = append(all, identity.Caller{Subject: c.Subject, Issuer: c.Issuer})
	}
	slices.SortFunc(all, func(x, y identity.Caller) int { return cmp.Compare(x.Key(), y.Key()) })
	return slices.CompactFunc(all, func(x, y identity.Caller) bool { return x.Key() == y.Key() })
}
