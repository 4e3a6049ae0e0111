package serve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// While a process drains, /readyz alone says that it is to end: calls are served, on new connections, too. Another
// signal ends it at once.
func TestDraining(t *testing.T) {
	t.Setenv("MCP_AQL_DRAIN", "1h")
	p := startProcess(t, "http", time.Hour, "")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.logged("serves calls a while longer")
	for path, want := range map[string]string{
		"/readyz": "503 Service Unavailable " + `{"status":"stopping"}`, "/healthz": "200 OK " + `{"status":"ok"}`,
	} {
		response, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if got := response.Status + " " + strings.TrimSpace(string(body)); err != nil || got != want {
			t.Errorf("%s: %s, want %s: %v", path, got, want, err)
		}
	}
	if answer := p.begin("look")(); !strings.Contains(answer, `\"success\":true`) {
		t.Errorf("a call: %s", answer)
	}
	ended := make(chan string)
	go func() {
		_, log := p.end()
		ended <- log
	}()
	for {
		select {
		case log := <-ended:
			if strings.Contains(log, "shutting down") {
				t.Errorf("it has not ended at once:\n%s", log)
			}
			return
		case <-time.After(time.Millisecond):
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		}
	}
}

// What has drained ends as what does not drain. The flag counts, whatever the service says.
func TestTheEndOfDraining(t *testing.T) {
	r := start(t, registry(nil, nil), Options{Drain: time.Hour}, "-drain", "1ms")
	r.stop()
	if code := <-r.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	_, after, found := strings.Cut(r.stderr.String(), "serves calls a while longer")
	if !found || !strings.Contains(after, "shutting down") {
		t.Errorf("the log: %s", r.stderr)
	}
	if _, err := http.Get(r.url + "/readyz"); err == nil {
		t.Error("the port is open")
	}
}

// Nobody drains who does not ask for it, and nobody on stdio.
func TestWhoDrains(t *testing.T) {
	for name, tt := range map[string]struct {
		transport string
		given     bool
		flag      time.Duration
		option    time.Duration
		want      time.Duration
	}{
		"nobody asks":                  {"http", false, 0, 0, 0},
		"the service asks":             {"http", false, 0, time.Second, time.Second},
		"the operator asks":            {"http", true, time.Minute, 0, time.Minute},
		"the operator asks for less":   {"http", true, 0, time.Second, 0},
		"the service asks for nothing": {"http", false, 0, -time.Second, 0},
		"on stdio":                     {"stdio", true, time.Minute, time.Second, 0},
	} {
		s := settings{transport: tt.transport, drain: tt.flag, given: map[string]bool{"drain": tt.given}}
		if got := s.draining(&Options{Drain: tt.option}); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// What drains ends that much later, and at once when it is stopped.
func TestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, while := range []time.Duration{0, time.Minute} {
			first, end := context.WithCancel(t.Context())
			late, stop := later(first, while)
			time.Sleep(time.Hour)
			if late.Err() != nil {
				t.Errorf("%v: it has ended before it is to end", while)
			}
			began := time.Now()
			end()
			<-late.Done()
			if took := time.Since(began); took != while {
				t.Errorf("it has ended after %v, want %v", took, while)
			}
			stop()
		}
		first, end := context.WithCancel(t.Context())
		late, stop := later(first, time.Hour)
		began := time.Now()
		end()
		stop()
		if <-late.Done(); time.Since(began) > 0 {
			t.Error("it goes on when it is stopped")
		}
	})
}
