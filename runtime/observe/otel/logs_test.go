package otel_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"

	"github.com/aqltag/aqltag/runtime/observe/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace"
)

// The ids of a span stand in no group, whatever groups the logger has.
func TestLogsHaveTheIDsOfSpans(t *testing.T) {
	ctx, span := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "span")
	traceID, spanID := span.SpanContext().TraceID().String(), span.SpanContext().SpanID().String()
	for name, tt := range map[string]struct {
		log  func(*slog.Logger)
		want string
	}{
		"a record": {
			func(l *slog.Logger) { l.InfoContext(ctx, "m", "a", 1) },
			`{"msg":"m","a":1,"trace_id":"` + traceID + `","span_id":"` + spanID + `"}`,
		},
		"attributes of the logger": {
			func(l *slog.Logger) { l.With("b", 2).InfoContext(ctx, "m", "a", 1) },
			`{"msg":"m","a":1,"b":2,"trace_id":"` + traceID + `","span_id":"` + spanID + `"}`,
		},
		"a group, with attributes around it and in it": {
			func(l *slog.Logger) { l.With("b", 2).WithGroup("g").With("c", 3).InfoContext(ctx, "m", "a", 1) },
			`{"msg":"m","b":2,"g":{"c":3,"a":1},"trace_id":"` + traceID + `","span_id":"` + spanID + `"}`,
		},
		"no span": {
			func(l *slog.Logger) { l.WithGroup("g").InfoContext(t.Context(), "m", "a", 1) },
			`{"msg":"m","g":{"a":1}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			written := new(bytes.Buffer)
			tt.log(slog.New(otel.LogHandler(slog.NewJSONHandler(written, nil))))
			got, want := decoded(t, written.Bytes()), decoded(t, []byte(tt.want))
			delete(got, slog.TimeKey)
			delete(got, slog.LevelKey)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The handler is one as package slog demands it.
func TestLogHandler(t *testing.T) {
	written := new(bytes.Buffer)
	err := slogtest.TestHandler(otel.LogHandler(slog.NewJSONHandler(written, nil)), func() (all []map[string]any) {
		for line := range bytes.Lines(written.Bytes()) {
			all = append(all, decoded(t, line))
		}
		return all
	})
	if err != nil {
		t.Error(err)
	}
}

func decoded(t *testing.T, line []byte) (fields map[string]any) {
	t.Helper()
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
