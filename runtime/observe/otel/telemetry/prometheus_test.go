package telemetry_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// prometheus collects metrics each second, and answers queries of them.
type prometheus struct {
	*testing.T
	url string
}

// startPrometheus starts a Prometheus that collects the metrics of a handler.
func startPrometheus(t *testing.T, metrics http.Handler) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("AQL_REQUIRE_SERVERS") == "1" {
			t.Fatal("there is no prometheus, which AQL_REQUIRE_SERVERS=1 demands: install the package prometheus")
		}
		t.Skip("there is no prometheus: install the package prometheus to run this test")
	}
	target := httptest.NewServer(metrics)
	t.Cleanup(target.Close)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String() // nobody else takes it so soon
	listener.Close()
	dir := t.TempDir()
	configuration := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(configuration, fmt.Appendf(nil,
		"scrape_configs: [{job_name: todo, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]\n",
		strings.TrimPrefix(target.URL, "http://")), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "--config.file="+configuration, "--log.level=warn",
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	var log strings.Builder
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		if t.Failed() {
			t.Logf("Prometheus:\n%s", &log)
		}
	})
	return &prometheus{t, "http://" + address}
}

// series returns the values of a query, of which each series has one. Until Prometheus listens, that is an error.
func (p *prometheus) series(query string) (values []float64, err error) {
	request, err := http.NewRequestWithContext(p.Context(), http.MethodGet,
		p.url+"/api/v1/query?query="+url.QueryEscape(query), nil)
	if err != nil {
		return nil, err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Error != "" {
		return nil, fmt.Errorf("%s %s", reply.Status, text)
	}
	for _, s := range answer.Data.Result {
		value, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// collected waits until Prometheus has collected so many times.
func (p *prometheus) collected(times float64) {
	p.Helper()
	for tick := time.Tick(100 * time.Millisecond); ; <-tick { // the test's own deadline bounds it
		if got, err := p.series("count_over_time(up[1h])"); err == nil && len(got) == 1 && got[0] >= times {
			return
		}
	}
}

// Prometheus finds something for each query of the dashboard, and for the ones that alerts are about, in what a process
// exports in which everything happens. It is a number.
func TestQueriesFindWhatIsExported(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until Prometheus has collected a few times")
	}
	queries := make(map[string]string)
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			query := strings.NewReplacer("$__rate_interval", "1m", "$service", ".*").Replace(target.Expr)
			queries[query] = panel.Title
		}
	}
	dashboard := len(queries)
	text, err := os.ReadFile("../../../../deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range regexp.MustCompile(`(?m)^ +expr: (.*) (?:[<>]|==) [\d.]+$`).FindAllSubmatch(text, -1) {
		queries[string(alert[1])] = "alerts.yml"
	}
	if alerts := strings.Count(string(text), "- alert:"); dashboard < 15 || len(queries) != dashboard+alerts {
		t.Fatalf("%d queries of the dashboard, %d with the %d alerts", dashboard, len(queries), alerts)
	}
	p := startPrometheus(t, everything(t))
	p.collected(4)
	for query, of := range queries {
		values, err := p.series(query)
		if err != nil || len(values) == 0 {
			t.Errorf("%s: %s: %v, %v", of, query, values, err)
		}
		for _, value := range values {
			if value != value {
				t.Errorf("%s: %s is no number", of, query)
			}
		}
	}
	const nothing = `sum by (tool) (rate(aql_operation_duration_seconds_count{verb="x"}[1m]))`
	if values, err := p.series(nothing); err != nil || len(values) > 0 {
		t.Errorf("what is not exported is found: %v, %v", values, err)
	}
}
