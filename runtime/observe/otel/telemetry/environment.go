package telemetry

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// sending says what is sent.
type sending struct{ traces, metrics bool }

// sendingOf reads from the environment what is sent. The exporters read the rest of it themselves.
func sendingOf(wanted bool) (s sending, err error) {
	if !wanted || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return sending{}, nil
	}
	if s.traces, err = sends("TRACES"); err != nil {
		return sending{}, err
	}
	s.metrics, err = sends("METRICS")
	return s, err
}

// sends reports whether a signal is sent. What the environment asks for and there is not is an error.
func sends(signal string) (bool, error) {
	switch name := "OTEL_" + signal + "_EXPORTER"; os.Getenv(name) {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("%s=%s: it is otlp or none", name, os.Getenv(name))
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch value := os.Getenv(name); value {
		case "":
			continue
		case "http/protobuf":
			return true, nil
		default:
			return false, fmt.Errorf("%s=%s: only http/protobuf is there", name, value)
		}
	}
	return true, nil
}

// ownSampler returns the sampler that OTEL_TRACES_SAMPLER names. It samples the same share of the traces that clients
// name, and not by what the client has chosen.
func ownSampler() (trace.Sampler, error) {
	name, argument := os.Getenv("OTEL_TRACES_SAMPLER"), os.Getenv("OTEL_TRACES_SAMPLER_ARG")
	root := trace.AlwaysSample()
	clients := root
	switch strings.TrimPrefix(name, "parentbased_") {
	case "", "always_on":
	case "always_off":
		root = trace.NeverSample()
		clients = root
	case "traceidratio":
		ratio := 1.0
		if argument != "" {
			var err error
			if ratio, err = strconv.ParseFloat(argument, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: it is a number from 0 to 1", argument)
			}
		}
		root, clients = trace.TraceIDRatioBased(ratio), byChance{ratio, rand.Float64}
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER=%s: it is always_on, always_off, traceidratio, or one of these "+
			"behind parentbased_", name)
	}
	return trace.ParentBased(root, trace.WithRemoteParentSampled(clients), trace.WithRemoteParentNotSampled(clients)), nil
}

// byChance samples a share of traces, whatever their ids: clients choose those of theirs.
type byChance struct {
	share  float64
	random func() float64 // at least 0, and less than 1
}

func (s byChance) ShouldSample(p trace.SamplingParameters) trace.SamplingResult {
	result := trace.SamplingResult{Tracestate: oteltrace.SpanContextFromContext(p.ParentContext).TraceState()}
	if s.random() < s.share {
		result.Decision = trace.RecordAndSample
	}
	return result
}

func (s byChance) Description() string { return fmt.Sprintf("ByChance{%g}", s.share) }
