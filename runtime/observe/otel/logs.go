package otel

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler returns a handler that adds trace_id and span_id to each record whose context has a span, in hexadecimal
// digits and in no group, and passes it on to next. With it as the handler of aql.Options.Logger, lines of the log can
// be found by their trace:
//
//	log := slog.New(otel.LogHandler(slog.NewJSONHandler(os.Stderr, nil)))
func LogHandler(next slog.Handler) slog.Handler { return &logHandler{Handler: next, outer: next} }

type logHandler struct {
	slog.Handler // with the attributes and the groups of the logger
	// outer is the handler before the first group; within makes Handler of it.
	outer  slog.Handler
	within []func(slog.Handler) slog.Handler
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return h.Handler.Handle(ctx, r)
	}
	ids := []slog.Attr{
		slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()),
	}
	if len(h.within) == 0 {
		r = r.Clone()
		r.AddAttrs(ids...)
		return h.Handler.Handle(ctx, r)
	}
	next := h.outer.WithAttrs(ids)
	for _, within := range h.within {
		next = within(next)
	}
	return next.Handle(ctx, r)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	if len(h.within) == 0 {
		return LogHandler(h.Handler.WithAttrs(attrs))
	}
	return h.inside(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.inside(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h *logHandler) inside(within func(slog.Handler) slog.Handler) slog.Handler {
	return &logHandler{
		Handler: within(h.Handler), outer: h.outer, within: append(slices.Clip(h.within), within),
	}
}
