package otel

import (
	"context"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/observe"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// hooks make spans and metrics.
type hooks struct {
	tracer trace.Tracer // nil: there are no spans
	meters *meters      // nil: there are no metrics

	calls      sets[ended]
	operations sets[ended]
	decisions  sets[observe.Decision]
	quotas     sets[string]
	states     sets[ended]
	items      sets[observe.Approval]
	directives sets[observe.Directive]
	failures   sets[observe.Verification]
	stores     sets[observe.StoreCall]
}

// ended is what has ended, and how: an error code or a state.
type ended struct{ name, how string }

// begin begins a span, whose name is what happens, and to which tool or operation; empty: to none. Without spans it
// returns the context, and nil.
func (h *hooks) begin(
	ctx context.Context, what, to string, attributes func() []attribute.KeyValue, options ...trace.SpanStartOption,
) (context.Context, trace.Span) {
	if h.tracer == nil {
		return ctx, nil
	}
	if to != "" {
		what += " " + to
	}
	ctx, span := h.tracer.Start(ctx, what, options...)
	if span.IsRecording() {
		span.SetAttributes(given(attributes())...)
	}
	return ctx, span
}

// end ends a span with an error code; empty: there is none. fault reports whether the span has failed: a refusal has
// not.
func end(span trace.Span, code string, fault bool) {
	if span == nil {
		return
	}
	if code != "" {
		span.SetAttributes(attribute.String(errorType, code))
	}
	if fault {
		span.SetStatus(codes.Error, code)
	}
	span.End()
}

func (h *hooks) session(ctx context.Context, s observe.Session) {
	if h.meters != nil {
		record(ctx, h.meters.sessions, s.Took.Seconds(), func() *measured { return plain })
	}
}

// plain measures without attributes.
var plain = newMeasured(nil)

func (h *hooks) call(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
	began := time.Now()
	var options []trace.SpanStartOption
	if h.tracer != nil {
		ctx, options = parent(ctx, &c.Transport, []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)})
	}
	ctx, span := h.begin(ctx, toolsCall, c.Tool, func() []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String(mcpMethod, toolsCall), attribute.String(genAIAction, executeTool),
			attribute.String(genAITool, c.Tool), attribute.String(mcpSession, c.Session),
			attribute.String(mcpVersion, c.Transport.Protocol), attribute.String(rpcRequest, c.Transport.RequestID),
			attribute.String(network, c.Transport.Network),
		}
	}, options...)
	return ctx, func(e observe.CallEnd) {
		if h.meters != nil {
			record(ctx, h.meters.calls, time.Since(began).Seconds(), func() *measured {
				return h.calls.of(ended{c.Tool, e.Code}, func(k ended) []attribute.KeyValue {
					return []attribute.KeyValue{
						attribute.String(mcpMethod, toolsCall), attribute.String(genAIAction, executeTool),
						attribute.String(genAITool, k.name), attribute.String(errorType, k.how),
					}
				})
			})
		}
		if span != nil && e.RPCError != 0 {
			span.SetAttributes(attribute.String(rpcStatus, strconv.Itoa(e.RPCError)))
		}
		end(span, e.Code, e.Error)
	}
}

// internal is the error code of what is no fault of a client.
const internal = "INTERNAL_ERROR"

func (h *hooks) operation(
	ctx context.Context, o observe.Operation,
) (context.Context, func(observe.OperationEnd)) {
	began := time.Now()
	ctx, span := h.begin(ctx, "aql", o.Name, func() []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String(operationName, o.Name), attribute.String(operationCategory, o.Category),
			attribute.String(operationDanger, o.Danger), attribute.String(operationEndpoint, o.Endpoint),
		}
	})
	return ctx, func(e observe.OperationEnd) {
		if h.meters != nil {
			record(ctx, h.meters.operations, time.Since(began).Seconds(), func() *measured {
				return h.operations.of(ended{o.Name, e.Code}, func(k ended) []attribute.KeyValue {
					return []attribute.KeyValue{
						attribute.String(operationName, k.name), attribute.String(errorType, k.how),
					}
				})
			})
		}
		end(span, e.Code, e.Code == internal)
	}
}

func (h *hooks) gate(ctx context.Context, d observe.Decision) {
	if span := h.current(ctx); span != nil {
		span.SetAttributes(given([]attribute.KeyValue{
			attribute.String(gateDecision, string(d.Effect)), attribute.String(gateReason, d.Reason),
			attribute.String(gateRule, d.Rule), attribute.Bool(confirmed, d.Effect == observe.Confirmed),
		})...)
	}
	if h.meters == nil {
		return
	}
	add(ctx, h.meters.decisions, func() *measured {
		d.Rule = "" // there may be many, and a policy is replaced while the process runs
		return h.decisions.of(d, func(d observe.Decision) []attribute.KeyValue {
			return []attribute.KeyValue{
				attribute.String(operationName, d.Operation), attribute.String(gateDecision, string(d.Effect)),
				attribute.String(gateReason, d.Reason),
			}
		})
	})
}

// quota takes the metric of a quota alone for a label: callers are none.
func (h *hooks) quota(ctx context.Context, u observe.QuotaUse) {
	record(ctx, h.meters.quotas, u.Share, func() *measured {
		return h.quotas.of(u.Metric, func(metric string) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String(quotaMetric, metric)}
		})
	})
}

// current returns the span in which something happens; nil: nobody wants to know.
func (h *hooks) current(ctx context.Context) trace.Span {
	if h.tracer == nil {
		return nil
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return span
	}
	return nil
}

func (h *hooks) execution(ctx context.Context, c observe.StateChange) {
	if span := h.current(ctx); span != nil && c.To == cancelled { // where it waits, so that no attempt is told
		span.AddEvent(cancelled, trace.WithAttributes(attribute.String(executionID, c.Execution)))
	}
	if h.meters == nil {
		return
	}
	set := func() *measured {
		return h.states.of(ended{c.Operation, c.To}, func(k ended) []attribute.KeyValue {
			return []attribute.KeyValue{
				attribute.String(operationName, k.name), attribute.String(executionState, k.how),
			}
		})
	}
	if c.From != c.To {
		add(ctx, h.meters.states, set)
	}
	if c.Lost {
		add(ctx, h.meters.takeovers, set)
	}
	if c.Ended {
		record(ctx, h.meters.executions, c.Took.Seconds(), set)
	}
}

func (h *hooks) attempt(ctx context.Context, a observe.Attempt) (context.Context, func(observe.AttemptEnd)) {
	options := []trace.SpanStartOption{trace.WithNewRoot()}
	if start := remote(a.Origin, ""); start.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: start}))
	}
	ctx, span := h.begin(ctx, "attempt", a.Operation, func() []attribute.KeyValue {
		return ofExecution(a.Operation, a.Execution, a.Number)
	}, options...)
	if span != nil && a.TakenOver {
		span.AddEvent(takenOver)
	}
	return ctx, func(e observe.AttemptEnd) {
		if span != nil && e.Stopped != "" {
			span.SetAttributes(attribute.String(executionStopped, e.Stopped))
			if e.Stopped == paused || e.Stopped == cancelled {
				span.AddEvent(e.Stopped)
			}
		}
		end(span, e.Code, e.Code != "")
	}
}

func ofExecution(operation, id string, attempt int) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(operationName, operation), attribute.String(executionID, id),
		attribute.Int(executionAttempt, attempt),
	}
}

func (h *hooks) step(ctx context.Context, s observe.Step) (context.Context, func(observe.StepEnd)) {
	ctx, span := h.begin(ctx, "step", s.Operation, func() []attribute.KeyValue {
		return ofExecution(s.Operation, s.Execution, s.Attempt)
	})
	return ctx, func(e observe.StepEnd) {
		code := ""
		if e.Failed {
			code = "step_failed"
		}
		end(span, code, e.Failed)
	}
}

func (h *hooks) approval(ctx context.Context, a observe.Approval) {
	if h.meters == nil {
		return
	}
	set := func() *measured {
		of := observe.Approval{Operation: a.Operation, Kind: a.Kind}
		return h.items.of(of, func(a observe.Approval) []attribute.KeyValue {
			return []attribute.KeyValue{
				attribute.String(operationName, a.Operation), attribute.String(approvalKind, a.Kind),
			}
		})
	}
	switch a.Event {
	case observe.Opened:
		add(ctx, h.meters.opened, set)
	case observe.Used:
		record(ctx, h.meters.waits, a.Waited.Seconds(), set)
	}
}

func (h *hooks) directive(ctx context.Context, d observe.Directive) {
	if span := h.current(ctx); span != nil {
		span.SetAttributes(given([]attribute.KeyValue{
			attribute.String(genAIAgent, d.Agent), attribute.String(genAIConversation, d.Execution),
		})...)
		span.AddEvent(directiveGave, trace.WithAttributes(given([]attribute.KeyValue{
			attribute.String(executionID, d.Execution), attribute.String(loopTier, d.Tier),
			attribute.Bool(loopContinue, d.Continue), attribute.Bool(loopStopped, d.Stopped),
		})...))
	}
	if h.meters == nil {
		return
	}
	add(ctx, h.meters.directives, func() *measured {
		return h.directives.of(observe.Directive{Tier: d.Tier, Continue: d.Continue, Stopped: d.Stopped},
			func(d observe.Directive) []attribute.KeyValue {
				return []attribute.KeyValue{
					attribute.String(loopTier, d.Tier), attribute.Bool(loopContinue, d.Continue),
					attribute.Bool(loopStopped, d.Stopped),
				}
			})
	})
}

func (h *hooks) verification(ctx context.Context, v observe.Verification) {
	if h.meters == nil || v.Result == observe.Verified {
		return
	}
	add(ctx, h.meters.failures, func() *measured {
		return h.failures.of(v, func(v observe.Verification) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String(verifyResult, string(v.Result))}
		})
	})
}

// storeFailed is the error type of a call of the state that has failed.
const storeFailed = "store_failed"

func (h *hooks) store(ctx context.Context, c observe.StoreCall) {
	record(ctx, h.meters.store, c.Took.Seconds(), func() *measured {
		of := observe.StoreCall{Method: c.Method, Failed: c.Failed}
		return h.stores.of(of, func(c observe.StoreCall) []attribute.KeyValue {
			failed := ""
			if c.Failed {
				failed = storeFailed
			}
			return []attribute.KeyValue{
				attribute.String(storeMethod, string(c.Method)), attribute.String(errorType, failed),
			}
		})
	})
}
