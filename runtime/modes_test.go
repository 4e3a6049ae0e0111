package aql

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// REQ-EP-01, REQ-EP-02, REQ-EP-04, REQ-EP-06, REQ-EP-07, REQ-EP-09, REQ-EP-10, REQ-EP-11, REQ-TL-06: which tools there
// are, and where an operation is reached through each surface.
func TestModes(t *testing.T) {
	custom := describe.Profile{Name: "desk", Families: []describe.Family{
		{Name: "look", Categories: []gen.Category{gen.Read}},
		{Name: "work", Categories: []gen.Category{gen.Create, gen.Update, gen.Delete, gen.Execute}},
	}}
	for _, tt := range []struct {
		name    string
		options Options
		tools   string
		get     string // tool that reaches get_note
		refused string // tool that must not, with its name on the wire
	}{
		{"semantic by default, without empty families", Options{}, // B12
			"mcp_aql_create mcp_aql_read mcp_aql_delete mcp_aql_execute", "mcp_aql_read", "mcp_aql_delete"},
		{"crude is another word for semantic", Options{Mode: "crude"},
			"mcp_aql_create mcp_aql_read mcp_aql_delete mcp_aql_execute", "mcp_aql_read", "mcp_aql_create"},
		{"a profile that is chosen has its empty families", Options{Profile: ProfileCrude}, // T-35
			"mcp_aql_create mcp_aql_read mcp_aql_update mcp_aql_delete mcp_aql_execute", "mcp_aql_read", "mcp_aql_delete"},
		{"a profile without empty families", Options{Profile: ProfileCrude, OmitEmptyFamilies: true},
			"mcp_aql_create mcp_aql_read mcp_aql_delete mcp_aql_execute", "mcp_aql_read", "mcp_aql_execute"},
		{"single", Options{Mode: "single"}, "mcp_aql", "mcp_aql", ""},
		{"all, through the family", Options{Mode: "all"},
			"mcp_aql mcp_aql_create mcp_aql_read mcp_aql_delete mcp_aql_execute", "mcp_aql_read", "mcp_aql_delete"},
		{"all, through the one tool", Options{Mode: "all"},
			"mcp_aql mcp_aql_create mcp_aql_read mcp_aql_delete mcp_aql_execute", "mcp_aql", "mcp_aql_delete"},
		{"an alternate profile", Options{Profile: "semantic"},
			"mcp_aql_discover mcp_aql_query mcp_aql_manage mcp_aql_operate", "mcp_aql_query", "mcp_aql_operate"},
		{"a custom profile with a prefix", Options{Profile: "desk", Profiles: []describe.Profile{custom}, Prefix: "my_"},
			"my_mcp_aql_look my_mcp_aql_work", "my_mcp_aql_look", "my_mcp_aql_work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.options)
			var names []string
			for _, tool := range f.adapter.Tools() {
				names = append(names, tool.Name)
			}
			want := strings.Fields(tt.tools)
			slices.Sort(names)
			slices.Sort(want)
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			const request = `{"operation":"get_note","note_id":"n1"}`
			if got := f.call(tt.get, request); got != `{"success":true,"data":"n1"}` {
				t.Errorf("through %s: %s", tt.get, got)
			}
			if tt.refused == "" {
				return
			}
			got := f.call(tt.refused, request)
			if !strings.Contains(got, `"VALIDATION_ENDPOINT_MISMATCH"`) ||
				!strings.Contains(got, `"actual_tool":"`+tt.refused+`"`) {
				t.Errorf("through %s: %s", tt.refused, got)
			}
		})
	}
}

// REQ-EP-08: the one tool of single mode checks, gates and answers requests as the tools of the families do.
func TestSingleModeIsAsStrict(t *testing.T) {
	const rules = "version: 1\nrules:\n  - {name: nobody-wipes, effect: deny, operations: [wipe_notes]}\n"
	for _, tt := range []struct{ tool, request, want string }{
		{"mcp_aql_create", `{"operation":"create_note","params":{"title":"x"}}`, `"success":true`},
		{"mcp_aql_create", `{"operation":"create_note"}`, "VALIDATION_MISSING_PARAM"},
		{"mcp_aql_create", `{"operation":"create_note","params":{"title":5}}`, "VALIDATION_INVALID_TYPE"},
		{"mcp_aql_create", `{"operation":"create_note","params":{"title":"x","nope":1}}`, "VALIDATION_UNKNOWN_PARAM"},
		{"mcp_aql_create", `{"operation":"create_note","params":{"title":"x","limit":0}}`, "VALIDATION_OUT_OF_RANGE"},
		{"mcp_aql_read", `{"operation":"no_such"}`, "NOT_FOUND_OPERATION"},
		{"mcp_aql_delete", deleteN1, "CONFIRMATION_REQUIRED"},
		{"mcp_aql_delete", `{"operation":"delete_note","params":{"note_id":"n1","_confirmation":"conf_x"}}`, "TOKEN_INVALID"},
		{"mcp_aql_delete", wipe, "PERMISSION_DENIED"},
	} {
		families, single := newFixture(t, Options{Policy: parsePolicy(t, rules)}), newFixture(t,
			Options{Policy: parsePolicy(t, rules), Mode: "single"})
		want, got := hidden(families.call(tt.tool, tt.request)), hidden(single.call("mcp_aql", tt.request))
		if !strings.Contains(want, tt.want) {
			t.Errorf("%s: %s, want %s", tt.request, want, tt.want)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(families.ran, single.ran); diff != "" {
			t.Errorf("%s (-families +single):\n%s", tt.request, diff)
		}
	}
}

// REQ-CC-01, REQ-CC-05: the adapter keeps what it declares.
func TestConcurrency(t *testing.T) {
	for _, tt := range []struct {
		concurrency Concurrency
		category    gen.Category
		together    bool
	}{
		{FullyConcurrent, gen.Update, true}, {ResourceLocked, gen.Update, true}, {Serialized, gen.Read, false},
		{ReadConcurrent, gen.Read, true}, {ReadConcurrent, gen.Update, false},
	} {
		t.Run(string(tt.concurrency)+" "+string(tt.category), func(t *testing.T) {
			var running, most atomic.Int32
			var arrived sync.WaitGroup
			arrived.Add(2)
			callers, calls := 2, 1
			meet := func() {
				arrived.Done()
				arrived.Wait() // ends once both are in
				most.Store(2)
			}
			if !tt.together {
				callers, calls = 8, 50
				meet = func() {
					defer running.Add(-1)
					most.Store(max(most.Load(), running.Add(1)))
					for range 10 {
						runtime.Gosched() // the others come in here if they may
					}
				}
			}
			registry := gen.NewRegistry([]gen.Handler{noteOperation("meet", tt.category, gen.Safe,
				func(context.Context, *noteRequest) (string, error) {
					meet()
					return "", nil
				})}, noteTypes)
			adapter, err := New(registry, Options{Mode: "single", Concurrency: tt.concurrency})
			if err != nil {
				t.Fatal(err)
			}
			session := adapter.NewSession()
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range calls {
						session.Call(context.Background(), "mcp_aql", []byte(`{"operation":"meet"}`))
					}
				})
			}
			wg.Wait()
			if together := most.Load() > 1; together != tt.together {
				t.Errorf("%d calls ran at the same time", most.Load())
			}
		})
	}
}

// T-17: another name of a parameter is bound, reported and refused as the parameter itself.
func TestAliases(t *testing.T) {
	for _, tt := range []struct{ name, request, want string }{
		{"an alias is accepted", `{"operation":"get_tag","params":{"tagName":"x"}}`, `"data":"x"`},
		{"and beside params", `{"operation":"get_tag","tagName":"x"}`, `"data":"x"`},
		{"params win, whatever the name", `{"operation":"get_tag","tagName":"y","params":{"tag_name":"x"}}`, `"data":"x"`},
		{"both names are one too many", `{"operation":"get_tag","params":{"tag_name":"x","tagName":"x"}}`,
			`"VALIDATION_DUPLICATE_PARAM"`},
		{"both names beside params too", `{"operation":"get_tag","tag_name":"x","tagName":"x"}`,
			`"VALIDATION_DUPLICATE_PARAM"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			registry := gen.NewRegistry([]gen.Handler{noteOperation("get_tag", gen.Read, gen.Safe,
				func(_ context.Context, request *noteRequest) (string, error) {
					return request.Title, nil
				}, gen.Field{Name: "tag_name", Go: "Title", Type: "string", Rules: gen.Rules{gen.Aliases{"tagName"}}})}, noteTypes)
			adapter, err := New(registry, Options{Mode: "single"})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(adapter.NewSession().Call(context.Background(), "mcp_aql",
				[]byte(tt.request)).JSON); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestToolOfAnOperation(t *testing.T) {
	f := newFixture(t, Options{})
	for operation, want := range map[string]string{"introspect": "mcp_aql_read", "delete_note": "mcp_aql_delete",
		"nothing_such": ""} {
		if got := f.adapter.Tool(operation); got != want {
			t.Errorf("%s: got %q, want %q", operation, got, want)
		}
	}
}

// REQ-TL-07: a prefix of 20 characters or more is allowed, but not silently.
func TestLongToolNamesAreLogged(t *testing.T) {
	for prefix, logged := range map[string]bool{"nineteen_character_": false, "a_prefix_of_twenty_six_ch_": true} {
		log, out := stageLog()
		if _, err := New(Merge(), Options{Prefix: prefix, Logger: log}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "tool prefix"); got != logged {
			t.Errorf("prefix %s: the log is %q", prefix, out.String())
		}
	}
}
