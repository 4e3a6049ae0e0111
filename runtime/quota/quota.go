// Package quota configures the limits of the API behind an adapter, and the quotas of its callers (MCP-AQL rate
// limiting).
//
//	options.Quota = quota.Options{
//		Limits: []quota.Limit{{Limit: 1000, Window: quota.Hour, RemainingHeader: "X-RateLimit-Remaining"}},
//		Quotas: []quota.Quota{{Metric: quota.CostPerDay, Currency: "EUR", Warn: 4, Pause: 5, HardStop: 10}},
//		Prices: []quota.Price{{Operation: "search_*", PerCall: 0.01}},
//	}
//
// The counters live in the adapter's store, so they hold for all processes and replicas that share it.
package quota

import (
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Options configures limits and quotas. The zero value counts nothing.
type Options struct {
	// Limits are the limits of the API behind the adapter, for all callers together. They are never exceeded.
	Limits []Limit
	// Quotas are the quotas of callers.
	Quotas []Quota
	// Prices are what operations cost. The first that matches an operation counts; without one the operation is free.
	Prices []Price
	// Location is the time zone in which days and months begin; nil: UTC.
	Location *time.Location
}

// Limit is a limit of the API behind the adapter (MCP-AQL rate limiting §2.2). It applies to the operations that
// Operation matches, or to those of a category, or to all operations where both are empty. No time span as long as the
// window has more calls than the limit, wherever the API begins its own windows. For that a call counts for up to a
// tenth longer than the window, and a refused one may be asked to wait so long: 66 seconds for a minute.
type Limit struct {
	Operation string // a name; * matches any number of characters, and ? matches one
	Category  gen.Category
	Limit     int64 // calls in a window
	Window    Window
	// RemainingHeader and ResetHeader name response headers of the API: how many calls are left, and when its window ends,
	// as Unix seconds, seconds from now, or an HTTP date. Adapter.ObserveLimits of package aql reads them.
	RemainingHeader, ResetHeader string
}

// Window is the length of the time span that a limit is for.
type Window string

// The windows.
const (
	Second Window = "second"
	Minute Window = "minute"
	Hour   Window = "hour"
	Day    Window = "day"
)

// Quota is a quota of callers, in up to three steps (MCP-AQL rate limiting §3). A step of zero is off. A step is
// reached when the count is equal to it.
type Quota struct {
	Metric   Metric
	Warn     float64 // responses have a warning
	Pause    float64 // calls need a continuation token
	HardStop float64 // calls are refused until the period ends
	Currency string  // of costs, such as EUR; shown in quota_status
	Shared   bool    // all callers share one count; otherwise each has its own
}

// Metric is what a quota counts, and in which period. Periods are those of the calendar.
type Metric string

// The metrics.
const (
	RequestsPerMinute Metric = "requests_per_minute"
	RequestsPerHour   Metric = "requests_per_hour"
	RequestsPerDay    Metric = "requests_per_day"
	TokensPerMinute   Metric = "tokens_per_minute"
	TokensPerHour     Metric = "tokens_per_hour"
	TokensPerDay      Metric = "tokens_per_day"
	CostPerHour       Metric = "cost_per_hour"
	CostPerDay        Metric = "cost_per_day"
	CostPerMonth      Metric = "cost_per_month"
)

// Metrics returns all metrics.
func Metrics() []Metric {
	return []Metric{
		RequestsPerMinute, RequestsPerHour, RequestsPerDay, TokensPerMinute, TokensPerHour, TokensPerDay,
		CostPerHour, CostPerDay, CostPerMonth,
	}
}

// Price is what calls of operations cost (MCP-AQL rate limiting §7.4), in the currency of the quotas.
type Price struct {
	Operation string // as in Limit; empty: every operation
	PerCall   float64
	PerToken  float64
}

// Usage is what a call has used. A handler reports it with ReportUsage of package aql; where it does not, tokens are
// estimated as a quarter of the bytes of request and response.
type Usage struct {
	Tokens int64
	Cost   float64
}

// Use is how much is used of the limits of the API behind an adapter, and of the quotas of a caller.
type Use struct {
	Limits []LimitUsed
	Quotas []Used
}

// LimitUsed is a limit, which is for all callers together.
type LimitUsed struct {
	Scope     string // global, a category or a pattern of operations, with the window where it has several
	Limit     int64
	Remaining int64
	Window    Window
	Resets    time.Time
}

// Used is a quota of a caller. A step of zero is off.
type Used struct {
	Metric                Metric
	Used                  float64
	Warn, Pause, HardStop float64
	Status                string // ok, warn, paused or exhausted
	Currency              string
	Shared                bool // all callers have this count together
	Lifted                bool // the step Pause is reached, and does not hold up this caller: somebody has lifted it
	Resets                time.Time
}
