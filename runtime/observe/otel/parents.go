package otel

import (
	"context"

	"github.com/aqltag/aqltag/runtime/observe"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// remote returns the span that a traceparent names, with its tracestate (W3C Trace Context). It is invalid where the
// text is not well-formed.
func remote(traceParent, traceState string) trace.SpanContext {
	if traceParent == "" {
		return trace.SpanContext{}
	}
	// Not otel.GetTextMapPropagator: that of the program may read baggage, which is the client's word.
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{
		"traceparent": traceParent, "tracestate": traceState,
	})
	return trace.SpanContextFromContext(ctx)
}

// parent returns a context whose span is to be the parent of that of a call: the client's, with a link to the one that
// is there, such as that of an HTTP request. Where both are of one trace, the one that is there is nearer.
func parent(
	ctx context.Context, t *observe.Transport, options []trace.SpanStartOption,
) (context.Context, []trace.SpanStartOption) {
	client := remote(t.TraceParent, t.TraceState)
	here := trace.SpanContextFromContext(ctx)
	if !client.IsValid() || client.TraceID() == here.TraceID() {
		return ctx, options
	}
	if here.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: here}))
	}
	return trace.ContextWithRemoteSpanContext(ctx, client), options
}

// origin returns the traceparent of the span in which an execution is started; empty: there is none. The tracestate,
// which may be a client's, is not kept.
func (h *hooks) origin(ctx context.Context) string {
	if h.tracer == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
