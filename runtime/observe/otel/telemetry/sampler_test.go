package telemetry

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// As many traces of clients are sampled as of others, whatever id and flag they choose. What is below a span of ours is
// sampled with it.
func TestClientsDoNotChooseWhatIsSampled(t *testing.T) {
	favorite := oteltrace.TraceID{0: 1} // which every ratio above zero would sample
	state, err := oteltrace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	sampled := func(s trace.Sampler, remote bool, flags oteltrace.TraceFlags) bool {
		parent := oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
			TraceID: favorite, SpanID: oteltrace.SpanID{1}, TraceFlags: flags, TraceState: state, Remote: remote,
		})
		result := s.ShouldSample(trace.SamplingParameters{
			ParentContext: oteltrace.ContextWithSpanContext(context.Background(), parent), TraceID: favorite,
		})
		if result.Tracestate.String() != "vendor=1" {
			t.Errorf("the tracestate is %q", result.Tracestate)
		}
		return result.Decision == trace.RecordAndSample
	}
	for _, tt := range []struct {
		sampler, ratio string
		least, most    int // of a thousand traces of clients
	}{
		{"traceidratio", "0", 0, 0},
		{"parentbased_traceidratio", "0.5", 300, 700},
		{"traceidratio", "1", 1000, 1000},
		{"traceidratio", "", 1000, 1000},
		{"always_on", "", 1000, 1000},
		{"parentbased_always_off", "", 0, 0},
	} {
		t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", tt.ratio)
		s, err := ownSampler()
		if err != nil {
			t.Fatal(err)
		}
		for _, flags := range []oteltrace.TraceFlags{0, oteltrace.FlagsSampled} {
			n := 0
			for range 1000 {
				if sampled(s, true, flags) {
					n++
				}
			}
			if n < tt.least || n > tt.most {
				t.Errorf("%s %s, flags %s: %d of 1000 are sampled", tt.sampler, tt.ratio, flags, n)
			}
			if got := sampled(s, false, flags); got != flags.IsSampled() {
				t.Errorf("%s %s: below a span of ours with flags %s it is sampled: %t", tt.sampler, tt.ratio, flags, got)
			}
		}
	}
}

// What is decided by chance is decided by the number alone.
func TestByChance(t *testing.T) {
	for _, tt := range []struct {
		share, random float64
		want          trace.SamplingDecision
	}{
		{0, 0, trace.Drop}, {0.5, 0.49, trace.RecordAndSample}, {0.5, 0.5, trace.Drop}, {1, 0.999, trace.RecordAndSample},
	} {
		s := byChance{tt.share, func() float64 { return tt.random }}
		got := s.ShouldSample(trace.SamplingParameters{ParentContext: t.Context()})
		if got.Decision != tt.want {
			t.Errorf("%s of %g: %v, want %v", s.Description(), tt.random, got.Decision, tt.want)
		}
	}
}
