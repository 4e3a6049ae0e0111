package otel_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/observe/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// mark is in everything that neither spans nor metrics may have.
const mark = "marked"

type request struct{ ID string }

// service has an operation of each kind.
func service() *aql.Registry {
	id := []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}}
	operation := func(name string, category gen.Category, danger gen.Danger, err error) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Params: id, Request: (*request)(nil), Result: (*string)(nil),
			Returns: "Text", Call: func(context.Context, []any, any) (any, error) { return mark, err },
		}
	}
	background := gen.Handler{
		Name: "build", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag, Params: id,
		Request: (*request)(nil),
		Execution: &gen.Execution{Run: aql.RunFunc(func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
			return nil, stepsOf(ctx, run)
		})},
	}
	return gen.NewRegistry([]gen.Handler{
		operation("get_part", gen.Read, gen.Safe, nil),
		operation("drop_part", gen.Delete, gen.Destructive, nil),
		operation("break_part", gen.Execute, gen.Reversible, fmt.Errorf("%s is broken", mark)),
		background,
	}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
}

func stepsOf(ctx context.Context, run *aql.Run) error {
	_, err := aql.Step(ctx, run, mark, func(context.Context) (string, error) { return mark, nil })
	return err
}

// watched is what hooks make: spans and metrics in memory.
type watched struct {
	t      *testing.T
	spans  *tracetest.InMemoryExporter
	reader *metric.ManualReader
	meters *metric.MeterProvider
	hooks  *observe.Hooks
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	w.meters = metric.NewMeterProvider(metric.WithReader(w.reader))
	var err error
	w.hooks, err = otel.New(otel.Options{Tracers: trace.NewTracerProvider(trace.WithSyncer(w.spans)), Meters: w.meters})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// golden compares what there is with golden files, and searches all of it for what is sensitive.
func (w *watched) golden(name, session string, secrets ...string) {
	w.t.Helper()
	var data metricdata.ResourceMetrics
	if err := w.reader.Collect(w.t.Context(), &data); err != nil {
		w.t.Fatal(err)
	}
	spans := w.spans.GetSpans()
	everything := fmt.Sprintf("%+v %+v", spans, data)
	for _, secret := range append(secrets, mark) {
		if strings.Contains(everything, secret) || secret == "" {
			w.t.Errorf("%q is among the spans and metrics of %s", secret, name)
		}
	}
	if !strings.Contains(everything, "tools/call") || !strings.Contains(everything, "mcp.server.operation.duration") {
		w.t.Errorf("nothing is searched: %s", everything)
	}
	golden(w.t, name+".spans", spanLines(spans, session))
	golden(w.t, name+".metrics", metricLines(w.t, data))
}

// The spans and metrics of a service are those of the golden files, and nothing sensitive is among them.
func TestGolden(t *testing.T) {
	w := newWatched(t)
	hooks, meters := w.hooks, w.meters
	log := audit.New(audit.Options{Sinks: []audit.Sink{audit.Slog(slog.New(slog.DiscardHandler))}})
	adapter, err := aql.New(service(), aql.Options{Name: "parts", Observe: hooks, Audit: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := otel.Watch(meters, adapter); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- adapter.Work(ctx) }()
	session := adapter.NewSession()
	send := func(tool, request string) aql.Reply {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: mark})
		ctx = aql.WithTransport(ctx, observe.Transport{Network: "pipe", Protocol: "2025-11-25", RequestID: "7"})
		return session.Call(ctx, tool, []byte(request))
	}
	params := `,"params":{"id":"` + mark + `"}}`
	send("mcp_aql_read", `{"operation":"get_part"`+params)
	held := send("mcp_aql_delete", `{"operation":"drop_part"`+params)
	send("mcp_aql_read", `{"operation":"`+mark+`"`+params)
	send("mcp_aql_execute", `{"operations":[{"operation":"break_part"`+params+`,{"operation":"`+mark+`"}]}`)
	if got := send("mcp_aql_execute", `{"operation":"build","params":{"id":"`+mark+`","_wait":10}}`); !strings.Contains(
		string(got.JSON), "completed") {
		t.Fatalf("the execution does not end: %s", got.JSON)
	}
	tellOfAgents(t.Context(), hooks)
	stop()
	if err := <-worked; err != nil {
		t.Fatal(err)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var token struct {
		Error struct {
			Details struct {
				Token string `json:"confirmation_token"`
			}
		}
	}
	if err := json.Unmarshal(held.JSON, &token); err != nil || token.Error.Details.Token == "" {
		t.Fatalf("%v %s", err, held.JSON)
	}
	w.golden("service", session.ID(), token.Error.Details.Token)
}

// tellOfAgents tells hooks what a loop and its inbox do, and a takeover.
func tellOfAgents(ctx context.Context, h *observe.Hooks) {
	outside := ctx
	h.Session(ctx, observe.Session{Adapter: "parts", ID: mark, Took: time.Minute})
	for _, result := range []observe.VerificationResult{observe.Verified, observe.Wrong, observe.NotChecked} {
		h.Verification(ctx, observe.Verification{Result: result})
	}
	ctx, end := h.Operation(ctx, observe.Operation{Name: gen.RecordExecutionStep})
	h.Gate(ctx, observe.Decision{
		Operation: gen.RecordExecutionStep, Effect: observe.Denied, Reason: "policy", Rule: "closed",
	})
	if h.Quota != nil { // there are metrics
		h.Quota(ctx, observe.QuotaUse{Metric: "tokens_per_day", Share: 0.5})
	}
	h.Approval(ctx, observe.Approval{Operation: gen.RecordExecutionStep, Kind: "step", Event: observe.Opened})
	h.Approval(ctx, observe.Approval{
		Operation: gen.RecordExecutionStep, Kind: "step", Event: observe.Used, Waited: time.Minute,
	})
	h.Directive(ctx, observe.Directive{Agent: "bot", Execution: "exec_1", Step: 1, Tier: "advisory", Continue: true})
	end(observe.OperationEnd{})
	h.Execution(ctx, observe.StateChange{Operation: "build", From: "running", To: "running", Attempt: 1, Lost: true})
	for number, stopped := range []string{"lost", "paused", "cancelled"} {
		_, attempted := h.Attempt(ctx, observe.Attempt{
			Operation: "build", Execution: "exec_1", Number: number + 2, TakenOver: number == 1,
		})
		attempted(observe.AttemptEnd{Stopped: stopped})
	}
	ctx, end = h.Operation(outside, observe.Operation{Name: gen.CancelExecution})
	h.Execution(ctx, observe.StateChange{
		Operation: "build", Execution: "exec_2", From: "pending", To: "cancelled", Ended: true,
	})
	end(observe.OperationEnd{})
	_, called := h.Call(outside, observe.Call{Tool: "mcp_aql_delete"})
	called(observe.CallEnd{Code: "PERMISSION_DENIED", RPCError: -32602})
}

// Without providers hooks make nothing, and can be called.
func TestNoProviders(t *testing.T) {
	hooks, err := otel.New(otel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tellOfAgents(t.Context(), hooks)
	ctx, end := hooks.Call(t.Context(), observe.Call{})
	if end(observe.CallEnd{}); ctx != t.Context() {
		t.Error("the context has something that nobody has made")
	}
	_, stepped := hooks.Step(t.Context(), observe.Step{})
	stepped(observe.StepEnd{Failed: true})
}

// The parent of a call is the span that its client names, unless one is there that is of the same trace; one of another
// trace is linked.
func TestParents(t *testing.T) {
	const client, state = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1"
	for name, tt := range map[string]struct {
		local          bool // there is a span
		parent         string
		wantClient     bool
		wantLink, same bool // same: the span that is there is of the client's trace
	}{
		"nothing":                        {},
		"a span":                         {local: true},
		"the client's":                   {parent: client, wantClient: true},
		"a span and the client's":        {local: true, parent: client, wantClient: true, wantLink: true},
		"a span of the client's trace":   {local: true, same: true, parent: client},
		"what is not well-formed":        {local: true, parent: client[:50]},
		"a trace of zeros":               {local: true, parent: "00-00000000000000000000000000000000-b7ad6b7169203331-01"},
		"a client's that is not sampled": {parent: client[:54] + "0", wantClient: true},
	} {
		t.Run(name, func(t *testing.T) {
			spans := tracetest.NewInMemoryExporter()
			tracers := trace.NewTracerProvider(trace.WithSyncer(spans), trace.WithSampler(trace.AlwaysSample()))
			hooks, err := otel.New(otel.Options{Tracers: tracers})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if tt.same {
				ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": client})
			}
			var local oteltrace.SpanContext
			if tt.local {
				var span oteltrace.Span
				ctx, span = tracers.Tracer("http").Start(ctx, "POST /mcp")
				local = span.SpanContext()
			}
			ctx, end := hooks.Call(ctx, observe.Call{
				Tool: "mcp_aql", Transport: observe.Transport{TraceParent: tt.parent, TraceState: state},
			})
			end(observe.CallEnd{})
			got := spans.GetSpans()[0]
			want := local.SpanID().String()
			if tt.wantClient {
				want = "b7ad6b7169203331"
				if oteltrace.SpanContextFromContext(ctx).TraceState().String() != state {
					t.Error("the tracestate is lost")
				}
			}
			if parent := got.Parent.SpanID().String(); parent != want {
				t.Errorf("the parent is %s, want %s", parent, want)
			}
			linked := len(got.Links) == 1 && got.Links[0].SpanContext.SpanID() == local.SpanID()
			if linked != tt.wantLink || !linked && len(got.Links) > 0 {
				t.Errorf("the links are %v", got.Links)
			}
		})
	}
}

// An attempt is linked to the span in which its execution was started, whatever process makes it.
func TestAttemptsAreLinkedToStarts(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	hooks, err := otel.New(otel.Options{Tracers: trace.NewTracerProvider(trace.WithSyncer(spans))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := hooks.Operation(t.Context(), observe.Operation{Name: "build"})
	kept := hooks.Origin(ctx)
	end(observe.OperationEnd{})
	for _, origin := range []string{kept, "", "forged"} {
		_, attempted := hooks.Attempt(t.Context(), observe.Attempt{Operation: "build", Origin: origin})
		attempted(observe.AttemptEnd{})
	}
	all := spans.GetSpans()
	if links := all[1].Links; len(links) != 1 || links[0].SpanContext.SpanID() != all[0].SpanContext.SpanID() ||
		all[1].SpanContext.TraceID() == all[0].SpanContext.TraceID() {
		t.Errorf("the links are %v", links)
	}
	if len(all[2].Links)+len(all[3].Links) > 0 || hooks.Origin(t.Context()) != "" {
		t.Error("there are links to nothing")
	}
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.Join(lines, "\n") + "\n"
	if strings.Contains(got, mark) {
		t.Errorf("%s tell what is sensitive:\n%s", name, got)
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

var execution = regexp.MustCompile(`exec_\w+`)

// spanLines has a line for each span, those within it behind it and indented, and the traces in order.
func spanLines(spans tracetest.SpanStubs, session string) []string {
	var lines []string
	var of func(parent, indent string)
	of = func(parent, indent string) {
		var here []string
		for _, s := range spans {
			if s.Parent.SpanID().String() != parent {
				continue
			}
			line := fmt.Sprintf("%s%s [%s] %s", indent, s.Name, s.SpanKind, text(s.Attributes))
			for _, e := range s.Events {
				line += fmt.Sprintf(" (%s %s)", e.Name, text(e.Attributes))
			}
			if s.Status.Code == codes.Error {
				line += " failed: " + s.Status.Description
			}
			before := len(lines)
			line = strings.ReplaceAll(execution.ReplaceAllString(line, "exec_…"), session, "session")
			if n := len(s.Links); n > 0 {
				line += fmt.Sprintf(" links: %d", n)
			}
			lines = append(lines, line)
			of(s.SpanContext.SpanID().String(), indent+"  ")
			if parent == none {
				here = append(here, strings.Join(lines[before:], "\n"))
				lines = lines[:before]
			}
		}
		slices.Sort(here)
		lines = append(lines, here...)
	}
	of(none, "")
	return lines
}

// none is the parent of the spans that have none.
const none = "0000000000000000"

func text(attributes []attribute.KeyValue) string {
	set := attribute.NewSet(attributes...)
	return set.Encoded(attribute.DefaultEncoder())
}

// metricLines has a line for each series.
func metricLines(t *testing.T, data metricdata.ResourceMetrics) (lines []string) {
	t.Helper()
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(set attribute.Set, count uint64) {
				lines = append(lines, fmt.Sprintf("%s %s {%s} %d", m.Name, m.Unit, set.Encoded(attribute.DefaultEncoder()), count))
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, uint64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, uint64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(p.Attributes, uint64(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					if m.Name == "aql.store.duration" {
						p.Count = 0 // a worker asks its state as often as it has time for
					}
					add(p.Attributes, p.Count)
				}
			default:
				t.Errorf("%s is %T", m.Name, m.Data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}
