// Package telemetry takes the traces and metrics of an adapter out of its process, with OpenTelemetry and Prometheus.
// It gives package serve the flags for that:
//
//	serve.Main(todo.NewRegistry(service), serve.Options{Name: "todo", Telemetry: telemetry.Open})
//
// With -otel the process sends traces and metrics by OTLP over HTTP, as the environment variables of OpenTelemetry say:
// OTEL_EXPORTER_OTLP_ENDPOINT and the others of the exporter, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
// OTEL_TRACES_SAMPLER, OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER (otlp or none), and OTEL_SDK_DISABLED. With
// -metrics it serves the metrics for Prometheus.
package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/observe/otel"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	gotel "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// Open is a serve.Telemetry. What it opens is that of the process, too: handlers that use the tracers and meters of the
// package go.opentelemetry.io/otel have their spans below those of their calls, and their metrics beside those of the
// adapter. Requests that handlers send carry traceparent and tracestate, if their client is instrumented, and no
// baggage.
func Open(ctx context.Context, o serve.TelemetryOptions) (*serve.Exports, error) {
	send, err := sendingOf(o.Send)
	if err != nil {
		return nil, err
	}
	described, err := describe(ctx, o)
	if err != nil {
		return nil, err
	}
	var opened providers
	fail := func(err error) (*serve.Exports, error) { return nil, errors.Join(err, opened.close(ctx)) }
	if send.traces {
		if err := opened.openTraces(ctx, described, o.TrustSampling); err != nil {
			return fail(err)
		}
	}
	exports := &serve.Exports{LogHandler: otel.LogHandler, Close: opened.close}
	var hooks otel.Options
	if opened.traces != nil {
		hooks.Tracers = opened.traces
	}
	if send.metrics || o.Serve {
		var wanted readers
		if o.Serve {
			wanted.serve = func() (metric.Reader, http.Handler, error) { return forPrometheus(o.Logger) }
		}
		if send.metrics {
			wanted.send = byOTLP
		}
		if exports.Metrics, err = opened.openMetrics(ctx, described, wanted); err != nil {
			return fail(err)
		}
		hooks.Meters = opened.metrics
		exports.Watch = func(a *aql.Adapter) error { return otel.Watch(opened.metrics, a) }
	}
	if exports.Hooks, err = otel.New(hooks); err != nil {
		return fail(err)
	}
	opened.ofProcess(o.Logger)
	return exports, nil
}

// describe returns what is known of the process. What the environment says of it counts more.
func describe(ctx context.Context, o serve.TelemetryOptions) (*resource.Resource, error) {
	described, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", o.Name), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", rand.Text()),
	), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return described, nil
}

// forPrometheus returns a reader of metrics, and a handler that shows what it reads, with what is known of the Go
// runtime and the process.
func forPrometheus(log *slog.Logger) (metric.Reader, http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := errors.Join(
		registry.Register(collectors.NewGoCollector()),
		registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	); err != nil {
		return nil, nil, err
	}
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithResourceAsConstantLabels(attribute.NewAllowKeysFilter("service.name")))
	if err != nil {
		return nil, nil, err
	}
	const most = 4 // requests at the same time
	return reader, promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), MaxRequestsInFlight: most,
	}), nil
}

// providers are what makes spans and metrics; nil: there is none.
type providers struct {
	traces  *trace.TracerProvider
	metrics *metric.MeterProvider
}

func (p *providers) openTraces(ctx context.Context, described *resource.Resource, trust bool) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return fmt.Errorf("sending traces: %w", err)
	}
	options := []trace.TracerProviderOption{trace.WithBatcher(exporter), trace.WithResource(described)}
	if !trust {
		sampler, err := ownSampler()
		if err != nil {
			return errors.Join(err, exporter.Shutdown(ctx))
		}
		options = append(options, trace.WithSampler(sampler))
	}
	p.traces = trace.NewTracerProvider(options...)
	return nil
}

// readers make what reads metrics; nil: it is not wanted.
type readers struct {
	serve func() (metric.Reader, http.Handler, error) // with a handler that shows what is read
	send  func(ctx context.Context) (metric.Reader, error)
}

// byOTLP returns a reader that sends what it reads. It is to be shut down.
func byOTLP(ctx context.Context) (metric.Reader, error) {
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, err
	}
	return metric.NewPeriodicReader(exporter), nil
}

// openMetrics opens what makes metrics, and returns the handler that shows them, if there is one. What has to be shut
// down is made last: nothing fails behind it.
func (p *providers) openMetrics(
	ctx context.Context, described *resource.Resource, wanted readers,
) (shown http.Handler, err error) {
	options := []metric.Option{metric.WithResource(described)}
	if wanted.serve != nil {
		reader, handler, err := wanted.serve()
		if err != nil {
			return nil, fmt.Errorf("serving metrics: %w", err)
		}
		shown, options = handler, append(options, metric.WithReader(reader))
	}
	if wanted.send != nil {
		reader, err := wanted.send(ctx)
		if err != nil {
			return nil, fmt.Errorf("sending metrics: %w", err)
		}
		options = append(options, metric.WithReader(reader))
	}
	p.metrics = metric.NewMeterProvider(options...)
	return shown, nil
}

// ofProcess makes the providers those of the process.
func (p *providers) ofProcess(log *slog.Logger) {
	gotel.SetErrorHandler(gotel.ErrorHandlerFunc(func(err error) {
		log.Warn("telemetry", slog.Any("error", err))
	}))
	gotel.SetTextMapPropagator(propagation.TraceContext{})
	if p.traces != nil {
		gotel.SetTracerProvider(p.traces)
	}
	if p.metrics != nil {
		gotel.SetMeterProvider(p.metrics)
	}
}

// close sends what was not sent yet: both at the same time, so that neither waits for a collector that does not answer
// the other.
func (p *providers) close(ctx context.Context) error {
	var faults [2]error
	var closing sync.WaitGroup
	if p.traces != nil {
		closing.Go(func() { faults[0] = p.traces.Shutdown(ctx) })
	}
	if p.metrics != nil {
		closing.Go(func() { faults[1] = p.metrics.Shutdown(ctx) })
	}
	closing.Wait()
	return errors.Join(faults[:]...)
}
