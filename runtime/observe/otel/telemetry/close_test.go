package telemetry_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/observe/otel/telemetry"
	"github.com/aqltag/aqltag/runtime/serve"
)

// What is left when the process ends is sent although a collector does not take the rest of it.
func TestClosingSendsWhatCanBeSent(t *testing.T) {
	metrics := make(chan struct{})
	received := sync.OnceFunc(func() { close(metrics) })
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1/metrics") {
			received()
			return
		}
		select { // spans are taken when the metrics have come, which do not wait for them
		case <-metrics:
		case <-r.Context().Done():
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	exports, err := telemetry.Open(t.Context(), serve.TelemetryOptions{
		Name: "parts", Send: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, called := exports.Hooks.Call(t.Context(), observe.Call{Tool: "mcp_aql_read"})
	called(observe.CallEnd{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := exports.Close(ctx); err != nil {
		t.Error(err)
	}
}
