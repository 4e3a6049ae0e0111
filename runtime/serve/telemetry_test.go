package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func noTelemetry(context.Context, TelemetryOptions) (*Exports, error) {
	return nil, errors.New("the disk is full")
}

var addressInLog = regexp.MustCompile(`address=(\S+) path=/metrics`)

// Metrics are served at an address of their own, hooks see calls, those of the service within these, the log tells
// traces, and what was opened is closed when serving has ended.
func TestTelemetry(t *testing.T) {
	type spanKey struct{}
	var asked TelemetryOptions
	var calls, within, closed atomic.Int64
	var watched string
	options := Options{Telemetry: func(_ context.Context, o TelemetryOptions) (*Exports, error) {
		asked = o
		return &Exports{
			Hooks: &observe.Hooks{
				Call: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.CallEnd)) {
					calls.Add(1)
					return context.WithValue(ctx, spanKey{}, "span"), nil
				},
			},
			Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "calls 1") }),
			LogHandler: func(next slog.Handler) slog.Handler {
				return next.WithAttrs([]slog.Attr{slog.String("trace_id", "t1")})
			},
			Watch: func(a *aql.Adapter) error {
				watched = a.Name()
				return nil
			},
			Close: func(ctx context.Context) error {
				if _, bounded := ctx.Deadline(); bounded {
					closed.Add(1)
				}
				return nil
			},
		}, nil
	}}
	options.Adapter.Observe = &observe.Hooks{
		Call: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.CallEnd)) {
			if ctx.Value(spanKey{}) != nil {
				within.Add(1)
			}
			return ctx, nil
		},
	}
	r := start(t, registry(nil, nil), options, "-otel", "-metrics", "127.0.0.1:0")
	at := "http://" + addressInLog.FindStringSubmatch(r.stderr.String())[1]
	read := func(path string) string {
		t.Helper()
		response, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := read("/metrics"); got != "calls 1" {
		t.Errorf("the metrics are %q", got)
	}
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	rebound.Host = "evil.example"
	if refused, err := http.DefaultClient.Do(rebound); err != nil || refused.StatusCode != http.StatusForbidden {
		t.Errorf("a name that was rebound: %v, %v", refused, err)
	} else {
		refused.Body.Close()
	}
	if got := read("/mcp"); got != "404 page not found\n" {
		t.Errorf("something else is served: %q", got)
	}
	session := r.connect(t, "")
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "mcp_aql_read", Arguments: map[string]any{"operation": "look"},
	}); err != nil || calls.Load() != 1 || within.Load() != 1 {
		t.Errorf("%d calls seen, %d by the service's own hooks within these, %v", calls.Load(), within.Load(), err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	r.stop()
	if code := <-r.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if !asked.Send || !asked.Serve || asked.TrustSampling || asked.Name != "notes" || asked.Logger == nil {
		t.Errorf("asked for %+v", asked)
	}
	if closed.Load() != 1 || watched != "notes" {
		t.Errorf("closed %d times, watched %q", closed.Load(), watched)
	}
	if !strings.Contains(r.stderr.String(), "trace_id=t1") {
		t.Errorf("the log tells no trace: %s", r.stderr)
	}
	if response, err := http.Get(at + "/metrics"); err == nil {
		response.Body.Close()
		t.Error("metrics are served after the end")
	}
}
