package wire

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/observe/otel"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// dropped takes spans and does nothing with them: what is measured is making them.
type dropped struct{}

func (dropped) OnStart(context.Context, trace.ReadWriteSpan) {}
func (dropped) OnEnd(trace.ReadOnlySpan)                     {}
func (dropped) Shutdown(context.Context) error               { return nil }
func (dropped) ForceFlush(context.Context) error             { return nil }

// providers are those of a program that sends the spans of a sampler, and its metrics.
func providers(sampler trace.Sampler) (*trace.TracerProvider, *metric.MeterProvider) {
	return trace.NewTracerProvider(trace.WithSpanProcessor(dropped{}), trace.WithSampler(sampler)),
		metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
}

// observed returns an adapter with hooks; nil: there are none.
func observed(hooks *observe.Hooks) (*aql.Adapter, error) {
	return aql.New(service.NewRegistry(new(service.Service)), aql.Options{
		Name: "bench", Version: "1.0.0", Observe: hooks,
	})
}

// Asked is how often observeNothing asks for hooks.
const Asked = 1000

// observeNothing is what an adapter without hooks pays: the comparison in place of a hook, many times.
func observeNothing(context.Context) (Group, error) {
	a, err := observed(nil)
	if err != nil {
		return Group{}, err
	}
	var there int
	return Group{Candidates: []Candidate{{Name: "aql-tag", Run: func() (any, error) {
		there = 0
		for range Asked {
			if a.Observed() {
				there++
			}
		}
		return &there, nil
	}}}}, nil
}

// observeCall is a small call, with and without what is measured of it. Nothing is sent.
func observeCall(ctx context.Context) (Group, error) {
	all, meters := providers(trace.AlwaysSample())
	none, _ := providers(trace.NeverSample())
	request := envelope("create_note", smallText)
	var group Group
	for _, c := range []struct {
		name  string
		hooks *observe.Hooks
		otel  *otel.Options
	}{
		{"aql-tag, without hooks", nil, nil},
		{"hooks that are nil", new(observe.Hooks), nil},
		{"metrics", nil, &otel.Options{Meters: meters}},
		{"metrics, no span is sampled", nil, &otel.Options{Meters: meters, Tracers: none}},
		{"metrics and spans", nil, &otel.Options{Meters: meters, Tracers: all}},
	} {
		hooks := c.hooks
		if c.otel != nil {
			var err error
			if hooks, err = otel.New(*c.otel); err != nil {
				return Group{}, err
			}
		}
		a, err := observed(hooks)
		if err != nil {
			return Group{}, err
		}
		call := caller(ctx, a, createTool)
		var reply []byte
		group.Candidates = append(group.Candidates, Candidate{Name: c.name, Run: func() (any, error) {
			var err error
			reply, err = call(request)
			return &reply, err
		}})
	}
	return group, nil
}

// observeHTTP is the same call in the handler of HTTP: alone, within otelhttp, with our spans and metrics, and with
// both. otelhttp makes one span of a request and three metrics, we make two spans and two metrics.
func observeHTTP(ctx context.Context) (Group, error) {
	tracers, meters := providers(trace.AlwaysSample())
	hooks, err := otel.New(otel.Options{Meters: meters, Tracers: tracers})
	if err != nil {
		return Group{}, err
	}
	var servers []*mcpserver.Server
	group := Group{close: func() {
		for _, server := range servers {
			server.Close()
		}
	}}
	for _, c := range []struct {
		name   string
		hooks  *observe.Hooks
		within bool // otelhttp
	}{
		{"aql-tag, without hooks", nil, false},
		{"otelhttp", nil, true},
		{"metrics and spans", hooks, false},
		{"metrics and spans, within otelhttp", hooks, true},
	} {
		a, err := observed(c.hooks)
		if err != nil {
			return Group{}, err
		}
		server := mcpserver.New(a, mcpserver.Options{})
		servers = append(servers, server)
		handler, err := server.Handler()
		if err != nil {
			return Group{}, err
		}
		if c.within {
			handler = otelhttp.NewHandler(handler, "mcp", otelhttp.WithTracerProvider(tracers),
				otelhttp.WithMeterProvider(meters))
		}
		group.Candidates = append(group.Candidates, Candidate{Name: c.name, Run: posting(ctx, handler)})
	}
	return group, nil
}

// posting returns what posts a small call to a handler of MCP. Its client names a trace.
func posting(ctx context.Context, handler http.Handler) func() (any, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + createTool + `","arguments":` +
		string(envelope("create_note", smallText)) + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{},` +
		`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}`
	return func() (any, error) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": createTool,
		} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		answer := w.Body.Bytes()
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `\"success\":true`) {
			return nil, fmt.Errorf("%d %s", w.Code, answer)
		}
		return &answer, nil
	}
}
