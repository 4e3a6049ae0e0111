package meter

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// Gauge counts the calls of one operation.
type Gauge struct {
	meter  *Meter
	limits []*quota.Limit
	price  quota.Price
}

// Block is why a call may not be made.
type Block struct {
	Limit     *quota.Limit // the API limit that is reached; nil: a quota is
	Remaining int64        // calls left of the limit
	Quota     *quota.Quota // the quota that is reached
	Exhausted bool         // the hard stop is reached: a continuation does not help
	Current   float64
	Resets    time.Time
}

// Warning is a quota whose first step is reached.
type Warning struct {
	Quota   *quota.Quota
	Current float64
	Resets  time.Time
}

// Taken is a call that was counted.
type Taken struct {
	Warnings []Warning

	gauge  *Gauge
	caller string
	at     time.Time
	claims []store.Claim
	counts []store.Count
}

// Check reports whether a call could be made, and counts nothing.
func (g *Gauge) Check(ctx context.Context, caller string, now time.Time) (*Block, error) {
	_, block, err := g.take(ctx, caller, now, 0, make([]bool, len(g.meter.options.Quotas)))
	return block, err
}

// Take counts a call, or returns why it cannot be made. Limits are checked before quotas (MCP-AQL rate limiting §4.1).
func (g *Gauge) Take(ctx context.Context, caller string, now time.Time) (Taken, *Block, error) {
	return g.take(ctx, caller, now, 1, make([]bool, len(g.meter.options.Quotas)))
}

// TakeDry is Take for a dry run, which no pause holds up. A dry run counts: it may call the API.
func (g *Gauge) TakeDry(ctx context.Context, caller string, now time.Time) (Taken, *Block, error) {
	return g.take(ctx, caller, now, 1, slices.Repeat([]bool{true}, len(g.meter.options.Quotas)))
}

// take counts n calls. lifted are the quotas whose pauses do not count; take adds those that the caller has lifted.
func (g *Gauge) take(ctx context.Context, caller string, now time.Time, n int64, lifted []bool) (Taken, *Block, error) {
	quotas := g.meter.options.Quotas
	for {
		claims := g.claims(caller, now, n, lifted)
		counts, err := g.meter.take(ctx, claims)
		if err != nil {
			return Taken{}, nil, fmt.Errorf("counting a call: %w", err)
		}
		refused := slices.IndexFunc(counts, func(c store.Count) bool { return c.Refused })
		if refused < 0 {
			warnings := g.warnings(claims, counts)
			taken := Taken{Warnings: warnings, gauge: g, caller: caller, at: now, claims: claims, counts: counts}
			return taken, nil, nil
		}
		if refused <= len(g.limits) {
			return Taken{}, g.limitBlock(refused, counts[refused]), nil
		}
		i := refused - len(g.limits) - 1
		q, count := &quotas[i], counts[refused]
		block := &Block{Quota: q, Current: float64(count.Used) / scale(q.Metric), Resets: count.Free}
		block.Exhausted = lifted[i] || q.Pause == 0 || q.HardStop > 0 && count.Used >= units(q, q.HardStop)
		if block.Exhausted {
			return Taken{}, block, nil
		}
		if lifted[i], err = g.meter.lifted(ctx, q, caller, block.Resets); err != nil {
			return Taken{}, nil, err
		}
		if !lifted[i] {
			return Taken{}, block, nil
		}
	}
}

// claims returns the claims of n calls: one that the API has not asked to wait, one for each limit, one for each quota.
func (g *Gauge) claims(caller string, now time.Time, n int64, lifted []bool) []store.Claim {
	m := g.meter
	claims := make([]store.Claim, 0, 1+len(g.limits)+len(m.options.Quotas))
	claims = append(claims, m.waitClaim(now))
	for _, limit := range g.limits {
		claims = append(claims, store.Claim{Key: m.limitKey(limit), N: n, Limit: limit.Limit, Window: windows[limit.Window]})
	}
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		claim := store.Claim{Key: m.quotaKey(q, caller), Ends: periodEnd(q.Metric, now, m.options.Location)}
		switch {
		case ofRequests(q.Metric):
			claim.N = n
		case ofCosts(q.Metric):
			claim.N = n * int64(math.Round(g.price.PerCall*scale(q.Metric)))
		}
		if q.Pause > 0 && !lifted[i] {
			claim.Limit = units(q, q.Pause)
		} else if q.HardStop > 0 {
			claim.Limit = units(q, q.HardStop)
		}
		if claim.Limit > 0 && claim.N > 1 {
			// A step is reached by what was used before the call, and not by what the call costs.
			claim.Limit += claim.N - 1
		}
		claims = append(claims, claim)
	}
	return claims
}

// units returns a step of a quota in counted units.
func units(q *quota.Quota, step float64) int64 {
	return max(int64(math.Round(step*scale(q.Metric))), 1)
}

// limitBlock returns the block of a claim that is not a quota's. The first claim is for the wait that the API has asked
// for.
func (g *Gauge) limitBlock(claim int, count store.Count) *Block {
	if claim == 0 {
		limit := &quota.Limit{Window: quota.Minute}
		if len(g.limits) > 0 {
			limit = g.limits[0]
		}
		return &Block{Limit: limit, Resets: count.Free}
	}
	limit := g.limits[claim-1]
	return &Block{Limit: limit, Remaining: max(limit.Limit-count.Used, 0), Resets: count.Free}
}

func (g *Gauge) warnings(claims []store.Claim, counts []store.Count) []Warning {
	var warnings []Warning
	for i := range g.meter.options.Quotas {
		q := &g.meter.options.Quotas[i]
		at := 1 + len(g.limits) + i
		if q.Warn > 0 && counts[at].Used >= units(q, q.Warn) {
			current := float64(counts[at].Used) / scale(q.Metric)
			warnings = append(warnings, Warning{Quota: q, Current: current, Resets: claims[at].Ends})
		}
	}
	return warnings
}

// GiveBack takes back the count of a call that was not made. A count whose window or period has passed stays: taking it
// back would take away another call's.
func (t Taken) GiveBack(ctx context.Context, now time.Time) error {
	var claims []store.Claim
	for _, claim := range t.claims {
		expires := claim.Ends
		if claim.Window > 0 {
			expires = t.at.Add(claim.Window)
		}
		if claim.N > 0 && now.Before(expires) {
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

// AddUsage counts what a call has used besides being made: its tokens, and what they and the handler's own report cost.
func (t Taken) AddUsage(ctx context.Context, used quota.Usage) error {
	if t.gauge == nil {
		return nil
	}
	return t.gauge.AddUsage(ctx, t.caller, t.at, used)
}

// AddUsage counts what a caller has used at a time.
func (g *Gauge) AddUsage(ctx context.Context, caller string, at time.Time, used quota.Usage) error {
	m := g.meter
	cost := used.Cost + g.price.PerToken*float64(used.Tokens)
	var claims []store.Claim
	for i := range m.options.Quotas {
		q := &m.options.Quotas[i]
		n := int64(0)
		switch {
		case ofTokens(q.Metric):
			n = min(used.Tokens, mostUsed)
		case ofCosts(q.Metric):
			n = costUnits(cost, scale(q.Metric))
		}
		if n > 0 {
			ends := periodEnd(q.Metric, at, m.options.Location)
			claims = append(claims, store.Claim{Key: m.quotaKey(q, caller), N: n, Ends: ends})
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

// mostUsed bounds what one call can use, in counted units: a store may count no further than 2^53.
const mostUsed = 1 << 52

// costUnits returns a cost in counted units. A cost that is no number counts like one without end: what cannot be
// judged is not free.
func costUnits(cost, scale float64) int64 {
	switch units := math.Round(cost * scale); {
	case math.IsNaN(units), units > mostUsed:
		return mostUsed
	default:
		return int64(max(units, 0))
	}
}

// CountsUsage reports whether some quota counts tokens or costs, which are known only after the call.
func (t Taken) CountsUsage() bool {
	return t.gauge != nil && slices.ContainsFunc(t.gauge.meter.options.Quotas, func(q quota.Quota) bool {
		return !ofRequests(q.Metric)
	})
}
