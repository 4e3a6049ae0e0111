// Package otel makes spans and metrics of OpenTelemetry of what happens in an adapter. It makes the hooks for that:
//
//	hooks, err := otel.New(otel.Options{Tracers: tracers, Meters: meters})
//	adapter, err := aql.New(registry, aql.Options{Observe: hooks})
//
// A call is a span "tools/call" with the tool behind it, and each request in it is one below that, "aql" with the
// operation behind it. An attempt at an execution is a span of a trace of its own, with its steps below it and a link
// to the span of the operation that has started the execution.
//
// The parent of a call's span is the one that the client names in the metadata of the message, as traceparent. The
// sampler of the tracers decides what the client's word about sampling counts: trace.ParentBased of the SDK follows it
// unless it is told otherwise, with WithRemoteParentSampled and WithRemoteParentNotSampled. Baggage of the message is
// not read. Without a traceparent, or where the span that the context has is of the same trace, such as that of
// otelhttp, the parent is that one; one of another trace is linked.
//
// Neither spans nor metrics have parameters, results, tokens or the names of callers. The labels of metrics are names
// of operations and tools, error codes, and a few words. Spans have two words of clients: the id of the request, and
// the name of the agent that the safety loop tells something.
package otel

import (
	"fmt"

	"github.com/aqltag/aqltag/runtime/observe"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options says what is made. The zero value makes nothing.
type Options struct {
	Tracers trace.TracerProvider // of spans; nil: there are none
	Meters  metric.MeterProvider // of metrics; nil: there are none
}

// scope is the name of the instrumentation.
const scope = "github.com/aqltag/aqltag/runtime/observe/otel"

// New returns the hooks of an adapter, or of several. It fails where the meter provider does not make the metrics.
func New(o Options) (*observe.Hooks, error) {
	h := new(hooks)
	if o.Tracers != nil {
		h.tracer = o.Tracers.Tracer(scope)
	}
	if o.Meters != nil {
		var err error
		if h.meters, err = newMeters(o.Meters.Meter(scope)); err != nil {
			return nil, fmt.Errorf("making metrics: %w", err)
		}
	}
	made := &observe.Hooks{
		Session: h.session, Call: h.call, Operation: h.operation, Gate: h.gate, Execution: h.execution, Origin: h.origin,
		Attempt: h.attempt, Step: h.step, Approval: h.approval, Directive: h.directive, Verification: h.verification,
	}
	if h.meters != nil { // nothing is timed or computed for nobody
		made.Store, made.Quota = h.store, h.quota
	}
	return made, nil
}
