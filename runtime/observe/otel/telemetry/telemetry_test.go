package telemetry_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe/otel/telemetry"
	"github.com/aqltag/aqltag/runtime/serve"
	gotel "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/baggage"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// asProcess is the environment variable that makes the test binary an adapter.
const asProcess = "AQL_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		serve.Main(parts(), serve.Options{Name: "parts", Telemetry: telemetry.Open})
	}
	os.Exit(m.Run())
}

type request struct{ ID string }

// parts is a service whose handler has a span of its own, logs, and calls another service.
func parts() *aql.Registry {
	return gen.NewRegistry([]gen.Handler{{
		Name: "get_part", Category: gen.Read, Danger: gen.Safe, Request: (*request)(nil), Result: (*string)(nil),
		Returns: "Text", Params: []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}},
		Call: func(ctx context.Context, _ []any, _ any) (any, error) {
			ctx, span := gotel.Tracer("parts").Start(ctx, "look it up")
			defer span.End()
			return baggage.FromContext(ctx).String(), nil
		},
	}}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
}

// adapter is one that runs as a process.
type adapter struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	log   *bufio.Reader
}

func start(t *testing.T, environ []string, args ...string) *adapter {
	t.Helper()
	a := &adapter{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	a.cmd.Env = append(append(os.Environ(), asProcess+"=1"), environ...)
	var err error
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := a.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out, a.log = bufio.NewReader(out), bufio.NewReader(log)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return a
}

// send sends a request and returns the response.
func (a *adapter) send(message string) string {
	a.t.Helper()
	if _, err := io.WriteString(a.stdin, message+"\n"); err != nil {
		a.t.Fatal(err)
	}
	line, err := a.out.ReadString('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	return line
}

// end ends the input, and returns the log and what became of the process.
func (a *adapter) end() (string, error) {
	a.stdin.Close()
	log, err := io.ReadAll(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(log), a.cmd.Wait()
}

const (
	client = "0af7651916cd43dd8448eb211c80319c"
	begin  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"x","version":"1"}}}`
	call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
		`{"operation":"get_part","params":{"id":"secret"}},"_meta":{"baggage":"user=ann",` +
		`"traceparent":"00-` + client + `-b7ad6b7169203331-00"}}}`
)

// collector receives what processes send by OTLP.
type collector struct {
	mutex   sync.Mutex
	spans   []*traces.Span
	metrics map[string]bool
	service map[string]bool
	bodies  strings.Builder
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	body, err := io.ReadAll(r.Body)
	if err == nil {
		c.bodies.Write(body)
		err = c.take(r.URL.Path, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (c *collector) take(path string, body []byte) error {
	if strings.HasSuffix(path, "/v1/traces") {
		var sent collecttraces.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &sent); err != nil {
			return err
		}
		for _, of := range sent.ResourceSpans {
			for _, a := range of.Resource.Attributes {
				c.service[a.Key+"="+a.Value.GetStringValue()] = true
			}
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		return nil
	}
	var sent collectmetrics.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &sent); err != nil {
		return err
	}
	for _, of := range sent.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				c.metrics[m.Name] = true
			}
		}
	}
	return nil
}

// below returns the names of the client's spans that are below one of an id, each below the one before.
func (c *collector) below(parent string) (names []string) {
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == client && hex.EncodeToString(s.ParentSpanId) == parent {
			return append([]string{s.Name}, c.below(hex.EncodeToString(s.SpanId))...)
		}
	}
	return nil
}

// With -otel a process sends the spans and metrics of its calls before it ends, to where the environment says. They are
// below the span that the client names, whose word about sampling does not count, and tell nothing sensitive.
func TestSending(t *testing.T) {
	const all = "tools/call mcp_aql_read, aql get_part, look it up"
	for name, tt := range map[string]struct {
		args    []string
		environ []string
		spans   string // names, each below the one before
		metrics bool
	}{
		"everything":                    {spans: all, metrics: true},
		"metrics alone":                 {environ: []string{"OTEL_TRACES_EXPORTER=none"}, metrics: true},
		"traces alone":                  {environ: []string{"OTEL_METRICS_EXPORTER=none"}, spans: all},
		"nothing":                       {environ: []string{"OTEL_SDK_DISABLED=true"}},
		"no trace is sampled":           {environ: []string{"OTEL_TRACES_SAMPLER=parentbased_always_off"}, metrics: true},
		"clients say that they are not": {args: []string{"-otel-trust-sampling"}, metrics: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := &collector{metrics: make(map[string]bool), service: make(map[string]bool)}
			at := httptest.NewServer(c)
			defer at.Close()
			a := start(t, append(tt.environ, "OTEL_EXPORTER_OTLP_ENDPOINT="+at.URL, "OTEL_SERVICE_NAME=stock"),
				append(tt.args, "-otel")...)
			a.send(begin)
			if answer := a.send(call); !strings.Contains(answer, `\"data\":\"\"`) {
				t.Errorf("baggage is passed on: %s", answer)
			}
			if log, err := a.end(); err != nil || strings.Contains(log, "WARN") {
				t.Errorf("%v: %s", err, log)
			}
			names := c.below("b7ad6b7169203331")
			if got := strings.Join(names, ", "); got != tt.spans {
				t.Errorf("the spans are %q, want %q", got, tt.spans)
			}
			if tt.spans != "" && !c.service["service.name=stock"] {
				t.Errorf("the service is %v", c.service)
			}
			if c.metrics["aql.operation.duration"] != tt.metrics {
				t.Errorf("the metrics are %v", c.metrics)
			}
			if sent := c.bodies.String(); strings.Contains(sent, "secret") || strings.Contains(sent, "ann") {
				t.Error("what is sensitive is sent")
			}
		})
	}
}

var metricsAddress = regexp.MustCompile(`address=(\S+)`)

// With -metrics a process serves its metrics for Prometheus.
func TestMetricsForPrometheus(t *testing.T) {
	a := start(t, nil, "-metrics", "127.0.0.1:0")
	line, err := a.log.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at := metricsAddress.FindStringSubmatch(line)
	if at == nil {
		t.Fatal(line)
	}
	a.send(begin)
	a.send(call)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`aql_operation_duration_seconds_count{aql_operation_name="get_part",service_name="parts"} 1`, "go_goroutines ",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
	if log, err := a.end(); err != nil {
		t.Errorf("%v: %s", err, log)
	}
}

// What the environment asks for and there is not is told before anything is served.
func TestEnvironmentThatIsNotThere(t *testing.T) {
	for _, variable := range []string{
		"OTEL_TRACES_EXPORTER=zipkin", "OTEL_METRICS_EXPORTER=prometheus", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/json", "OTEL_TRACES_SAMPLER=jaeger_remote", "OTEL_TRACES_SAMPLER_ARG=2",
	} {
		t.Run(variable, func(t *testing.T) {
			environ := []string{variable}
			if strings.HasPrefix(variable, "OTEL_TRACES_SAMPLER_ARG") {
				environ = append(environ, "OTEL_TRACES_SAMPLER=traceidratio")
			}
			log, err := start(t, environ, "-otel").end()
			if err == nil || !strings.Contains(log, variable) {
				t.Errorf("%v: %s", err, log)
			}
		})
	}
}
