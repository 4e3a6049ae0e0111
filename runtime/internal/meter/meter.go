// Package meter counts the calls of an adapter against the limits and quotas that package quota configures (MCP-AQL
// rate limiting).
package meter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// Meter counts the calls of one adapter. It is safe for concurrent use.
type Meter struct {
	adapter string
	options quota.Options
	store   store.Store
	gauges  map[string]*Gauge
}

// New returns a meter for an adapter, and nil where the options have nothing to count. It fails on options that are out
// of range or name operations that do not exist.
func New(options quota.Options, definitions *gen.Definitions, s store.Store) (*Meter, error) {
	if len(options.Limits)+len(options.Quotas) == 0 {
		return nil, nil
	}
	if err := validate(&options, definitions); err != nil {
		return nil, fmt.Errorf("limits and quotas: %w", err)
	}
	m := Reader(definitions.Name, options, s)
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		g := &Gauge{meter: m}
		for j, limit := range options.Limits {
			if concerns(&limit, o) {
				g.limits = append(g.limits, &m.options.Limits[j])
			}
		}
		for _, price := range options.Prices {
			if matches(price.Operation, o.Name) {
				g.price = price
				break
			}
		}
		if len(g.limits)+len(options.Quotas) > 0 {
			m.gauges[o.Name] = g
		}
	}
	return m, nil
}

// Reader returns a meter that reads the counts of an adapter, and counts no calls.
func Reader(adapter string, options quota.Options, s store.Store) *Meter {
	if options.Location == nil {
		options.Location = time.UTC
	}
	return &Meter{adapter: adapter, options: options, store: s, gauges: make(map[string]*Gauge)}
}

// Gauge returns what counts the calls of an operation; nil where nothing does, as for introspect.
func (m *Meter) Gauge(operation string) *Gauge { return m.gauges[operation] }

// Lift lifts the pause of a quota for a caller until its period ends, which is Block.Resets. By a clock that was ahead
// that may be a later period than the present one.
func (m *Meter) Lift(ctx context.Context, q *quota.Quota, caller string, ends, now time.Time) error {
	_, err := m.store.Put(ctx, m.liftKey(q, caller, ends), []byte{liftForm}, 0, max(ends.Sub(now), 0)+time.Minute)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("lifting the pause of a quota: %w", err)
	}
	return nil
}

func (m *Meter) lifted(ctx context.Context, q *quota.Quota, caller string, ends time.Time) (bool, error) {
	entry, err := m.store.Get(ctx, m.liftKey(q, caller, ends))
	if err != nil {
		return false, fmt.Errorf("looking up the pause of a quota: %w", err)
	}
	if entry.Exists() && !bytes.Equal(entry.Value, []byte{liftForm}) {
		return false, fmt.Errorf("looking up the pause of a quota: %w", errDamaged)
	}
	return entry.Exists(), nil
}

// liftForm is what the store holds for a pause that was lifted.
const liftForm = 1

var errDamaged = errors.New("what the store holds is damaged, or was written with another state key or by a later " +
	"version")

// take claims from the store. An answer that no counters can give is an error, so that it allows nothing.
func (m *Meter) take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	counts, err := m.store.Take(ctx, claims)
	if err != nil {
		return nil, err
	}
	if len(counts) != len(claims) {
		return nil, errDamaged
	}
	taken := !slices.ContainsFunc(counts, func(c store.Count) bool { return c.Refused })
	for i, count := range counts {
		claim := &claims[i]
		if count.Used < 0 || count.Refused && claim.Limit <= 0 ||
			taken && (count.Used < claim.N || claim.Limit > 0 && count.Used > claim.Limit) {
			return nil, errDamaged
		}
	}
	return counts, nil
}

// waitClaim claims that the API has not asked to wait.
func (m *Meter) waitClaim(now time.Time) store.Claim {
	return store.Claim{Key: m.waitKey(), Limit: 1, Ends: now.Add(time.Millisecond)}
}

func (m *Meter) waitKey() string { return m.adapter + "/wait" }

func (m *Meter) limitKey(l *quota.Limit) string {
	return m.adapter + "/limit/" + l.Operation + "/" + string(l.Category) + "/" + string(l.Window)
}

func (m *Meter) quotaKey(q *quota.Quota, caller string) string {
	if q.Shared {
		return m.adapter + "/quota/" + string(q.Metric)
	}
	return m.adapter + "/quota/" + string(q.Metric) + "/" + caller
}

func (m *Meter) liftKey(q *quota.Quota, caller string, ends time.Time) string {
	metric := string(q.Metric)
	if q.Shared {
		metric += "/shared"
	}
	return m.adapter + "/lift/" + metric + "/" + strconv.FormatInt(ends.UnixMilli(), 10) + "/" + caller
}

// windows are the lengths of windows.
var windows = map[quota.Window]time.Duration{
	quota.Second: time.Second, quota.Minute: time.Minute, quota.Hour: time.Hour, quota.Day: 24 * time.Hour,
}

func ofCosts(m quota.Metric) bool    { return strings.HasPrefix(string(m), "cost_") }
func ofTokens(m quota.Metric) bool   { return strings.HasPrefix(string(m), "tokens_") }
func ofRequests(m quota.Metric) bool { return strings.HasPrefix(string(m), "requests_") }

// scale returns how many counted units make one of a metric: costs are counted in millionths, so that they add up
// exactly.
func scale(m quota.Metric) float64 {
	if ofCosts(m) {
		return 1e6
	}
	return 1
}

// periodEnd returns the end of the period that a time is in.
func periodEnd(m quota.Metric, at time.Time, in *time.Location) time.Time {
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
