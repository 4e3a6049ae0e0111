package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/observe"
)

// Telemetry opens what takes traces and metrics out of the process: telemetry.Open of the module runtime/observe/otel.
type Telemetry func(ctx context.Context, o TelemetryOptions) (*Exports, error)

// TelemetryOptions is what the flags -otel, -otel-trust-sampling and -metrics ask for.
type TelemetryOptions struct {
	Name, Version string // of the service
	Send          bool   // traces and metrics, as the environment variables of OpenTelemetry say
	Serve         bool   // there are Exports.Metrics
	// TrustSampling leaves it to clients whether the traces that they name are sampled.
	TrustSampling bool
	Logger        *slog.Logger // receives what fails later
}

// Exports is what a Telemetry has opened.
type Exports struct {
	Hooks   *observe.Hooks
	Metrics http.Handler // the metrics as they are, for Prometheus; nil unless TelemetryOptions.Serve is set
	// LogHandler returns a handler whose records tell the trace in which they are written; nil: there is none.
	LogHandler func(slog.Handler) slog.Handler
	// Watch is called with the adapter, for metrics of what waits in its state; nil: there are none.
	Watch func(*aql.Adapter) error
	// Close sends what was not sent yet, until ctx ends.
	Close func(ctx context.Context) error
}

// telemetry opens what the flags ask for; nil: nothing. The log that it returns is the one to go on with.
func (s settings) telemetry(ctx context.Context, options *Options, log *slog.Logger) (*Exports, *slog.Logger, error) {
	switch {
	case !s.otel && s.metrics == "":
		if s.trustSampling {
			return nil, log, errors.New("-otel-trust-sampling is of traces: it goes with -otel")
		}
		return nil, log, nil
	case s.metrics == sameAddress && s.transport != "http":
		return nil, log, errors.New("-metrics same: MCP has no address on stdio: give one, such as 127.0.0.1:9464")
	case options.Telemetry == nil:
		return nil, log, errors.New("-otel and -metrics: this service has no telemetry. " +
			"Its author adds it with serve.Options.Telemetry")
	}
	exports, err := options.Telemetry(ctx, TelemetryOptions{
		Name: options.Name, Version: options.Version, Send: s.otel, Serve: s.metrics != "",
		TrustSampling: s.trustSampling, Logger: log,
	})
	if err != nil {
		return nil, log, fmt.Errorf("-otel and -metrics: %w", err)
	}
	options.Adapter.Observe = observe.Join(exports.Hooks, options.Adapter.Observe)
	if exports.LogHandler != nil {
		log = slog.New(exports.LogHandler(log.Handler()))
	}
	return exports, log, nil
}

// watch begins to watch an adapter.
func (e *Exports) watch(a *aql.Adapter) error {
	if e == nil || e.Watch == nil {
		return nil
	}
	if err := e.Watch(a); err != nil {
		return fmt.Errorf("-otel and -metrics: %w", err)
	}
	return nil
}

// sending is a resource that sends what was not sent yet when it is closed.
func (e *Exports) sending(timeout time.Duration) closing {
	return func() error {
		if e.Close == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			return fmt.Errorf("sending the last traces and metrics: %w", err)
		}
		return nil
	}
}
