package otel_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/observe/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	traceParent = "00-" + traceID + "-b7ad6b7169203331-01"
)

// tracing is a server all of whose calls have spans, whatever their clients say about sampling.
type tracing struct {
	handler http.Handler
	spans   *tracetest.InMemoryExporter
}

func newTracing(tb testing.TB) *tracing {
	tb.Helper()
	s := &tracing{spans: tracetest.NewInMemoryExporter()}
	hooks, err := otel.New(otel.Options{
		Tracers: trace.NewTracerProvider(trace.WithSyncer(s.spans), trace.WithSampler(trace.AlwaysSample())),
	})
	if err != nil {
		tb.Fatal(err)
	}
	adapter, err := aql.New(service(), aql.Options{Name: "parts", Observe: hooks})
	if err != nil {
		tb.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	tb.Cleanup(server.Close)
	if s.handler, err = server.Handler(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// call sends a call with metadata, and returns the span of the call; nil: there is none.
func (s *tracing) call(tb testing.TB, parent, state string) (answer string, span *tracetest.SpanStub) {
	tb.Helper()
	s.spans.Reset()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
		`{"operation":"get_part","params":{"id":"x"}},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{},"traceparent":` + parent + `,"tracestate":` + state + `}}}`
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	for _, stub := range s.spans.GetSpans() {
		if stub.Name == "tools/call mcp_aql_read" {
			span = &stub
		}
	}
	return w.Body.String(), span
}

// Whatever a client writes about its trace, its call is answered, and a span has the client's as its parent only where
// that is well-formed. What is too long is left out.
func TestTraceContextOfClients(t *testing.T) {
	s := newTracing(t)
	long := "a=" + strings.Repeat("x", 200)
	longest := strings.Join([]string{long, "b" + long, "c=" + strings.Repeat("x", 512-2-2*203-1)}, ",")
	quoted := func(text string) string {
		written, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(written)
	}
	for name, tt := range map[string]struct {
		parent, state string
		want          bool // the client's span is the parent
		wantState     string
	}{
		"a trace":                     {quoted(traceParent), `"a=1"`, true, "a=1"},
		"no state":                    {quoted(traceParent), `null`, true, ""},
		"a state of the longest size": {quoted(traceParent), quoted(longest), true, longest},
		"a state that is too long":    {quoted(traceParent), quoted(longest + "x"), true, ""},
		"a state of another type":     {quoted(traceParent), `{"a":1}`, true, ""},
		"a malformed state":           {quoted(traceParent), `"no state"`, true, ""},
		"a state that stands twice":   {quoted(traceParent), `"a=1,a=2"`, true, ""},
		"a trace that is not sampled": {quoted(traceParent[:54] + "0"), `null`, true, ""},
		"a later version":             {quoted("01" + traceParent[2:] + "-more"), `""`, true, ""},
		"version ff":                  {quoted("ff" + traceParent[2:]), `""`, false, ""},
		"a number":                    {`1`, `"a=1"`, false, ""},
		"null":                        {`null`, `null`, false, ""},
		"an object":                   {`{"traceparent":` + quoted(traceParent) + `}`, `null`, false, ""},
		"a list":                      {`[` + quoted(traceParent) + `]`, `null`, false, ""},
		"true":                        {`true`, `true`, false, ""},
		"an empty text":               {`""`, `""`, false, ""},
		"upper case":                  {quoted(strings.ToUpper(traceParent)), `""`, false, ""},
		"a text that is too short":    {quoted(traceParent[:54]), `""`, false, ""},
		"a text that is too long":     {quoted(traceParent + strings.Repeat("-x", 300)), `""`, false, ""},
		"more behind version 00":      {quoted(traceParent + "-x"), `""`, false, ""},
		"a trace of zeros":            {quoted("00-" + strings.Repeat("0", 32) + traceParent[35:]), `""`, false, ""},
		"a span of zeros":             {quoted("00-" + traceID + "-0000000000000000-01"), `""`, false, ""},
		"lines":                       {quoted(traceParent + "\r\nx: y"), `"a=1\r\nx: y"`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer, span := s.call(t, tt.parent, tt.state)
			if !strings.Contains(answer, `\"success\":true`) || span == nil {
				t.Fatalf("%+v: %s", span, answer)
			}
			if got := span.Parent.TraceID().String() == traceID; got != tt.want || got != span.Parent.IsValid() {
				t.Errorf("the parent is %+v", span.Parent)
			}
			if got := span.SpanContext.TraceState().String(); got != tt.wantState {
				t.Errorf("the state is %q, want %q", got, tt.wantState)
			}
		})
	}
}

var wellFormed = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// Whatever JSON a client writes about its trace, its call is answered, and a span has a parent only where the text is
// one of W3C Trace Context, and that one. Its state is one of a bounded size.
func FuzzTraceContext(f *testing.F) {
	for _, parent := range []string{
		`"` + traceParent + `"`, `"ff` + traceParent[2:] + `"`, `"01` + traceParent[2:] + `-x"`, `1`, `null`, `[]`, `{}`, `"`,
		`"\u0030` + traceParent[1:] + `"`,
	} {
		for _, state := range []string{`"a=1,b@c=2"`, `"a=1,a=2"`, `"="`, `null`, `"` + strings.Repeat("a", 600) + `"`} {
			f.Add(parent, state)
		}
	}
	s := newTracing(f)
	f.Fuzz(func(t *testing.T, parent, state string) {
		var said any
		if json.Unmarshal([]byte(parent), &said) != nil || !json.Valid([]byte(state)) || len(parent)+len(state) > 1<<16 {
			return
		}
		answer, span := s.call(t, parent, state)
		if span == nil {
			if !strings.Contains(answer, `"error"`) { // such as of bytes that are no UTF-8
				t.Fatalf("%q %q: %s", parent, state, answer)
			}
			return
		}
		if !strings.Contains(answer, `\"success\":true`) || len(span.SpanContext.TraceState().String()) > 512 {
			t.Fatalf("%q %q: %+v: %s", parent, state, span.SpanContext, answer)
		}
		if !span.Parent.IsValid() {
			return
		}
		text, _ := said.(string)
		if match := wellFormed.FindStringSubmatch(text); match == nil || match[1] != span.Parent.TraceID().String() {
			t.Fatalf("%q has the parent %+v", parent, span.Parent)
		}
	})
}
