// Package quota keeps an adapter within the limits of the API behind it, and callers within theirs (MCP-AQL rate limiting).
// Its counters live in a store, so they hold for all processes and replicas that share it.
package quota

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Options says what is counted. The zero value counts nothing.
type Options struct {
	// Limits are those of the API behind the adapter, for all callers together. They are never exceeded.
	Limits []Limit
	// Quotas are those of callers.
	Quotas []Quota
	// Prices says what operations cost. The first that fits an operation counts; without one it costs nothing.
	Prices []Price
	// Location is where days and months begin; nil: UTC.
	Location *time.Location
}

// Counts reports whether anything is counted.
func (o *Options) Counts() bool { return len(o.Limits)+len(o.Quotas) > 0 }

// Limit is a declared API limit (MCP-AQL rate limiting §2.2): of one operation or several, of a category, or of all
// operations where it names neither. Within no time of the window's length are there more calls, wherever the API begins its
// own windows.
type Limit struct {
	Operation string // a name in which * stands for any characters and ? for one
	Category  gen.Category
	Limit     int64
	Window    Window
	// RemainingHeader and ResetHeader are response headers of the API in which it says how many calls are left, and when its
	// window ends: Unix seconds, or seconds from now. Observe reads them.
	RemainingHeader, ResetHeader string
}

// Window is how long a limit counts.
type Window string

// The windows.
const (
	Second Window = "second"
	Minute Window = "minute"
	Hour   Window = "hour"
	Day    Window = "day"
)

func (w Window) length() time.Duration {
	return map[Window]time.Duration{Second: time.Second, Minute: time.Minute, Hour: time.Hour, Day: 24 * time.Hour}[w]
}

// Quota is a quota in up to three steps (MCP-AQL rate limiting §3). A step of zero is none. It is reached when the count is
// at it.
type Quota struct {
	Metric   Metric
	Warn     float64 // answers warn
	Pause    float64 // calls ask for a continuation
	HardStop float64 // calls are refused until the period ends
	Currency string  // of costs
	Shared   bool    // counts all callers together, where each has a count of their own otherwise
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

// Metrics lists all metrics.
func Metrics() []Metric {
	return []Metric{
		RequestsPerMinute, RequestsPerHour, RequestsPerDay, TokensPerMinute, TokensPerHour, TokensPerDay, CostPerHour, CostPerDay, CostPerMonth,
	}
}

// Price is what calls of operations cost (MCP-AQL rate limiting §7.4).
type Price struct {
	Operation string // as in Limit; empty: every operation
	PerCall   float64
	PerToken  float64
}

// Usage is what a call has used. Where a handler does not say, tokens are a quarter of the bytes of request and answer.
type Usage struct {
	Tokens int64
	Cost   float64
}

// scale is how many counted units make one of a quota: costs are counted in millionths, so that they add up exactly.
func (m Metric) scale() float64 {
	if m.costs() {
		return 1e6
	}
	return 1
}

func (m Metric) costs() bool    { return strings.HasPrefix(string(m), "cost_") }
func (m Metric) tokens() bool   { return strings.HasPrefix(string(m), "tokens_") }
func (m Metric) requests() bool { return strings.HasPrefix(string(m), "requests_") }

func (m Metric) known() bool {
	for _, metric := range Metrics() {
		if m == metric {
			return true
		}
	}
	return false
}

// ends is when the period ends to which a time belongs.
func (m Metric) ends(at time.Time, in *time.Location) time.Time {
	at = at.In(in)
	switch {
	case strings.HasSuffix(string(m), "_minute"):
		return at.Truncate(time.Minute).Add(time.Minute)
	case strings.HasSuffix(string(m), "_hour"):
		return at.Truncate(time.Hour).Add(time.Hour)
	case strings.HasSuffix(string(m), "_day"):
		return time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, in)
	default:
		return time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, in)
	}
}

// check reports what is wrong with the options for an adapter. A limit that fits no operation is a mistake: it would hold
// nothing back.
func (o *Options) check(definitions *gen.Adapter) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	names := func(what, pattern string) {
		switch {
		case strings.ContainsAny(pattern, `[]{}!^\`) || strings.Contains(pattern, "**"):
			fault("%s: pattern %q: only * and ? have a meaning", what, pattern)
		case pattern != "" && !fitsAny(pattern, definitions):
			fault("%s: no operation is called %q", what, pattern)
		}
	}
	limits := make(map[string]bool)
	for i, limit := range o.Limits {
		what := fmt.Sprintf("limit %d", i+1)
		if key := limit.scope() + " per " + string(limit.Window); limits[key] {
			fault("%s: there is another limit for %s", what, key)
		} else {
			limits[key] = true
		}
		names(what, limit.Operation)
		switch {
		case limit.Limit <= 0:
			fault("%s: the limit is %d; it must be greater than 0", what, limit.Limit)
		case limit.Window.length() == 0:
			fault("%s: window %q is none of second, minute, hour, day", what, limit.Window)
		case limit.Operation != "" && limit.Category != "":
			fault("%s names both an operation and a category", what)
		case limit.Category != "" && !isCategory(limit.Category):
			fault("%s: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE", what, limit.Category)
		}
	}
	type counter struct {
		metric Metric
		shared bool
	}
	seen := make(map[counter]bool)
	for _, q := range o.Quotas {
		what := fmt.Sprintf("quota %s", q.Metric)
		steps := []float64{q.Warn, q.Pause, q.HardStop}
		last := 0.0
		for _, step := range steps {
			if step < 0 || math.IsNaN(step) || step*q.Metric.scale() > math.MaxInt64/2 {
				fault("%s: step %g is out of range", what, step)
			} else if step > 0 && step < last {
				fault("%s: warn, pause and hard stop must rise", what)
			}
			last = max(last, step)
		}
		switch {
		case !q.Metric.known():
			fault("quota metric %q is none of %v", q.Metric, Metrics())
		case last == 0:
			fault("%s has no step: set Warn, Pause or HardStop", what)
		case seen[counter{q.Metric, q.Shared}]:
			fault("%s is given twice", what)
		}
		seen[counter{q.Metric, q.Shared}] = true
	}
	for i, price := range o.Prices {
		names(fmt.Sprintf("price %d", i+1), price.Operation)
		if !(price.PerCall >= 0 && price.PerToken >= 0) || price.PerCall > 1e9 || price.PerToken > 1e9 {
			fault("price %d is out of range", i+1)
		}
	}
	return errors.Join(faults...)
}

func isCategory(c gen.Category) bool {
	for _, category := range gen.Categories() {
		if c == category {
			return true
		}
	}
	return false
}

func fitsAny(pattern string, definitions *gen.Adapter) bool {
	for i := range definitions.Operations {
		if fits(pattern, definitions.Operations[i].Name) {
			return true
		}
	}
	return false
}

// fits reports whether a pattern, which check has passed, fits the name of an operation.
func fits(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
