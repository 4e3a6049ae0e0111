package meter

import (
	"maps"
	"slices"

	"github.com/aqltag/aqltag/runtime/quota"
)

// Use returns the counts for people who look after an adapter.
func (s *Status) Use() quota.Use {
	var use quota.Use
	for _, scope := range slices.Sorted(maps.Keys(s.APILimits)) {
		l := s.APILimits[scope]
		use.Limits = append(use.Limits, quota.LimitUsed{
			Scope: scope, Limit: l.Limit, Remaining: l.Remaining, Window: l.Window, Resets: l.ResetsAt,
		})
	}
	off := func(step *float64) float64 {
		if step == nil {
			return 0
		}
		return *step
	}
	for i := range s.Quotas {
		q := &s.Quotas[i]
		use.Quotas = append(use.Quotas, quota.Used{
			Metric: q.Metric, Used: q.Current, Warn: off(q.Warn), Pause: off(q.Pause), HardStop: off(q.HardStop),
			Status: q.Status, Currency: q.Currency, Shared: q.Shared, Lifted: q.Lifted, Resets: q.Resets,
		})
	}
	return use
}
