package aql

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// warner is an adapter with an operation whose handler warns.
func warner(t *testing.T, options Options, change func(*gen.Handler), handle noteHandler) *fixture {
	t.Helper()
	operation := noteOperation("list_notes", gen.Read, gen.Safe, handle, title,
		gen.Field{Name: "limit", Go: "Limit", Type: "integer", Rules: gen.Rules{gen.Deprecated("say first")}})
	operation.Params[0] = gen.Field{Name: "title", Go: "Title", Type: "string", Rules: gen.Rules{gen.MaxLen(20)}}
	if change != nil {
		change(&operation)
	}
	f := newFixture(t, Options{})
	options.Mode, options.Logger = "single", f.adapter.log
	adapter, err := New(gen.NewRegistry([]gen.Handler{operation,
		noteOperation("delete_note", gen.Delete, gen.Destructive, handle, noteID)}, noteTypes), options)
	if err != nil {
		t.Fatal(err)
	}
	f.adapter, f.session = adapter, adapter.NewSession()
	return f
}

// ticking is a clock that moves on by a step each time it is read.
func ticking(step time.Duration) func() time.Time {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(step); return at }
}

func warning(code, message, severity, details string) string {
	if details != "" {
		details = `,"details":` + details
	}
	return fmt.Sprintf(`{"code":%q,"message":%q,"severity":%q%s}`, code, message, severity, details)
}

// REQ-WA-01, REQ-WA-02, REQ-WA-03, REQ-WA-04, REQ-WA-05, REQ-WA-06: what warnings an answer has, byte for byte.
func TestWarnings(t *testing.T) {
	suppressed := make([]string, 0, 10)
	for i := range 9 {
		suppressed = append(suppressed, warning(fmt.Sprintf("NOTE_%d", i), "m", "medium", ""))
	}
	for _, tt := range []struct {
		name, params string
		change       func(*gen.Handler)
		options      Options
		warnings     []Warning
		want         []string
		log          string
	}{
		{name: "none"},
		{
			name: "one, of medium severity if it does not say", warnings: []Warning{Warning{Code: "STALE_DATA_WARNING",
				Message: "The index is an hour old"}.WithDetail("age_minutes", 60)},
			want: []string{warning("STALE_DATA_WARNING", "The index is an hour old", "medium", `{"age_minutes":60}`)},
		},
		{
			name: "the most important first, else as they came",
			warnings: []Warning{{Code: "A", Message: "m", Severity: SeverityLow}, {Code: "B", Message: "m"},
				{Code: "C", Message: "m", Severity: SeverityHigh}, {Code: "D", Message: "m"}},
			want: []string{warning("C", "m", "high", ""), warning("B", "m", "medium", ""), warning("D", "m", "medium", ""),
				warning("A", "m", "low", "")},
		},
		{
			name: "the same twice is counted",
			warnings: []Warning{Warning{Code: "A", Message: "m"}.WithDetail("k", 1),
				Warning{Code: "A", Message: "m"}.WithDetail("k", 2), Warning{Code: "A", Message: "m"}.WithDetail("k", 1)},
			want: []string{warning("A", "m", "medium", `{"k":1,"occurrence_count":2}`),
				warning("A", "m", "medium", `{"k":2}`)},
		},
		{
			name: "no more than ten", warnings: func() (all []Warning) {
				for i := range 200 {
					all = append(all, Warning{Code: fmt.Sprintf("NOTE_%d", i), Message: "m"})
				}
				return all
			}(),
			want: append(suppressed, warning("SUPPRESSED_WARNINGS", "191 more warnings were left out", "low", `{"count":191}`)),
		},
		{
			name: "what shows something internal is withheld", log: "it has a source file with a line",
			warnings: []Warning{{Code: "A", Message: "see /etc/passwd at /src/a.go:12"},
				Warning{Code: "B", Message: "m"}.WithDetail("trace", "goroutine 1 [running]: main.go:3")},
		},
		{name: "a code that is none", warnings: []Warning{{Code: "not a code", Message: "m"}, {Code: "1A", Message: "m"},
			{Message: "m"}}, log: "a warning needs a code"},
		{name: "a severity that is none", warnings: []Warning{{Code: "A", Message: "m", Severity: "urgent"}},
			log: "severity"},
		{name: "details that are no JSON",
			warnings: []Warning{Warning{Code: "A", Message: "m"}.WithDetail("c", make(chan int))}, log: "withheld"},
		{
			name: "a list that was cut", warnings: []Warning{Truncated("items", 150, 100), Truncated("tags", 150, 10)},
			want: []string{
				warning("VALIDATION_TRUNCATED_WARNING", "Response truncated to 10 items", "medium",
					`{"field":"tags","limit":10,"original_count":150,"truncated_count":10}`),
				warning("VALIDATION_TRUNCATED_WARNING", "Response truncated to 100 items", "low",
					`{"field":"items","limit":100,"original_count":150,"truncated_count":100}`),
			},
		},
		{
			name: "a list of which nobody knows how much was cut", warnings: []Warning{Truncated("items", -1, 100)},
			want: []string{
				warning("VALIDATION_TRUNCATED_WARNING", "Response truncated to 100 items", "medium",
					`{"field":"items","limit":100,"truncated_count":100}`),
			},
		},
		{
			name:   "a deprecated operation",
			change: func(d *gen.Handler) { d.Deprecated, d.Replacement = "lists are paged now", "page_notes" },
			want: []string{warning("DEPRECATION_WARNING", "Operation 'list_notes' is deprecated", "low",
				`{"deprecated_item":"list_notes","migration_guide":"lists are paged now","replacement":"page_notes",`+
					`"type":"operation"}`)},
		},
		{name: "a deprecated parameter that is not used", params: `"title":"x"`},
		{
			name: "a deprecated parameter", params: `"limit":3`,
			want: []string{warning("DEPRECATION_WARNING", "Parameter 'limit' is deprecated", "low",
				`{"deprecated_item":"limit","migration_guide":"say first","type":"parameter"}`)},
		},
		{
			name: "a slow operation", options: Options{SlowAfter: 10 * time.Millisecond},
			want: []string{warning("PERFORMANCE_SLOW_QUERY_WARNING", "Operation took 50ms (threshold: 10ms)", "medium",
				`{"duration_ms":50,"operation":"list_notes","threshold_ms":10}`)},
		},
		{
			name: "a very slow one", options: Options{SlowAfter: 2 * time.Millisecond},
			want: []string{warning("PERFORMANCE_SLOW_QUERY_WARNING", "Operation took 50ms (threshold: 2ms)", "high",
				`{"duration_ms":50,"operation":"list_notes","threshold_ms":2}`)},
		},
		{
			name: "one that is hardly slow", options: Options{SlowAfter: 40 * time.Millisecond},
			want: []string{warning("PERFORMANCE_SLOW_QUERY_WARNING", "Operation took 50ms (threshold: 40ms)", "low",
				`{"duration_ms":50,"operation":"list_notes","threshold_ms":40}`)},
		},
		{name: "one that is quick", options: Options{SlowAfter: time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Now = ticking(50 * time.Millisecond)
			f := warner(t, tt.options, tt.change, func(ctx context.Context, _ *noteRequest) (string, error) {
				for _, w := range tt.warnings {
					Warn(ctx, w)
				}
				return "done", nil
			})
			want := `{"success":true,"data":"done"}`
			if tt.want != nil {
				want = `{"success":true,"data":"done","warnings":[` + strings.Join(tt.want, ",") + `]}`
			}
			if diff := cmp.Diff(want, f.call("mcp_aql", `{"operation":"list_notes","params":{`+tt.params+`}}`)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if !strings.Contains(f.log.String(), tt.log) || tt.log == "" && f.log.Len() > 0 {
				t.Errorf("log: %s", f.log)
			}
		})
	}
}

// REQ-WA-01: a failure has no warnings, and a context of no request takes none.
func TestWarningsOfFailures(t *testing.T) {
	f := warner(t, Options{}, nil, func(ctx context.Context, _ *noteRequest) (string, error) {
		Warn(ctx, Warning{Code: "A", Message: "m"})
		return "", NotFound("note", "x")
	})
	if got := f.call("mcp_aql", `{"operation":"list_notes"}`); strings.Contains(got, "warnings") {
		t.Error(got)
	}
	Warn(context.Background(), Warning{Code: "A", Message: "m"})
}

// REQ-WA-08: what an answer has warned of, the next one warns of again, in the same session and in another.
func TestWarningsAreNotRemembered(t *testing.T) {
	f := warner(t, Options{}, nil, func(ctx context.Context, _ *noteRequest) (string, error) {
		Warn(ctx, Warning{Code: "A", Message: "m"})
		Warn(ctx, Warning{Code: "A", Message: "m"})
		return "done", nil
	})
	want := `{"success":true,"data":"done","warnings":[` + warning("A", "m", "medium", `{"occurrence_count":2}`) + `]}`
	for call := range 4 {
		if call == 2 {
			f.session.Close()
			f.session = f.adapter.NewSession()
		}
		if diff := cmp.Diff(want, f.call("mcp_aql", `{"operation":"list_notes"}`)); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", call, diff)
		}
	}
}

// Handlers may warn from several goroutines, even from one that outlives them.
func TestWarningsFromGoroutines(t *testing.T) {
	var late sync.WaitGroup
	f := warner(t, Options{}, nil, func(ctx context.Context, _ *noteRequest) (string, error) {
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { Warn(ctx, Warning{Code: "A", Message: "m"}) })
		}
		group.Wait()
		late.Go(func() {
			for range 100 {
				Warn(ctx, Warning{Code: "LATE", Message: "m"})
			}
		})
		return "done", nil
	})
	for range 50 {
		if got := f.call("mcp_aql", `{"operation":"list_notes"}`); !strings.Contains(got, `"occurrence_count":20`) {
			t.Error(got)
		}
	}
	late.Wait()
}

// REQ-BA-12, T-46: a batch has the warnings of its operations together, each once.
func TestWarningsOfABatch(t *testing.T) {
	f := warner(t, Options{ResponseMeta: true}, nil, func(ctx context.Context, request *noteRequest) (string, error) {
		Warn(ctx, Warning{Code: "A", Message: "m"})
		Warn(ctx, Warning{Code: "B", Message: "m", Severity: SeverityHigh}.WithDetail("title", request.Title))
		return "", nil
	})
	got := f.session.Call(context.Background(), "mcp_aql", []byte(`{"operations":[{"operation":"list_notes",`+
		`"params":{"title":"x"}},{"operation":"list_notes","params":{"title":"y"}}]}`))
	checkOfficial(t, got.JSON)
	want := `"summary":{"total":2,"succeeded":2,"failed":0},"warnings":[` + strings.Join([]string{
		warning("B", "m", "high", `{"title":"x"}`), warning("B", "m", "high", `{"title":"y"}`),
		warning("A", "m", "medium", `{"occurrence_count":2}`),
	}, ",") + `]}`
	if !strings.HasSuffix(string(got.JSON), want) {
		t.Errorf("answer %s\nwant the end %s", got.JSON, want)
	}
}

// REQ-MT-01, REQ-MT-02, REQ-MT-03, REQ-MT-04, REQ-MT-07: answers tell their request, where they may.
func TestResponseMeta(t *testing.T) {
	f := warner(t, Options{ResponseMeta: true, Now: ticking(7 * time.Millisecond)}, nil,
		func(ctx context.Context, _ *noteRequest) (string, error) {
			Warn(ctx, Warning{Code: "A", Message: "m"})
			return "done", nil
		})
	want := `{"success":true,"data":"done","warnings":[` + warning("A", "m", "medium", "") +
		`],"_meta":{"request_id":"r-7","duration_ms":7}}`
	if diff := cmp.Diff(want, f.call("mcp_aql", `{"operation":"list_notes","_request_id":"r-7"}`)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if got := f.call("mcp_aql", `{"operation":"list_notes"}`); !strings.Contains(got, `"_meta":{"request_id":"req_`) {
		t.Errorf("no request id of our own: %s", got)
	}
	for _, request := range []string{`{"operation":"introspect","params":{"query":"operations"}}`,
		`{"operation":"list_notes","params":{"x":1}}`, `{"operations":[{"operation":"list_notes"}]}`} {
		if got := string(f.session.Call(context.Background(), "mcp_aql", []byte(request)).JSON); strings.Contains(got,
			"_meta") {
			t.Errorf("%s has _meta: %s", request, got)
		}
	}
}
