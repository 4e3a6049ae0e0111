//go:build unix

package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A prometheus is Prometheus with a configuration of the folder deploy, on an address of the test.
type prometheus struct {
	*testing.T
	url string
	log output
}

// startPrometheus starts Prometheus with a configuration, and an empty folder for its data. places are those of the
// configuration and of the test, in turn. It asks its targets each second, so that no test waits for it.
func startPrometheus(t *testing.T, configuration, address string, places []string) *prometheus {
	t.Helper()
	program := need(t, "prometheus", "prometheus")
	p := &prometheus{T: t, url: "http://" + address}
	text, err := os.ReadFile(configuration)
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer(append(places, "scrape_interval: 15s", "scrape_interval: 1s")...).Replace(string(text))
	dir := filepath.Dir(configuration) // which has the alerts
	write(t, dir, 0o644, map[string]string{"here.yml": here})
	command := exec.CommandContext(t.Context(), program, "--config.file="+filepath.Join(dir, "here.yml"),
		"--web.listen-address="+address, "--storage.tsdb.path="+filepath.Join(open(t), "data"), "--log.level=warn")
	command.Stdout, command.Stderr = &p.log, &p.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		if t.Failed() {
			t.Logf("Prometheus:\n%s", &p.log)
		}
	})
	return p
}

// ask returns what the interface of Prometheus answers. Until it listens, that is an error.
func (p *prometheus) ask(path string, answer any) error {
	request, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return errors.New(reply.Status)
	}
	return json.NewDecoder(reply.Body).Decode(&struct{ Data any }{answer})
}

// value returns the value of a query whose answer has one series; empty: it has none, or several.
func (p *prometheus) value(query string) string {
	var answer struct {
		Result []struct{ Value [2]any }
	}
	if err := p.ask("/api/v1/query?query="+url.QueryEscape(query), &answer); err != nil || len(answer.Result) != 1 {
		return ""
	}
	return fmt.Sprint(answer.Result[0].Value[1])
}

// collects waits until Prometheus has metrics of so many adapters that have served a call between them, and checks that
// it knows the alerts, none of which has anything to tell.
func (p *prometheus) collects(adapters int) {
	p.Helper()
	until(p.T, func() bool {
		return p.value(`sum(up{job="todo"})`) == fmt.Sprint(adapters) &&
			p.value(`sum(aql_operation_duration_seconds_count) > bool 0`) == "1"
	})
	var rules struct {
		Groups []struct {
			Rules []struct{ Name, LastError, State string }
		}
	}
	if err := p.ask("/api/v1/rules", &rules); err != nil || len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 5 {
		p.Fatalf("the alerts are %+v: %v", rules, err)
	}
	for _, rule := range rules.Groups[0].Rules {
		if rule.LastError != "" || rule.State == "firing" {
			p.Errorf("%s: %s %s", rule.Name, rule.State, rule.LastError)
		}
	}
}

// Prometheus accepts its configurations, and tells people of what it should, and of nothing else.
func TestPrometheusIsSound(t *testing.T) {
	promtool := need(t, "promtool", "prometheus")
	for _, arguments := range [][]string{
		{"check", "config", "../../deploy/prometheus.yml"}, {"check", "config", "../../deploy/prometheus-fleet.yml"},
		{"test", "rules", "testdata/alerts.yml"},
	} {
		repository(t)
		if printed, err := exec.CommandContext(t.Context(), promtool, arguments...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, printed)
		}
	}
}
