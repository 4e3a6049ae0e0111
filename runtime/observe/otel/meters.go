package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meters are the instruments.
type meters struct {
	sessions, calls, operations, executions, waits, store, quotas metric.Float64Histogram
	decisions, states, takeovers, opened                          metric.Int64Counter
	directives, failures                                          metric.Int64Counter
}

// seconds are the bounds of buckets from a tenth of a millisecond to a quarter of a minute: of calls.
var seconds = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15}

// long are the bounds of buckets from a second to a day: of what people or executions take.
var long = []float64{1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}

// shares are the bounds of buckets of what is used of a quota.
var shares = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1}

func newMeters(m metric.Meter) (*meters, error) {
	var all meters
	var faults []error
	measure := func(into *metric.Float64Histogram, name, unit, description string, bounds []float64) {
		var err error
		*into, err = m.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(bounds...))
		faults = append(faults, err)
	}
	durations := func(into *metric.Float64Histogram, name, description string, bounds []float64) {
		measure(into, name, "s", description, bounds)
	}
	count := func(into *metric.Int64Counter, name, unit, description string) {
		var err error
		*into, err = m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		faults = append(faults, err)
	}
	durations(&all.sessions, sessionDurations, "How long clients are connected.", long)
	durations(&all.calls, callDurations, "How long calls of tools take.", seconds)
	durations(&all.operations, operationDurations, "How long requests in calls take.", seconds)
	durations(&all.executions, executionDurations, "How long executions take from start to end.", long)
	durations(&all.waits, approvalWaits, "How long people take to approve.", long)
	durations(&all.store, storeDurations, "How long the state takes to answer.", seconds)
	measure(&all.quotas, quotaUsed, "1", "Shares of quotas that are used, of each request that they count or refuse.",
		shares)
	count(&all.decisions, gateDecisions, "{decision}", "Decisions of the gate.")
	count(&all.states, executionStates, "{execution}", "Executions that have come to a state.")
	count(&all.takeovers, executionTakeovers, "{execution}", "Executions taken from processes that are gone.")
	count(&all.opened, approvalsOpened, "{item}", "Items opened in the inbox.")
	count(&all.directives, loopDirectives, "{directive}", "Directives of the safety loop to agents.")
	count(&all.failures, verifyFailures, "{code}", "Codes of agents that have let nothing go.")
	return &all, errors.Join(faults...)
}

// given returns the attributes that are not an empty text.
func given(all []attribute.KeyValue) []attribute.KeyValue {
	var some []attribute.KeyValue
	for _, a := range all {
		if a.Value.Type() != attribute.STRING || a.Value.AsString() != "" {
			some = append(some, a)
		}
	}
	return some
}

// record records a value, if that is wanted.
func record(ctx context.Context, h metric.Float64Histogram, value float64, of func() *measured) {
	if h.Enabled(ctx) {
		h.Record(ctx, value, of().record...)
	}
}

// add adds one, if that is wanted.
func add(ctx context.Context, c metric.Int64Counter, of func() *measured) {
	if c.Enabled(ctx) {
		c.Add(ctx, 1, of().add...)
	}
}
