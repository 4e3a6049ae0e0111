package quota

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// Meter counts the calls of one adapter. It is safe for concurrent use.
type Meter struct {
	adapter string
	options Options
	store   store.Store
	gauges  map[string]*Gauge
}

// NewMeter makes a meter for an adapter. It fails on options that are out of range or that name what is not there.
func NewMeter(options Options, definitions *gen.Adapter, s store.Store) (*Meter, error) {
	if err := options.check(definitions); err != nil {
		return nil, fmt.Errorf("limits and quotas: %w", err)
	}
	if options.Location == nil {
		options.Location = time.UTC
	}
	m := &Meter{adapter: definitions.Name, options: options, store: s, gauges: make(map[string]*Gauge)}
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		g := &Gauge{meter: m}
		for j, limit := range options.Limits {
			if fits(limit.Operation, o.Name) && (limit.Category == "" || limit.Category == o.Category) {
				g.limits = append(g.limits, &m.options.Limits[j])
			}
		}
		for _, price := range options.Prices {
			if fits(price.Operation, o.Name) {
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

// Gauge returns what counts calls of an operation; nil where nothing does, as for introspect (requirements T-86).
func (m *Meter) Gauge(operation string) *Gauge { return m.gauges[operation] }

// Gauge counts calls of one operation.
type Gauge struct {
	meter  *Meter
	limits []*Limit
	price  Price
}

// Block is why a call may not go on.
type Block struct {
	Limit     *Limit // the API limit that is reached; nil: a quota
	Remaining int64  // of the limit
	Quota     *Quota // the quota that is reached
	Exhausted bool   // by its hard stop: no continuation helps
	Current   float64
	Resets    time.Time
}

// Warning is a quota whose first step is reached.
type Warning struct {
	Quota   *Quota
	Current float64
	Resets  time.Time
}

// Taken is a call that was counted.
type Taken struct {
	Warnings []Warning

	gauge  *Gauge
	caller string
	at     time.Time
	claims []store.Claim // that were made
}

// Ask says whether a call could be made, and counts nothing.
func (g *Gauge) Ask(ctx context.Context, caller string, now time.Time) (*Block, error) {
	_, block, err := g.claim(ctx, caller, now, 0, make([]bool, len(g.meter.options.Quotas)))
	return block, err
}

// Take counts a call, or says why it cannot be made. Limits come before quotas (requirements REQ-RQ-11).
func (g *Gauge) Take(ctx context.Context, caller string, now time.Time) (Taken, *Block, error) {
	return g.claim(ctx, caller, now, 1, make([]bool, len(g.meter.options.Quotas)))
}

// TakeDry is Take for a dry run, which no pause holds (requirements T-87). It counts all the same: it may call the API.
func (g *Gauge) TakeDry(ctx context.Context, caller string, now time.Time) (Taken, *Block, error) {
	return g.claim(ctx, caller, now, 1, slices.Repeat([]bool{true}, len(g.meter.options.Quotas)))
}

// claim makes n claims. lifted tells whose pauses hold nothing; those are added whose pause the caller has lifted.
func (g *Gauge) claim(ctx context.Context, caller string, now time.Time, n int64, lifted []bool) (Taken, *Block, error) {
	quotas := g.meter.options.Quotas
	for {
		claims := g.claims(caller, now, n, lifted)
		counts, err := g.meter.store.Take(ctx, claims)
		if err != nil {
			return Taken{}, nil, fmt.Errorf("counting a call: %w", err)
		}
		if i := slices.IndexFunc(counts, func(c store.Count) bool { return c.Refused }); i >= 0 {
			if i <= len(g.limits) {
				return Taken{}, g.limited(i, counts[i]), nil
			}
			q := &quotas[i-len(g.limits)-1]
			block := &Block{Quota: q, Current: float64(counts[i].Used) / q.Metric.scale(), Resets: counts[i].Free}
			block.Exhausted = q.Pause == 0 || q.HardStop > 0 && counts[i].Used >= units(q, q.HardStop)
			if block.Exhausted || lifted[i-len(g.limits)-1] {
				block.Exhausted = true
				return Taken{}, block, nil
			}
			if lifted[i-len(g.limits)-1], err = g.meter.lifted(ctx, q, caller, block.Resets); err != nil {
				return Taken{}, nil, err
			}
			if !lifted[i-len(g.limits)-1] {
				return Taken{}, block, nil
			}
			continue
		}
		return Taken{Warnings: g.warnings(claims, counts), gauge: g, caller: caller, at: now, claims: claims}, nil, nil
	}
}

// claims are those of a call: that the API has not asked to wait, one for each limit, one for each quota.
func (g *Gauge) claims(caller string, now time.Time, n int64, lifted []bool) []store.Claim {
	m := g.meter
	claims := make([]store.Claim, 0, 1+len(g.limits)+len(m.options.Quotas))
	claims = append(claims, store.Claim{Key: m.waitKey(), N: 0, Limit: 1, Ends: now.Add(time.Millisecond)})
	for _, limit := range g.limits {
		claims = append(claims, store.Claim{Key: m.limitKey(limit), N: n, Limit: limit.Limit, Window: limit.Window.length()})
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		claim := store.Claim{Key: m.quotaKey(q, caller), Ends: q.Metric.ends(now, m.options.Location)}
		switch {
		case q.Metric.requests():
			claim.N = n
		case q.Metric.costs():
			claim.N = n * int64(math.Round(g.price.PerCall*q.Metric.scale()))
		}
		if q.Pause > 0 && !lifted[i] {
			claim.Limit = units(q, q.Pause)
		} else if q.HardStop > 0 {
			claim.Limit = units(q, q.HardStop)
		}
		if claim.Limit > 0 && claim.N > 1 {
			claim.Limit += claim.N - 1 // a step is reached by what was used, not by what is about to be (requirements REQ-RQ-15)
		}
		claims = append(claims, claim)
	}
	return claims
}

func units(q *Quota, step float64) int64 { return max(int64(math.Round(step*q.Metric.scale())), 1) }

// limited is the block of a limit; the first claim is for the API's own wish to wait.
func (g *Gauge) limited(i int, count store.Count) *Block {
	if i == 0 {
		limit := &Limit{Window: Minute}
		if len(g.limits) > 0 {
			limit = g.limits[0]
		}
		return &Block{Limit: limit, Resets: count.Free}
	}
	limit := g.limits[i-1]
	return &Block{Limit: limit, Remaining: max(limit.Limit-count.Used, 0), Resets: count.Free}
}

func (g *Gauge) warnings(claims []store.Claim, counts []store.Count) []Warning {
	var warnings []Warning
	for i := range g.meter.options.Quotas {
		q := &g.meter.options.Quotas[i]
		at := 1 + len(g.limits) + i
		if q.Warn > 0 && counts[at].Used >= units(q, q.Warn) {
			warnings = append(warnings, Warning{Quota: q, Current: float64(counts[at].Used) / q.Metric.scale(), Resets: claims[at].Ends})
		}
	}
	return warnings
}

// GiveBack takes a count back: the call was not made. What no longer counts now is not taken back: it would be another
// call's (requirements REQ-RQ-01).
func (t Taken) GiveBack(ctx context.Context, now time.Time) error {
	var claims []store.Claim
	for _, claim := range t.claims {
		over := claim.Ends
		if claim.Window > 0 {
			over = t.at.Add(claim.Window)
		}
		if claim.N > 0 && now.Before(over) {
			claim.N, claim.Limit = -claim.N, 0
			claims = append(claims, claim)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	if _, err := t.gauge.meter.store.Take(ctx, claims); err != nil {
		return fmt.Errorf("giving back a count: %w", err)
	}
	return nil
}

// Settle counts what a call has used beyond being made: tokens, and what they and the handler's own account cost.
func (t Taken) Settle(ctx context.Context, used Usage) error {
	if t.gauge == nil {
		return nil
	}
	m := t.gauge.meter
	cost := used.Cost + t.gauge.price.PerToken*float64(used.Tokens)
	var claims []store.Claim
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		n := int64(0)
		switch {
		case q.Metric.tokens():
			n = used.Tokens
		case q.Metric.costs():
			n = int64(math.Round(min(max(cost, 0), 1e12) * q.Metric.scale()))
		}
		if n > 0 {
			claims = append(claims, store.Claim{Key: m.quotaKey(q, t.caller), N: n, Ends: q.Metric.ends(t.at, m.options.Location)})
		}
	}
	if len(claims) == 0 {
		return nil
	}
	if _, err := m.store.Take(ctx, claims); err != nil {
		return fmt.Errorf("counting what a call has used: %w", err)
	}
	return nil
}

// Metered reports whether anything is counted that only shows when a call is done.
func (t Taken) Metered() bool {
	return t.gauge != nil && slices.ContainsFunc(t.gauge.meter.options.Quotas, func(q Quota) bool { return !q.Metric.requests() })
}

// Lift lifts the pause of a quota for a caller until its period ends (requirements T-63).
func (m *Meter) Lift(ctx context.Context, q *Quota, caller string, now time.Time) error {
	ends := q.Metric.ends(now, m.options.Location)
	_, err := m.store.Put(ctx, m.liftKey(q, caller, ends), nil, 0, ends.Sub(now)+time.Minute)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("lifting the pause of a quota: %w", err)
	}
	return nil
}

func (m *Meter) lifted(ctx context.Context, q *Quota, caller string, ends time.Time) (bool, error) {
	entry, err := m.store.Get(ctx, m.liftKey(q, caller, ends))
	if err != nil {
		return false, fmt.Errorf("looking up the pause of a quota: %w", err)
	}
	return entry.Exists(), nil
}

func (m *Meter) limitKey(l *Limit) string {
	return m.adapter + "/limit/" + l.Operation + "/" + string(l.Category) + "/" + string(l.Window)
}

func (m *Meter) quotaKey(q *Quota, caller string) string {
	if q.Shared {
		return m.adapter + "/quota/" + string(q.Metric)
	}
	return m.adapter + "/quota/" + string(q.Metric) + "/" + caller
}

func (m *Meter) liftKey(q *Quota, caller string, ends time.Time) string {
	metric := string(q.Metric)
	if q.Shared {
		metric += "/shared"
	}
	return m.adapter + "/lift/" + metric + "/" + strconv.FormatInt(ends.UnixMilli(), 10) + "/" + caller
}
