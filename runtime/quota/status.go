package quota

import (
	"context"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Status is where the counts stand for a caller, as quota_status shows it (MCP-AQL rate limiting §6).
type Status struct {
	Adapter   string                 `json:"adapter"`
	APILimits map[string]LimitStatus `json:"api_limits"` // by scope: global, a category or an operation pattern; with the window where it has several
	Quotas    []Standing             `json:"quotas"`
	NextReset time.Time              `json:"next_reset,omitzero"`
}

// LimitStatus is where an API limit stands.
type LimitStatus struct {
	Limit     int64     `json:"limit"`
	Remaining int64     `json:"remaining"`
	Window    Window    `json:"window"`
	ResetsAt  time.Time `json:"resets_at"` // when there is nothing left to count
}

// Standing is where a quota stands.
type Standing struct {
	Metric   Metric   `json:"metric"`
	Current  float64  `json:"current"`
	Warn     *float64 `json:"warn"`
	Pause    *float64 `json:"pause"`
	HardStop *float64 `json:"hard_stop"`
	Status   string   `json:"status"` // ok, warn, paused or exhausted
	Currency string   `json:"currency,omitempty"`
}

// Status says where the counts stand for a caller. It counts nothing.
func (m *Meter) Status(ctx context.Context, caller string, now time.Time) (Status, error) {
	var claims []store.Claim
	for i := range m.options.Limits {
		limit := &m.options.Limits[i]
		claims = append(claims, store.Claim{Key: m.limitKey(limit), Window: limit.Window.length()})
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		claims = append(claims, store.Claim{Key: m.quotaKey(q, caller), Ends: q.Metric.ends(now, m.options.Location)})
	}
	counts, err := m.store.Take(ctx, claims)
	if err != nil {
		return Status{}, fmt.Errorf("reading the counts: %w", err)
	}
	s := Status{Adapter: m.adapter, APILimits: make(map[string]LimitStatus), Quotas: []Standing{}}
	for i := range m.options.Limits {
		limit := &m.options.Limits[i]
		window := limit.Window.length()
		scope := limit.scope()
		if _, taken := s.APILimits[scope]; taken {
			scope += " per " + string(limit.Window)
		}
		s.APILimits[scope] = LimitStatus{
			Limit: limit.Limit, Remaining: max(limit.Limit-counts[i].Used, 0), Window: limit.Window, ResetsAt: now.Add(window).UTC().Truncate(time.Millisecond),
		}
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		at := len(m.options.Limits) + i
		used := counts[at].Used
		standing := Standing{
			Metric: q.Metric, Current: float64(used) / q.Metric.scale(), Currency: q.Currency, Status: "ok",
			Warn: step(q.Warn), Pause: step(q.Pause), HardStop: step(q.HardStop),
		}
		switch {
		case q.HardStop > 0 && used >= units(q, q.HardStop):
			standing.Status = "exhausted"
		case q.Pause > 0 && used >= units(q, q.Pause):
			lifted, err := m.lifted(ctx, q, caller, claims[at].Ends)
			if err != nil {
				return Status{}, err
			}
			if standing.Status = "paused"; lifted {
				standing.Status = "warn"
			}
		case q.Warn > 0 && used >= units(q, q.Warn):
			standing.Status = "warn"
		}
		s.Quotas = append(s.Quotas, standing)
		if ends := claims[at].Ends.UTC(); s.NextReset.IsZero() || ends.Before(s.NextReset) {
			s.NextReset = ends
		}
	}
	return s, nil
}

func step(value float64) *float64 {
	if value == 0 {
		return nil
	}
	return &value
}

// scope is what a limit holds for.
func (l *Limit) scope() string {
	switch {
	case l.Operation != "":
		return l.Operation
	case l.Category != "":
		return string(l.Category)
	default:
		return "global"
	}
}
