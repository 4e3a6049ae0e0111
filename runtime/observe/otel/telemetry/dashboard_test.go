package telemetry_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/observe/otel/telemetry"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// dashboard is what a file of Grafana has of a dashboard.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Query string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// everything returns the metrics of a process in which everything happens that hooks are told, again and again before
// they are read.
func everything(t *testing.T) http.Handler {
	t.Helper()
	exports, err := telemetry.Open(t.Context(), serve.TelemetryOptions{
		Name: "parts", Serve: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	long := gen.Handler{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Request: (*struct{})(nil), Execution: &gen.Execution{
			Run: aql.RunFunc(func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }),
		},
	}
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{long}, nil), aql.Options{
		Observe: exports.Hooks,
		Audit:   audit.New(audit.Options{Sinks: []audit.Sink{audit.Slog(slog.New(slog.DiscardHandler))}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := exports.Watch(adapter); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exports.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tellEverything(r.Context(), exports.Hooks)
		exports.Metrics.ServeHTTP(w, r)
	})
}

// exported are the labels of each metric that a process exports in which everything has happened that hooks are told.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	w := httptest.NewRecorder()
	everything(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]bool)
	for name, family := range families {
		labels := map[string]bool{"instance": true, "job": true} // which Prometheus adds
		for _, m := range family.Metric {
			for _, pair := range m.Label {
				labels[pair.GetName()] = true
			}
		}
		all[name] = labels
		if family.Metric[0].Histogram != nil {
			buckets := maps.Clone(labels)
			buckets["le"] = true
			all[name+"_bucket"], all[name+"_count"], all[name+"_sum"] = buckets, labels, labels
		}
	}
	return all
}

func tellEverything(ctx context.Context, h *observe.Hooks) {
	h.Session(ctx, observe.Session{Took: time.Minute})
	h.Verification(ctx, observe.Verification{Result: observe.Wrong})
	for _, code := range []string{"", "INTERNAL_ERROR"} {
		_, called := h.Call(ctx, observe.Call{Tool: "mcp_aql_read"})
		called(observe.CallEnd{Code: code})
		_, operated := h.Operation(ctx, observe.Operation{Name: "get_part"})
		operated(observe.OperationEnd{Code: code})
	}
	h.Gate(ctx, observe.Decision{Operation: "get_part", Effect: observe.Denied, Reason: "policy"})
	h.Gate(ctx, observe.Decision{Operation: "get_part", Effect: observe.Failed, Reason: "state_unavailable"})
	h.Quota(ctx, observe.QuotaUse{Metric: "requests_per_day", Share: 0.5})
	h.Execution(ctx, observe.StateChange{Operation: "build", From: "running", To: "running", Lost: true})
	h.Execution(ctx, observe.StateChange{Operation: "build", From: "running", To: "completed", Ended: true})
	for _, event := range []observe.ApprovalEvent{observe.Opened, observe.Used} {
		h.Approval(ctx, observe.Approval{Operation: "get_part", Kind: "confirmation", Event: event, Waited: time.Second})
	}
	h.Directive(ctx, observe.Directive{Tier: "advisory", Continue: true})
	h.Store(ctx, observe.StoreCall{Method: observe.StoreGet, Took: time.Millisecond})
}

// The parts of a query.
var (
	texts    = regexp.MustCompile(`"[^"]*"`)
	ranges   = regexp.MustCompile(`\[[^]]*\]`)
	selector = regexp.MustCompile(`([a-z][a-z0-9_]*)(?:\{([^}]*)\})?`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
	name     = regexp.MustCompile(`[a-z_][a-z0-9_]*`)
	function = map[string]bool{
		"histogram_quantile": true, "increase": true, "max": true, "rate": true, "sum": true, "topk": true,
	}
)

// Every metric and label in the queries of the dashboard is one that a process exports, and every metric of ours that a
// process exports is on the dashboard.
func TestDashboard(t *testing.T) {
	metrics := exported(t)
	shown := make(map[string]bool)
	ids := make(map[int]bool)
	for _, panel := range readDashboard(t).Panels {
		if p := panel.GridPos; ids[panel.ID] || p.X+p.W > 24 || p.W == 0 || p.H == 0 || len(panel.Targets) == 0 {
			t.Errorf("%s: id %d, at %+v, %d queries", panel.Title, panel.ID, p, len(panel.Targets))
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			for _, fault := range faults(target.Expr, target.LegendFormat, metrics, shown) {
				t.Errorf("%s: %s: %s", panel.Title, target.Expr, fault)
			}
		}
	}
	for exported := range metrics {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(exported, "_bucket"), "_count"), "_sum")
		ours := strings.HasPrefix(exported, "aql_") || strings.HasPrefix(exported, "mcp_")
		if ours && base == exported && !shown[base] && !shown[base+"_bucket"] && !shown[base+"_count"] &&
			!slices.Contains([]string{"aql_approvals_opened_total"}, base) {
			t.Errorf("%s is on no panel", exported)
		}
	}
	for _, variable := range readDashboard(t).Templating.List {
		if query, ok := strings.CutPrefix(variable.Query, "label_values("); ok {
			metric, label, _ := strings.Cut(strings.TrimSuffix(query, ")"), ", ")
			if !metrics[metric][label] {
				t.Errorf("variable %s: %s has no label %s", variable.Name, metric, label)
			}
		}
	}
}

// faults are the metrics and labels of a query that are not exported.
func faults(expr, legendFormat string, metrics map[string]map[string]bool, shown map[string]bool) (found []string) {
	var groups []string
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		groups = append(groups, name.FindAllString(g[1], -1)...)
	}
	plain := ranges.ReplaceAllString(texts.ReplaceAllString(grouping.ReplaceAllString(expr, ""), `""`), "")
	used := 0
	for _, match := range selector.FindAllStringSubmatch(plain, -1) {
		metric := match[1]
		if function[metric] {
			continue
		}
		used++
		shown[metric] = true
		labels := metrics[metric]
		if labels == nil {
			found = append(found, "there is no metric "+metric)
			continue
		}
		for _, label := range slices.Concat(groups, name.FindAllString(match[2], -1)) {
			if !labels[label] {
				found = append(found, metric+" has no label "+label)
			}
		}
		for _, l := range legend.FindAllStringSubmatch(legendFormat, -1) {
			if !slices.Contains(groups, l[1]) && (len(groups) > 0 || !labels[l[1]]) {
				found = append(found, "the legend has no "+l[1])
			}
		}
	}
	if used == 0 {
		found = append(found, "there is no metric in it")
	}
	return found
}

// The test of the dashboard sees what is wrong with a query.
func TestFaultsOfQueries(t *testing.T) {
	metrics := map[string]map[string]bool{"calls_total": {"tool": true}}
	for expr, want := range map[string]int{
		`sum by (tool) (rate(calls_total{tool=~"$tool"}[5m]))`: 0,
		`sum by (verb) (rate(calls_total[5m]))`:                1,
		`rate(calls_total{verb="x"}[5m])`:                      1,
		`rate(calls[5m])`:                                      1,
		`sum(1)`:                                               1,
	} {
		if got := faults(expr, "", metrics, make(map[string]bool)); len(got) != want {
			t.Errorf("%s: %q", expr, got)
		}
	}
	if got := faults("calls_total", "{{verb}}", metrics, make(map[string]bool)); len(got) != 1 {
		t.Errorf("a legend: %q", got)
	}
}
