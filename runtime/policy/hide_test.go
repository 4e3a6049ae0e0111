package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
)

// customers are definitions with results: only those have fields that can be hidden.
func customers() *gen.Definitions {
	return &gen.Definitions{
		Operations: []gen.Operation{
			{
				Name: "get_customer", Category: gen.Read, Danger: gen.Safe, Returns: gen.Returns{Name: "Customer"},
				Params: []gen.Param{{Name: "filter", Type: "Filter"}},
			},
			{Name: "get_log", Category: gen.Read, Danger: gen.Safe, Returns: gen.Returns{Name: "Log"}},
		},
		Types: []gen.Type{
			{Name: "Customer", Kind: gen.KindObject, Fields: []gen.Param{
				{Name: "kind", Type: "string", Constant: "customer"}, {Name: "name", Type: "string"},
				{Name: "email", Type: "string"}, {Name: "orders", Type: "array", Items: &gen.Param{Type: "Order"}},
			}},
			{Name: "Order", Kind: gen.KindObject, Fields: []gen.Param{{Name: "email", Type: "string"}}},
			{Name: "Log", Kind: gen.KindObject, Fields: []gen.Param{{Name: "entry", Type: "any"}}},
			{Name: "Filter", Kind: gen.KindObject, Fields: []gen.Param{{Name: "secret", Type: "string"}}},
		},
	}
}

// Which fields are hidden depends on the caller alone, and fields that select a type are never hidden.
func TestHidden(t *testing.T) {
	bound := bindCustomers(t, `version: 1
rules:
  - {name: mails, hide: ["*.email"], not: {scopes: [support]}}
  - {name: anonymous, hide: ["Customer.*"], anonymous: true}
`)
	for caller, want := range map[*identity.Caller]string{
		{Subject: "ann", Scopes: []string{"support"}}: "",
		{Subject: "bob"}: "Customer.email Order.email",
		{}:               "Customer.email Customer.name Customer.orders Order.email",
	} {
		if diff := cmp.Diff(want, strings.Join(bound.Hidden(*caller), " ")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", caller, diff)
		}
	}
	decision := bound.For("get_customer").Decide(policy.Request{})
	if decision.Effect != policy.Allow || decision.Rule != nil {
		t.Errorf("a rule that hides decides about a call: %+v", decision)
	}
	explained := bound.Explain("get_customer", policy.Request{Caller: identity.Caller{Subject: "bob"}}).Rules
	if got := explained[0].Why; explained[0].Matched || got != "it hides from this caller, in results: *.email" {
		t.Errorf("explanation: %+v", explained[0])
	}
	if got := explained[1].Why; got != "it hides fields of results from other callers" {
		t.Errorf("explanation: %+v", explained[1])
	}
}

// Binding refuses what is no field of a result, and warns of results that have no fields to look for.
func TestHidingMistakes(t *testing.T) {
	for pattern, want := range map[string]string{
		"customer.email": "customer.email matches no field of a result; did you mean Customer.email?",
		"Filter.secret":  "Filter.secret matches no field of a result; there is ",
		"Customer.kind":  "Customer.kind matches no field of a result",
		"Log.entry.x":    "Log.entry.x matches no field of a result",
	} {
		_, err := (&policy.Policy{Rules: []policy.Rule{{Name: "x", Hide: []string{pattern}}}}).Bind(customers())
		if err == nil || !strings.Contains(err.Error(), "rule x: hide[0]: "+want) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	warnings := bindCustomers(t, "version: 1\nrules:\n  - {name: x, hide: [Order.email]}\n").Warnings()
	const want = "the result of get_log has values of any type, in which fields are not hidden"
	if len(warnings) != 1 || warnings[0].Line != 3 || warnings[0].Message != want {
		t.Errorf("warnings: %v", warnings)
	}
}

// The summaries of a page have values of fields that requests name, and hidden ones are none. Any other value of any
// type may be what a rule hides.
func TestSummariesOfAPageAreNotWarnedOf(t *testing.T) {
	summaries := gen.Param{Name: "aggregations", Type: "object", Items: &gen.Param{Type: "any", Nullable: true}}
	list := func(of string) gen.Operation {
		return gen.Operation{
			Name: "list_" + of, Category: gen.Read, Danger: gen.Safe, Returns: gen.Returns{Name: of + "Page"},
			Params: []gen.Param{{
				Name: "aggregate", Go: "Query.body.Aggregate", Type: "object", Items: &gen.Param{Type: "CustomerSummary"},
			}},
		}
	}
	page := func(of string, also ...gen.Param) gen.Type {
		return gen.Type{Name: of + "Page", Kind: gen.KindObject, Fields: append(also,
			gen.Param{Name: "items", Type: "array", Items: &gen.Param{Type: of}}, summaries)}
	}
	const warning = "the result of %s has values of any type, in which fields are not hidden"
	for name, tt := range map[string]struct {
		operation gen.Operation
		types     []gen.Type
		want      bool
	}{
		"list_Customer": {operation: list("Customer"), types: []gen.Type{page("Customer")}},
		"list_Log":      {operation: list("Log"), types: []gen.Type{page("Log")}, want: true},
		"list_Report": {
			operation: list("Report"), want: true,
			types: []gen.Type{
				page("Report"), {Name: "Report", Kind: gen.KindObject, Fields: []gen.Param{summaries}},
			},
		},
		"get_report": { // it is no collection
			operation: gen.Operation{Name: "get_report", Category: gen.Read, Returns: gen.Returns{Name: "CustomerPage"}},
			types:     []gen.Type{page("Customer")}, want: true,
		},
	} {
		definitions := customers()
		definitions.Operations = []gen.Operation{definitions.Operations[0], tt.operation}
		definitions.Types = append(definitions.Types, tt.types...)
		bound, err := parse(t, "version: 1\nrules:\n  - {name: x, hide: [Order.email]}\n").Bind(definitions)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, w := range bound.Warnings() {
			got = append(got, w.Message)
		}
		if tt.want {
			want = []string{fmt.Sprintf(warning, name)}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func bindCustomers(t *testing.T, text string) *policy.Bound {
	t.Helper()
	bound, err := parse(t, text).Bind(customers())
	if err != nil {
		t.Fatal(err)
	}
	return bound
}
