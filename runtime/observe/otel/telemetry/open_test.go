package telemetry

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// Where one of the ways out of the process cannot be opened, nothing stays open that would have to be shut down.
func TestNothingStaysOpenThatFails(t *testing.T) {
	fault := errors.New("the port is broken")
	for name, tt := range map[string]struct {
		serve, send error
		opened      bool // what sends metrics
		want        string
	}{
		"both are opened":             {nil, nil, true, ""},
		"metrics cannot be served":    {fault, nil, false, "serving metrics: the port is broken"},
		"metrics cannot be sent":      {nil, fault, true, "sending metrics: the port is broken"},
		"neither of both can be done": {fault, fault, false, "serving metrics: the port is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			var p providers
			opened := false
			shown, err := p.openMetrics(t.Context(), resource.Empty(), readers{
				serve: func() (metric.Reader, http.Handler, error) {
					return metric.NewManualReader(), http.NotFoundHandler(), tt.serve
				},
				send: func(context.Context) (metric.Reader, error) { opened = true; return metric.NewManualReader(), tt.send },
			})
			if opened != tt.opened || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("what sends was opened: %t, want %t: %v, want %q", opened, tt.opened, err, tt.want)
			}
			if failed := err != nil; (p.metrics == nil) != failed || (shown == nil) != failed {
				t.Errorf("there is a provider %t, and something to show %t: %v", p.metrics != nil, shown != nil, err)
			}
			if err := p.close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
