package meter

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 3, 1, 9, 0, 10, 0, time.UTC)

var shop = gen.Definitions{Name: "shop", Operations: []gen.Operation{
	{Name: "list_items", Category: gen.Read}, {Name: "get_item", Category: gen.Read},
	{Name: "delete_item", Category: gen.Delete},
}}

// clocked is a meter over a store whose clock the test turns.
type clocked struct {
	*Meter
	now time.Time
}

func newMeter(t *testing.T, options quota.Options) *clocked {
	t.Helper()
	c := &clocked{now: start}
	var err error
	if c.Meter, err = New(options, &shop, &store.Memory{Now: func() time.Time { return c.now }}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *clocked) take(t *testing.T, operation, caller string) (Taken, *Block) {
	t.Helper()
	taken, block, err := c.Gauge(operation).Take(t.Context(), caller, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return taken, block
}

// REQ-RQ-01, REQ-RQ-02, REQ-RQ-03, REQ-RQ-05: each scope holds for what it names, for all callers together.
func TestLimits(t *testing.T) {
	m := newMeter(t, quota.Options{Limits: []quota.Limit{
		{Limit: 4, Window: quota.Minute}, {Category: gen.Read, Limit: 3, Window: quota.Minute},
		{Operation: "get_*", Limit: 1, Window: quota.Second},
	}})
	for i, step := range []struct {
		operation, caller string
		blocked           *Block
	}{
		{"get_item", "ann", nil},
		{"get_item", "bob", &Block{Limit: &m.options.Limits[2], Resets: start.Add(1100 * time.Millisecond)}},
		{"list_items", "ann", nil},
		{"list_items", "ann", nil},
		{"list_items", "bob", &Block{Limit: &m.options.Limits[1], Resets: start.Add(62 * time.Second)}},
		{"delete_item", "bob", nil},
		{"delete_item", "bob", &Block{Limit: &m.options.Limits[0], Resets: start.Add(62 * time.Second)}},
	} {
		_, block := m.take(t, step.operation, step.caller)
		if diff := cmp.Diff(step.blocked, block); diff != "" {
			t.Errorf("step %d, %s: %s", i, step.operation, diff)
		}
	}
	m.now = start.Add(2 * time.Minute)
	if _, block := m.take(t, "get_item", "ann"); block != nil {
		t.Errorf("two minutes later: %+v", block)
	}
	if m.Gauge("introspect") != nil {
		t.Error("T-86: introspect is counted")
	}
}

// REQ-RQ-06, REQ-RQ-07, REQ-RQ-08, REQ-RQ-10, REQ-RQ-12, REQ-RQ-15, T-63: warn, pause, lifting the pause, hard stop,
// reset.
func TestQuotaSteps(t *testing.T) {
	m := newMeter(t, quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, Warn: 2, Pause: 3, HardStop: 5}}})
	q := &m.options.Quotas[0]
	const warns, pauses, stops = "warns", "pauses", "stops"
	ends := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	try := func(want string, current float64) {
		t.Helper()
		taken, block := m.take(t, "get_item", "ann")
		got := ""
		at := 0.0
		switch {
		case block != nil && block.Exhausted:
			got, at = stops, block.Current
		case block != nil:
			got, at = pauses, block.Current
		case len(taken.Warnings) > 0:
			got, at = warns, taken.Warnings[0].Current
		}
		if got != want || at != current || block != nil && (block.Quota != q || !block.Resets.Equal(ends)) {
			t.Errorf("got %q at %g (%+v), want %q at %g", got, at, block, want, current)
		}
	}
	try("", 0)
	try(warns, 2)
	try(warns, 3)
	try(pauses, 3)
	try(pauses, 3) // what is blocked does not count
	if err := m.Lift(t.Context(), q, "ann", ends, m.now); err != nil {
		t.Fatal(err)
	}
	try(warns, 4)
	try(warns, 5)
	try(stops, 5)
	if err := m.Lift(t.Context(), q, "ann", ends, m.now); err != nil {
		t.Fatal(err)
	}
	try(stops, 5)
	if _, block := m.take(t, "get_item", "bob"); block != nil {
		t.Errorf("another caller: %+v", block)
	}
	m.now, ends = ends, ends.Add(time.Hour)
	try("", 0)
	try(warns, 2)
	try(warns, 3)
	try(pauses, 3) // the pause is lifted for its period alone
}

// REQ-RQ-14: costs of calls and of tokens, and what handlers say they spent.
func TestCostsAndTokens(t *testing.T) {
	m := newMeter(t, quota.Options{
		Quotas: []quota.Quota{
			{Metric: quota.CostPerMonth, Warn: 0.3, HardStop: 0.5, Currency: "EUR", Shared: true},
			{Metric: quota.TokensPerDay, Pause: 100},
		},
		Prices: []quota.Price{{Operation: "get_*", PerCall: 0.1}, {PerToken: 0.001}},
	})
	first, _ := m.take(t, "get_item", "ann")
	if !first.CountsUsage() {
		t.Error("is not metered")
	}
	if err := first.AddUsage(t.Context(), quota.Usage{Tokens: 60}); err != nil {
		t.Fatal(err)
	}
	second, _ := m.take(t, "list_items", "bob")
	if err := second.AddUsage(t.Context(), quota.Usage{Tokens: 100, Cost: 0.05}); err != nil { // 0.1 for the tokens
		t.Fatal(err)
	}
	third, block := m.take(t, "get_item", "ann")
	if block != nil || len(third.Warnings) != 1 || third.Warnings[0].Current != 0.35 {
		t.Errorf("third call: %+v, %+v", third.Warnings, block)
	}
	if _, block := m.take(t, "get_item", "bob"); block == nil || block.Quota.Metric != quota.TokensPerDay ||
		block.Exhausted {
		t.Errorf("bob has used 100 tokens: %+v", block)
	}
	if err := third.AddUsage(t.Context(), quota.Usage{Cost: 0.15}); err != nil {
		t.Fatal(err)
	}
	if _, block := m.take(t, "list_items", "eve"); block == nil || !block.Exhausted || block.Current != 0.5 {
		t.Errorf("the month's money is spent: %+v", block)
	}
	status, err := m.Status(t.Context(), "bob", m.now, shop.Operations)
	if err != nil {
		t.Fatal(err)
	}
	number := func(n float64) *float64 { return &n }
	want := Status{
		Adapter: "shop", APILimits: map[string]LimitStatus{}, NextReset: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
		Quotas: []QuotaStatus{
			{
				Metric: quota.CostPerMonth, Current: 0.5, Warn: number(0.3), HardStop: number(0.5), Status: "exhausted",
				Currency: "EUR", Shared: true, Resets: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
			},
			{
				Metric: quota.TokensPerDay, Current: 100, Pause: number(100), Status: "paused",
				Resets: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
			},
		},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
}

// A step is reached by what was used, not by what a call is about to cost.
func TestCostIsCountedWhenItsStepIsNotReached(t *testing.T) {
	m := newMeter(
		t,
		quota.Options{Quotas: []quota.Quota{{Metric: quota.CostPerHour, HardStop: 1}}, Prices: []quota.Price{{PerCall: 0.7}}},
	)
	m.take(t, "get_item", "ann")
	if _, block := m.take(t, "get_item", "ann"); block != nil {
		t.Errorf("at 0.7 of 1: %+v", block)
	}
	if _, block := m.take(t, "get_item", "ann"); block == nil || block.Current != 1.4 {
		t.Errorf("at 1.4 of 1: %+v", block)
	}
}

func TestAskingAndGivingBack(t *testing.T) {
	m := newMeter(
		t,
		quota.Options{
			Limits: []quota.Limit{{Limit: 1, Window: quota.Hour}},
			Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, HardStop: 1}},
		},
	)
	ask := func() *Block {
		block, err := m.Gauge("get_item").Check(t.Context(), "ann", m.now)
		if err != nil {
			t.Fatal(err)
		}
		return block
	}
	for range 2 {
		if ask() != nil {
			t.Error("asking counts")
		}
	}
	taken, _ := m.take(t, "get_item", "ann")
	if ask() == nil {
		t.Error("the last place is still free")
	}
	if err := taken.GiveBack(t.Context(), m.now); err != nil {
		t.Fatal(err)
	}
	if block := ask(); block != nil {
		t.Errorf("what was given back is not free: %+v", block)
	}
}

// REQ-RQ-04: the limits that the API reports count.
func TestObserve(t *testing.T) {
	limit := quota.Limit{Limit: 100, Window: quota.Minute, RemainingHeader: "X-Left", ResetHeader: "X-Reset"}
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		until  time.Time // zero: goes on
	}{
		{"nothing", 200, nil, time.Time{}},
		{"some are left", 200, http.Header{"X-Left": {"3"}, "X-Reset": {"60"}}, time.Time{}},
		{"none is left", 200, http.Header{"X-Left": {"0"}, "X-Reset": {"40"}}, start.Add(40 * time.Second)},
		{
			"none is left until a Unix time", 200, http.Header{"X-Left": {"0"}, "X-Reset": {"1772355700"}},
			time.Unix(1772355700, 0),
		},
		{"none is left, for a window", 200, http.Header{"X-Left": {"0"}}, start.Add(time.Minute)},
		{"retry after seconds", 429, http.Header{"Retry-After": {"7"}}, start.Add(7 * time.Second)},
		{
			"retry after a date", 503, http.Header{"Retry-After": {"Sun, 01 Mar 2026 09:01:00 GMT"}},
			start.Add(50 * time.Second),
		},
		{
			"retry after a date of the old form", 503, http.Header{"Retry-After": {"Sunday, 01-Mar-26 09:01:00 GMT"}},
			start.Add(50 * time.Second),
		},
		{
			"retry after a date of C", 503, http.Header{"Retry-After": {"Sun Mar  1 09:01:00 2026"}},
			start.Add(50 * time.Second),
		},
		{"names in another case", 429, map[string][]string{"retry-after": {"7"}}, start.Add(7 * time.Second)},
		{"retry after, of a success", 200, http.Header{"Retry-After": {"7"}}, time.Time{}},
		{"nonsense", 429, http.Header{"Retry-After": {"soon"}, "X-Left": {"few"}}, time.Time{}},
		{"a time that is past", 429, http.Header{"Retry-After": {"-5"}}, time.Time{}},
		{"for ever", 429, http.Header{"Retry-After": {"9223372036854775807"}}, start.Add(longestWait)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMeter(t, quota.Options{Limits: []quota.Limit{limit}})
			if err := m.Observe(t.Context(), tt.status, tt.header, m.now); err != nil {
				t.Fatal(err)
			}
			_, block := m.take(t, "get_item", "ann")
			if (block != nil) != !tt.until.IsZero() || block != nil && !block.Resets.Equal(tt.until) {
				t.Fatalf("%+v, want until %v", block, tt.until)
			}
			if block != nil {
				m.now = tt.until
				if _, block := m.take(t, "get_item", "ann"); block != nil {
					t.Errorf("afterwards: %+v", block)
				}
			}
		})
	}
}

func TestPeriodsFollowTheCalendar(t *testing.T) {
	zone := time.FixedZone("east", 2*60*60)
	at := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC) // 01:30 on the first of February there
	for metric, want := range map[quota.Metric]time.Time{
		quota.RequestsPerMinute: at.Add(time.Minute), quota.TokensPerHour: at.Add(30 * time.Minute),
		quota.RequestsPerDay: time.Date(2026, 2, 2, 0, 0, 0, 0, zone),
		quota.CostPerMonth:   time.Date(2026, 3, 1, 0, 0, 0, 0, zone),
	} {
		if got := periodEnd(metric, at, zone); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
}

func TestMistakesAreRefused(t *testing.T) {
	_, err := New(quota.Options{
		Limits: []quota.Limit{
			{Operation: "get_{item,thing}", Limit: 1, Window: quota.Minute},
			{Operation: "send_*", Limit: 1, Window: quota.Minute}, {Limit: 0, Window: "week"},
			{Operation: "get_item", Category: gen.Read, Limit: 1, Window: quota.Day},
			{Category: "WRITE", Limit: 1, Window: quota.Day},
			{Limit: 1, Window: quota.Day}, {Limit: 2, Window: quota.Day},
		},
		Quotas: []quota.Quota{
			{Metric: quota.RequestsPerDay, Warn: 5, Pause: 3}, {Metric: "requests_per_year", Warn: 1},
			{Metric: quota.TokensPerDay}, {Metric: quota.CostPerDay, Pause: -1},
			{Metric: quota.CostPerHour, Pause: 1}, {Metric: quota.CostPerHour, Pause: 2},
			{Metric: quota.CostPerHour, Pause: 2, Shared: true},
		},
		Prices: []quota.Price{{Operation: "buy", PerCall: -1}},
	}, &shop, new(store.Memory))
	want := `limits and quotas: limit 1: pattern "get_{item,thing}": only * and ? have a meaning
limit 2: no operation is called "send_*"
limit 3: the limit is 0; it must be greater than 0
limit 4 names both an operation and a category
limit 5: category "WRITE" is none of CREATE, READ, UPDATE, DELETE, EXECUTE
limit 7: there is another limit for global per day
quota requests_per_day: warn, pause and hard stop must rise
quota metric "requests_per_year" is none of [requests_per_minute requests_per_hour requests_per_day ` +
		`tokens_per_minute tokens_per_hour tokens_per_day cost_per_hour cost_per_day cost_per_month]
quota tokens_per_day has no step: set Warn, Pause or HardStop
quota cost_per_day: step -1 is out of range
quota cost_per_day has no step: set Warn, Pause or HardStop
quota cost_per_hour is given twice
price 1: no operation is called "buy"
price 1 is out of range`
	if err == nil {
		t.Fatal("nothing was refused")
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// What cannot be counted is not allowed.
func TestAStoreThatFailsStopsCalls(t *testing.T) {
	full := &store.Memory{MaxEntries: 1}
	if _, err := full.Put(t.Context(), "x", nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	m, err := New(quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Warn: 1}}}, &shop, full)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Gauge("get_item").Take(t.Context(), "ann", start); !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v", err)
	}
}

// REQ-RQ-01, REQ-RQ-15: what is given back late takes nothing away from the calls that were made meanwhile.
func TestGivingBackLate(t *testing.T) {
	for name, tt := range map[string]struct {
		options quota.Options
		later   time.Duration
	}{
		"a window that has passed": {quota.Options{Limits: []quota.Limit{{Limit: 2, Window: quota.Second}}}, 2 * time.Second},
		"a period that has ended": {
			quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerMinute, HardStop: 2}}}, time.Minute,
		},
	} {
		m := newMeter(t, tt.options)
		early, _ := m.take(t, "get_item", "ann")
		m.now = m.now.Add(tt.later)
		for range 2 {
			if _, block := m.take(t, "get_item", "ann"); block != nil {
				t.Fatalf("%s: blocked too early", name)
			}
		}
		if err := early.GiveBack(t.Context(), m.now); err != nil {
			t.Fatal(err)
		}
		if _, block := m.take(t, "get_item", "ann"); block == nil {
			t.Errorf("%s: a third call is let through", name)
		}
	}
}

// T-87, REQ-RQ-01: no pause holds a dry run, but it is counted: limits and hard stops do.
func TestDryRunsCount(t *testing.T) {
	m := newMeter(
		t,
		quota.Options{
			Limits: []quota.Limit{{Limit: 4, Window: quota.Minute}},
			Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1, HardStop: 3}},
		},
	)
	dry := func() *Block {
		_, block, err := m.Gauge("get_item").TakeDry(t.Context(), "ann", m.now)
		if err != nil {
			t.Fatal(err)
		}
		return block
	}
	for i := range 3 {
		if block := dry(); block != nil {
			t.Errorf("dry run %d: %+v", i, block)
		}
	}
	if block := dry(); block == nil || !block.Exhausted {
		t.Errorf("beyond the hard stop: %+v", block)
	}
	m = newMeter(
		t,
		quota.Options{
			Limits: []quota.Limit{{Limit: 1, Window: quota.Minute}},
			Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}},
		},
	)
	dry()
	if block := dry(); block == nil || block.Limit == nil {
		t.Errorf("beyond the API's limit: %+v", block)
	}
}

// T-63: lifting the pause of one's own quota does not lift that of the shared quota.
func TestLiftingOneOfTwoPauses(t *testing.T) {
	m := newMeter(
		t,
		quota.Options{
			Quotas: []quota.Quota{
				{Metric: quota.RequestsPerDay, Pause: 1}, {Metric: quota.RequestsPerDay, Pause: 2, Shared: true},
			},
		},
	)
	m.take(t, "get_item", "ann")
	_, block := m.take(t, "get_item", "ann")
	if err := m.Lift(t.Context(), block.Quota, "ann", block.Resets, m.now); err != nil {
		t.Fatal(err)
	}
	m.take(t, "get_item", "ann")
	if _, block := m.take(t, "get_item", "ann"); block == nil || !block.Quota.Shared {
		t.Errorf("the pause of all callers does not hold: %+v", block)
	}
}

// A15, REQ-RQ-17: quota_status says when the next call may be made, as the refusal of a call does.
func TestStatusAgreesWithRefusals(t *testing.T) {
	m := newMeter(t, quota.Options{Limits: []quota.Limit{{Limit: 2, Window: quota.Minute}}})
	status := func() LimitStatus {
		t.Helper()
		s, err := m.Status(t.Context(), "ann", m.now, shop.Operations)
		if err != nil {
			t.Fatal(err)
		}
		return s.APILimits["global"]
	}
	m.take(t, "get_item", "ann")
	want := LimitStatus{Limit: 2, Remaining: 1, Window: quota.Minute, ResetsAt: m.now.Add(time.Minute)}
	if diff := cmp.Diff(want, status()); diff != "" {
		t.Errorf("before the limit (-want +got):\n%s", diff)
	}
	m.take(t, "get_item", "ann")
	m.now = m.now.Add(3 * time.Second)
	_, block := m.take(t, "get_item", "ann")
	want = LimitStatus{Limit: 2, Window: quota.Minute, ResetsAt: block.Resets.UTC()}
	if diff := cmp.Diff(want, status()); diff != "" {
		t.Errorf("at the limit (-want +got):\n%s", diff)
	}
	m.now = block.Resets
	if _, block := m.take(t, "get_item", "ann"); block != nil {
		t.Errorf("then the call is refused: %+v", block)
	}
	m.now = m.now.Add(10 * time.Minute)
	err := m.Observe(t.Context(), http.StatusTooManyRequests, http.Header{"Retry-After": {"30"}}, m.now)
	if err != nil {
		t.Fatal(err)
	}
	_, block = m.take(t, "get_item", "ann")
	want = LimitStatus{Limit: 2, Window: quota.Minute, ResetsAt: block.Resets.UTC()}
	if diff := cmp.Diff(want, status()); diff != "" {
		t.Errorf("while the API asks to wait (-want +got):\n%s", diff)
	}
}

// C12, T-63, REQ-RQ-17: so it does of a quota whose counter a clock that was ahead has brought to a later period: its
// pause, what lifts it and its reset are those of that period.
func TestStatusOfALaterPeriod(t *testing.T) {
	m := newMeter(t, quota.Options{Quotas: []quota.Quota{
		{Metric: quota.RequestsPerDay, Pause: 1, HardStop: 3}, {Metric: quota.CostPerMonth, Warn: 9},
	}})
	status := func() (states []string, reset time.Time) {
		t.Helper()
		s, err := m.Status(t.Context(), "ann", m.now, shop.Operations)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range s.Quotas {
			states = append(states, q.Status)
		}
		return states, s.NextReset
	}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if states, reset := status(); !slices.Equal(states, []string{"ok", "ok"}) || !reset.Equal(midnight) {
		t.Errorf("before any call: %v, reset at %v", states, reset)
	}
	m.now = start.Add(36 * time.Hour)
	m.take(t, "get_item", "ann")
	m.now = start
	_, block := m.take(t, "get_item", "ann")
	if later := midnight.Add(24 * time.Hour); block == nil || !block.Resets.Equal(later) {
		t.Fatalf("%+v", block)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "paused"},
		{func() {
			if err := m.Lift(t.Context(), block.Quota, "ann", block.Resets, m.now); err != nil {
				t.Fatal(err)
			}
		}, "warn"},
		{func() { m.take(t, "get_item", "ann"); m.take(t, "get_item", "ann") }, "exhausted"},
	} {
		step.do()
		if states, reset := status(); !slices.Equal(states, []string{step.want, "ok"}) || !reset.Equal(block.Resets) {
			t.Errorf("%v, reset at %v, want %s and %v", states, reset, step.want, block.Resets)
		}
	}
	if _, block := m.take(t, "get_item", "ann"); block == nil || !block.Exhausted {
		t.Errorf("%+v", block)
	}
}

// C12, REQ-RQ-14: what a handler reports is counted as far as a counter goes; a cost that is no number is not free.
func TestUsageThatCannotBeCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		used    quota.Usage
		blocked bool
	}{
		"a cost that is no number":      {quota.Usage{Cost: math.NaN()}, true},
		"a cost without end":            {quota.Usage{Cost: math.Inf(1)}, true},
		"a negative cost":               {quota.Usage{Cost: -1}, false},
		"a cost without end, below":     {quota.Usage{Cost: math.Inf(-1)}, false},
		"tokens up to the largest":      {quota.Usage{Tokens: math.MaxInt64}, true},
		"tokens below nothing":          {quota.Usage{Tokens: math.MinInt64}, false},
		"no tokens, and the least cost": {quota.Usage{Cost: math.SmallestNonzeroFloat64}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMeter(t, quota.Options{Quotas: []quota.Quota{
				{Metric: quota.CostPerDay, HardStop: 1e9}, {Metric: quota.TokensPerDay, HardStop: 1e15},
			}})
			for range 3 {
				taken, block := m.take(t, "get_item", "ann")
				if block != nil {
					break
				}
				if err := taken.AddUsage(t.Context(), tt.used); err != nil {
					t.Fatal(err)
				}
			}
			if _, block := m.take(t, "get_item", "ann"); (block != nil) != tt.blocked {
				t.Errorf("%+v", block)
			}
			if _, block := m.take(t, "get_item", "bob"); block != nil {
				t.Errorf("bob: %+v", block)
			}
		})
	}
}

// C12: a clock that is set back gives no caller a window or a period anew.
func TestLimitsWhenTheClockIsSetBack(t *testing.T) {
	m := newMeter(t, quota.Options{
		Limits: []quota.Limit{{Operation: "get_item", Limit: 1, Window: quota.Hour}},
		Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, HardStop: 2}},
	})
	m.take(t, "get_item", "ann")
	m.take(t, "list_items", "ann")
	for _, back := range []time.Duration{time.Minute, 2 * time.Hour, 40 * 24 * time.Hour} {
		m.now = start.Add(-back)
		for _, operation := range []string{"get_item", "list_items"} {
			if _, block := m.take(t, operation, "ann"); block == nil {
				t.Errorf("%s, set back by %v: it may run again", operation, back)
			}
		}
	}
}
