package meter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// Status is the answer to quota_status: the limits and quotas of an adapter with their counts for a caller (MCP-AQL
// rate limiting §6).
type Status struct {
	Adapter string `json:"adapter"`
	// APILimits are the limits by scope: global, a category or an operation pattern; with the window if a scope has
	// several.
	APILimits map[string]LimitStatus `json:"api_limits"` // those that concern an operation that is visible
	Quotas    []QuotaStatus          `json:"quotas"`
	NextReset time.Time              `json:"next_reset,omitzero"`
}

// LimitStatus is an API limit with its count.
type LimitStatus struct {
	Limit     int64        `json:"limit"`
	Remaining int64        `json:"remaining"`
	Window    quota.Window `json:"window"`
	// ResetsAt is when the next call may be made, where none may be now; else when all calls so far have left the window.
	ResetsAt time.Time `json:"resets_at"`
}

// QuotaStatus is a quota with its count.
type QuotaStatus struct {
	Metric   quota.Metric `json:"metric"`
	Current  float64      `json:"current"`
	Warn     *float64     `json:"warn"`
	Pause    *float64     `json:"pause"`
	HardStop *float64     `json:"hard_stop"`
	Status   string       `json:"status"` // ok, warn, paused or exhausted
	Currency string       `json:"currency,omitempty"`
	// Shared says that all callers have this count together, Lifted that its pause holds up everybody but this caller, and
	// Resets when it begins anew. Agents are not told these.
	Shared bool      `json:"-"`
	Lifted bool      `json:"-"`
	Resets time.Time `json:"-"`
}

// Status returns the counts for a caller who sees some operations. It counts nothing.
func (m *Meter) Status(
	ctx context.Context, caller string, now time.Time, visible []gen.Operation,
) (Status, error) {
	return m.status(ctx, caller, now, func(l *quota.Limit) bool {
		return slices.ContainsFunc(visible, func(o gen.Operation) bool { return concerns(l, &o) })
	})
}

// StatusOfAll is Status with all limits, whatever operations they concern.
func (m *Meter) StatusOfAll(ctx context.Context, caller string, now time.Time) (Status, error) {
	return m.status(ctx, caller, now, func(*quota.Limit) bool { return true })
}

// status returns the counts for a caller, of the limits that are shown.
func (m *Meter) status(
	ctx context.Context, caller string, now time.Time, shown func(*quota.Limit) bool,
) (Status, error) {
	claims := []store.Claim{m.waitClaim(now)}
	for i := range m.options.Limits {
		limit := &m.options.Limits[i]
		claims = append(claims, store.Claim{Key: m.limitKey(limit), Limit: limit.Limit, Window: windows[limit.Window]})
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		// With this limit the counter tells, where it has counted anything, when its period ends. By a clock that was ahead
		// that may be a later one than the present.
		claims = append(claims, store.Claim{
			Key: m.quotaKey(q, caller), Limit: 1, Ends: periodEnd(q.Metric, now, m.options.Location),
		})
	}
	counts, err := m.take(ctx, claims)
	if err != nil {
		return Status{}, fmt.Errorf("reading the counts: %w", err)
	}
	s := Status{Adapter: m.adapter, APILimits: make(map[string]LimitStatus), Quotas: []QuotaStatus{}}
	for i := range m.options.Limits {
		limit := &m.options.Limits[i]
		if !shown(limit) {
			continue
		}
		window := windows[limit.Window]
		name := scope(limit)
		if _, taken := s.APILimits[name]; taken {
			name += " per " + string(limit.Window)
		}
		status := LimitStatus{
			Limit: limit.Limit, Remaining: max(limit.Limit-counts[1+i].Used, 0), Window: limit.Window, ResetsAt: now.Add(window),
		}
		if wait, used := counts[0], counts[1+i]; wait.Refused || used.Refused { // as a call would be told
			status.Remaining, status.ResetsAt = 0, used.Free
			if wait.Refused {
				status.ResetsAt = wait.Free
			}
		}
		status.ResetsAt = status.ResetsAt.UTC().Truncate(time.Millisecond)
		s.APILimits[name] = status
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		at := 1 + len(m.options.Limits) + i
		used, ends := counts[at].Used, claims[at].Ends
		if counts[at].Refused {
			ends = counts[at].Free
		}
		status := QuotaStatus{
			Metric: q.Metric, Current: float64(used) / scale(q.Metric), Currency: q.Currency, Status: "ok",
			Warn: step(q.Warn), Pause: step(q.Pause), HardStop: step(q.HardStop), Shared: q.Shared, Resets: ends.UTC(),
		}
		switch {
		case q.HardStop > 0 && used >= units(q, q.HardStop):
			status.Status = "exhausted"
		case q.Pause > 0 && used >= units(q, q.Pause):
			lifted, err := m.lifted(ctx, q, caller, ends)
			if err != nil {
				return Status{}, err
			}
			if status.Status, status.Lifted = "paused", lifted; lifted {
				status.Status = "warn"
			}
		case q.Warn > 0 && used >= units(q, q.Warn):
			status.Status = "warn"
		}
		s.Quotas = append(s.Quotas, status)
		if s.NextReset.IsZero() || ends.Before(s.NextReset) {
			s.NextReset = ends.UTC()
		}
	}
	return s, nil
}

// step returns a step of a quota; nil: it is off.
func step(value float64) *float64 {
	if value == 0 {
		return nil
	}
	return &value
}

// concerns reports whether a limit counts the calls of an operation.
func concerns(l *quota.Limit, o *gen.Operation) bool {
	return matches(l.Operation, o.Name) && (l.Category == "" || l.Category == o.Category)
}

// scope returns what a limit applies to.
func scope(l *quota.Limit) string {
	switch {
	case l.Operation != "":
		return l.Operation
	case l.Category != "":
		return string(l.Category)
	default:
		return "global"
	}
}
