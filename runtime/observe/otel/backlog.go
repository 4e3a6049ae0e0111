package otel

import (
	"context"
	"fmt"

	aql "github.com/aqltag/aqltag/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Watch makes metrics of what waits in the state of an adapter, as Backlog of the adapter counts it, and of what waits
// for its audit log. Every process that shares the state tells the same numbers of it. Where they cannot be read, the
// metrics are missing.
func Watch(meters metric.MeterProvider, adapter *aql.Adapter) error {
	m := meters.Meter(scope)
	open, err := m.Int64ObservableGauge(approvalsOpen, metric.WithUnit("{item}"),
		metric.WithDescription("Items of the inbox that wait for people."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	waited, err := m.Float64ObservableGauge(approvalsOldest, metric.WithUnit("s"),
		metric.WithDescription("For how long the oldest item of the inbox that waits for people has waited."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	blocked, err := m.Int64ObservableGauge(agentsBlocked, metric.WithUnit("{agent}"),
		metric.WithDescription("Agents that are blocked until a person lets them go on."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	outstanding, err := m.Int64ObservableGauge(executionsOutstanding, metric.WithUnit("{execution}"),
		metric.WithDescription("Executions that have not ended."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	age, err := m.Float64ObservableGauge(executionQueueAge, metric.WithUnit("s"),
		metric.WithDescription("For how long the oldest execution that is due has been."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	unrecorded, err := m.Int64ObservableGauge(auditQueue, metric.WithUnit("{record}"),
		metric.WithDescription("Records that wait in this process until the audit log has stored them."))
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	in := func(state string) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(attribute.String(executionState, state)))
	}
	due, later, running := in("due"), in("later"), in("running")
	_, err = m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if records, ok := adapter.Unrecorded(); ok {
			o.ObserveInt64(unrecorded, int64(records))
		}
		b, err := adapter.Backlog(ctx)
		if err != nil {
			return err
		}
		o.ObserveInt64(open, int64(b.Approvals))
		o.ObserveFloat64(waited, b.OldestApproval.Seconds())
		o.ObserveInt64(blocked, int64(b.Blocked))
		if adapter.Executes() {
			o.ObserveInt64(outstanding, int64(b.Due), due)
			o.ObserveInt64(outstanding, int64(b.Later), later)
			o.ObserveInt64(outstanding, int64(b.Running), running)
			o.ObserveFloat64(age, b.Oldest.Seconds())
		}
		return nil
	}, open, waited, blocked, outstanding, age, unrecorded)
	if err != nil {
		return fmt.Errorf("making metrics: %w", err)
	}
	return nil
}
