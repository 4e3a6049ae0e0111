package aql

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/project"
	"github.com/aqltag/aqltag/runtime/trust"
)

// What is described of definitions is what the adapter says that is made of them.
func TestDescribeSaysWhatAdaptersSay(t *testing.T) {
	for name, options := range map[string]Options{
		"without options":     {},
		"with another face":   {Mode: "all", Profile: "semantic", Prefix: "notes_", Concurrency: Serialized, SupportsETag: true, AdapterInfo: true},
		"with lower limits":   {Limits: Limits{RequestSize: 64 * kib, NestingDepth: 8}},
		"without asking":      {Confirmation: Confirmation{Off: true}},
		"by an untested name": {Trust: &trust.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, options)
			surface, protocol, err := Describe(f.adapter.definitions, options)
			if err != nil {
				t.Fatal(err)
			}
			introspection, err := project.Introspect(&f.adapter.definitions, surface, protocol)
			if err != nil {
				t.Fatal(err)
			}
			asked := func(params string) string {
				return f.call(f.adapter.Tool("introspect"), `{"operation":"introspect","params":`+params+`}`)
			}
			if diff := cmp.Diff(asked(`{"query":"operations"}`), string(introspection.Operations())); diff != "" {
				t.Errorf("operations (-adapter +described):\n%s", diff)
			}
			if diff := cmp.Diff(asked(`{"query":"operations","name":"delete_note"}`), string(introspection.Operation("delete_note"))); diff != "" {
				t.Errorf("delete_note (-adapter +described):\n%s", diff)
			}
		})
	}
}

func TestDescribeRefusesWhatNewRefuses(t *testing.T) {
	_, _, err := Describe(newFixture(t, Options{}).adapter.definitions, Options{Name: "notes", Mode: "double", Limits: Limits{NestingDepth: 1}})
	if err == nil || !strings.Contains(err.Error(), "NestingDepth") || !strings.Contains(err.Error(), `"double"`) {
		t.Errorf("got %v, want both faults", err)
	}
}

func TestToolOfAnOperation(t *testing.T) {
	f := newFixture(t, Options{})
	for operation, want := range map[string]string{"introspect": "mcp_aql_read", "delete_note": "mcp_aql_delete", "nothing_such": ""} {
		if got := f.adapter.Tool(operation); got != want {
			t.Errorf("%s: got %q, want %q", operation, got, want)
		}
	}
}
