package console_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/observe"
)

var (
	well = setup.Health{
		Version: "v1.4.2", Fingerprint: "sha256:" + strings.Repeat("7f", 32), Unrecorded: 1,
		Checks: []setup.Check{
			{Name: "store", Took: 2100 * time.Microsecond}, {Name: "audit", Took: time.Microsecond}, {Name: "worker"},
		},
		Backlog: &setup.Backlog{Approvals: 3, Due: 2, Later: 1, Running: 4, Oldest: 75 * time.Second},
	}
	ill = setup.Health{
		Version: "v1.4.2\u202e", Unrecorded: 12, Checks: []setup.Check{
			{Name: "store", Err: errors.New("dial tcp 10.0.0.7:5432: connection refused"), Took: time.Second},
			{Name: "audit", Err: errors.New("write /var/log/notes.audit: no space left on device")},
			{Name: "worker", Err: errors.New("the queue is away")},
		},
	}
)

// withHealth has a console see calls, and how its adapter is.
func withHealth(hooks **observe.Hooks, h setup.Health) func(*console.Options) {
	return func(o *console.Options) {
		withCalls(hooks)(o)
		o.Health = func(context.Context) setup.Health { return h }
	}
}

// Why something fails is in the log, and not on the page.
func TestWhyChecksFailIsInTheLog(t *testing.T) {
	var hooks *observe.Hooks
	var log bytes.Buffer
	s := newSite(t, func(o *console.Options) {
		withHealth(&hooks, ill)(o)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	page := s.person("eve").get("/health").Body.String()
	for _, why := range []string{"10.0.0.7:5432", "/var/log/notes.audit", "the queue is away"} {
		if strings.Contains(page, why) || !strings.Contains(log.String(), why) {
			t.Errorf("%s: on the page: %t; the log:\n%s", why, strings.Contains(page, why), &log)
		}
	}
}

// The log has when checks begin to fail, and when they go well again, however often somebody looks.
func TestFailingChecksAreLoggedOnce(t *testing.T) {
	var hooks *observe.Hooks
	var log bytes.Buffer
	now := well
	s := newSite(t, func(o *console.Options) {
		withHealth(&hooks, well)(o)
		o.Health = func(context.Context) setup.Health { return now }
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	b := s.person("eve")
	for _, tt := range []struct {
		of    setup.Health
		says  string
		times int
	}{
		{well, "the adapter is", 0}, {ill, "the adapter is not ready", 3}, {well, "the adapter is ready again", 3},
		{ill, "the adapter is not ready", 3},
	} {
		log.Reset()
		now = tt.of
		for range 3 {
			b.get("/health")
		}
		if got := strings.Count(log.String(), tt.says); got != tt.times {
			t.Errorf("%q stands %d times, want %d:\n%s", tt.says, got, tt.times, &log)
		}
	}
}

// Each check that fails makes the process not ready, as /readyz says.
func TestOneCheckThatFailsIsEnough(t *testing.T) {
	for i := range well.Checks {
		h := well
		h.Checks = append([]setup.Check(nil), well.Checks...)
		for _, fails := range []bool{false, true} {
			if fails {
				h.Checks[i].Err = errors.New("away")
			}
			var hooks *observe.Hooks
			page := newSite(t, withHealth(&hooks, h)).person("eve").get("/health").Body.String()
			if says := strings.Contains(page, "is not ready for calls"); says != fails {
				t.Errorf("%s fails: %t, and the page says so: %t", h.Checks[i].Name, fails, says)
			}
		}
	}
}

// A policy file with mistakes leaves the process ready, and is told of.
func TestAPolicyWithMistakesIsToldOf(t *testing.T) {
	var hooks *observe.Hooks
	h := well
	h.Checks = append([]setup.Check{{Name: "policy", Err: errors.New("/etc/notes/policy.yaml:7: no such operation")}},
		well.Checks...)
	page := newSite(t, withHealth(&hooks, h)).person("eve").get("/health").Body.String()
	if !strings.Contains(page, "This process is ready for calls.") || !strings.Contains(page, "not in force") ||
		strings.Contains(page, "/etc/notes") {
		t.Errorf("the page is\n%s", page)
	}
}

// Executions that others have to take leave the process ready. Which they are is in the log.
func TestExecutionsThatNobodyTakesAreToldOf(t *testing.T) {
	var hooks *observe.Hooks
	var log bytes.Buffer
	h := well
	h.Checks = append([]setup.Check{{Name: "executions", Err: errors.New("due for an hour or longer: reindex")}},
		well.Checks...)
	page := newSite(t, func(o *console.Options) {
		withHealth(&hooks, h)(o)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	}).person("eve").get("/health").Body.String()
	if !strings.Contains(page, "This process is ready for calls.") || !strings.Contains(page, "left over") ||
		strings.Contains(page, "reindex") || !strings.Contains(log.String(), "reindex") {
		t.Errorf("the page is\n%s\nthe log is\n%s", page, &log)
	}
}

// Without an adapter to look at there is no page of health.
func TestConsolesWithoutHealth(t *testing.T) {
	b := newSite(t, nil).person("eve")
	if code := b.get("/health").Code; code != http.StatusNotFound {
		t.Errorf("it answers %d", code)
	}
}
