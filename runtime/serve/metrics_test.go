package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/mcpserver"
)

var shown = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "calls 1") })

func showsMetrics(context.Context, TelemetryOptions) (*Exports, error) {
	return &Exports{Metrics: shown}, nil
}

// An address of -metrics that other machines can reach is told, and one that is none is refused.
func TestAddressesOfMetrics(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:9464": "", "localhost:9464": "", "[::1]:9464": "", "unix:/run/metrics.sock": "",
		":9464": "can read the names", "0.0.0.0:9464": "can read the names", "metrics.example:9464": "can read the names",
		"9464": "it is host:port",
	} {
		log := new(safeBuffer)
		err := checkMetrics(addr, slog.New(slog.NewTextHandler(log, nil)))
		said := log.String()
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s: %q, want %q", addr, said, want)
		}
	}
}

// Metrics are for who knows the address, and not for web pages whose name was rebound to this machine. Where MCP goes
// by some names alone, metrics beside it do, and by those of this machine.
func TestHostsOfMetrics(t *testing.T) {
	here, elsewhere := net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)
	named := []string{"todo.example", "todo.example:8443"}
	for _, tt := range []struct {
		hosts   []string
		address net.IP
		host    string
		status  int
	}{
		{nil, here, "localhost:9464", http.StatusOK},
		{nil, here, "127.0.0.1:9464", http.StatusOK},
		{nil, here, "evil.example:9464", http.StatusForbidden},
		{nil, elsewhere, "adapter-1:9464", http.StatusOK},
		{named, here, "localhost:8080", http.StatusOK},
		{named, here, "todo.example:80", http.StatusOK},
		{named, here, "evil.example", http.StatusForbidden},
		{named, elsewhere, "todo.example", http.StatusOK},
		{named, elsewhere, "localhost", http.StatusForbidden},
		{named, elsewhere, "evil.example", http.StatusForbidden},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: tt.address})
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
		request.Host = tt.host
		response := httptest.NewRecorder()
		guardMetrics(shown, tt.hosts).ServeHTTP(response, request)
		if response.Code != tt.status {
			t.Errorf("%s at %s, known as %q: %d", tt.host, tt.address, tt.hosts, response.Code)
		}
	}
}

// With -metrics same they are where MCP is, by the names that it has.
func TestMetricsBesideMCP(t *testing.T) {
	options := Options{
		Telemetry: showsMetrics, MCP: mcpserver.Options{AllowedHosts: []string{"todo.example"}},
	}
	r := start(t, registry(nil, nil), options, "-metrics", "same")
	for host, want := range map[string]int{"": http.StatusOK, "todo.example": http.StatusOK, "evil.example": 403} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			request.Host = host
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("as %q: %s", host, response.Status)
		}
	}
	if strings.Contains(r.stderr.String(), "serving metrics") {
		t.Errorf("there is another address: %s", r.stderr)
	}
}

// Whoever opens connections to metrics and asks for nothing keeps neither others from reading them nor the process from
// opening files: of too many, the one that has waited longest is closed.
func TestConnectionsOfScrapersAreBounded(t *testing.T) {
	log := new(safeBuffer)
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "calls 1") })
	end, err := serveMetrics(t.Context(), "127.0.0.1:0", shown, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	at := addressInLog.FindStringSubmatch(log.String())[1]
	var open []net.Conn
	for range mostScrapers {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	response, err := http.Get("http://" + at + "/metrics") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Errorf("metrics are answered with %s", response.Status)
	}
	// It is closed before the answer came. A server that does not do so closes it later, as one that asks for nothing.
	if err := open[0].SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := open[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("who has waited longest is still connected: %v", err)
	}
}
