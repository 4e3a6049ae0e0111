package aql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/google/go-cmp/cmp"
)

// With HideDenied a caller sees what he may call, and nothing tells him that there is more.
func TestHideDenied(t *testing.T) {
	const all = "get_order list_orders find_order create_order update_order archive_order delete_order ship_order " +
		"pack_order replace_order"
	const reads = "get_order list_orders find_order"
	ann := Caller{Subject: "ann", Issuer: "idp", Scopes: []string{"admin"}}
	bob := Caller{Subject: "bob", Issuer: "idp"}
	for _, tt := range []struct {
		name, rules string
		caller      Caller
		tools       string
		left        string
	}{
		{"no rule", "", bob, "create read update delete execute", all},
		{
			"a rule about others", "- {name: x, effect: deny, categories: [DELETE], not: {scopes: [admin]}}", ann,
			"create read update delete execute", all,
		},
		{
			"a rule about the caller", "- {name: x, effect: deny, operations: ['*'], not: {operations: ['get_*', '*d_order', " +
				"'list_*'], scopes: [admin]}}", bob, "read", reads,
		},
		{
			"a rule about anonymous callers", "- {name: x, effect: deny, anonymous: true, not: {operations: [get_order]}}",
			Caller{}, "read", "get_order",
		},
		{
			"what parameters decide may be called",
			"- {name: x, effect: deny, operations: ['*'], when: [{param: labels.color, equals: red}]}", bob,
			"create read update delete execute", all,
		},
		{
			"what must be confirmed may be called", "- {name: x, effect: confirm, operations: ['*']}", bob,
			"create read update delete execute", all,
		},
		{
			"denied by default", "- {name: x, effect: allow, callers: [bob], operations: ['*_orders', ship_order]}", bob,
			"read execute", "list_orders ship_order",
		},
		{"denied by default, to others", "- {name: x, effect: allow, callers: [bob], operations: ['*']}", ann, "read", ""},
	} {
		for _, mode := range []Mode{ModeSemantic, ModeSingle} {
			t.Run(tt.name+" "+string(mode), func(t *testing.T) {
				fallback := "allow"
				if strings.HasPrefix(tt.name, "denied by default") {
					fallback = "deny"
				}
				options := Options{Name: "shop", Mode: mode, GetManifest: true, HideDenied: true, Now: noon}
				if tt.rules != "" {
					options.Policy = parsePolicy(t, "version: 1\ndefault: "+fallback+"\nrules:\n  "+tt.rules+"\n")
				}
				adapter, err := New(shop(), options)
				if err != nil {
					t.Fatal(err)
				}
				ctx, left := WithCaller(t.Context(), tt.caller), strings.Fields(tt.left)
				checkTools(t, adapter.ToolsFor(ctx), mode, strings.Fields(tt.tools), tt.tools == "read")
				checkListed(ctx, t, adapter, left)
				if !strings.Contains(tt.rules, "confirm") && !strings.Contains(tt.rules, "when") {
					checkCallable(ctx, t, adapter, left)
				}
				if len(adapter.Tools()) < len(adapter.ToolsFor(ctx)) {
					t.Errorf("Tools are %d of all callers", len(adapter.Tools()))
				}
			})
		}
	}
}

// What the trust level of the adapter denies to everybody is hidden from everybody.
func TestHideDeniedByTrust(t *testing.T) {
	adapter, err := New(shop(), Options{
		Mode: ModeSingle, HideDenied: true, Trust: &trust.Options{Standing: trust.Standing{Level: trust.Generated}},
	})
	if err != nil {
		t.Fatal(err)
	}
	request := []byte(`{"operation":"introspect","params":{"query":"operations"}}`)
	list := string(adapter.NewSession().Call(t.Context(), "mcp_aql", request).JSON)
	if strings.Contains(list, "replace_order") || !strings.Contains(list, "get_order") {
		t.Errorf("introspection: %s", list)
	}
}

// A request for what is hidden is a denial to the operator, though not to the caller.
func TestHiddenAttemptsAreOnRecord(t *testing.T) {
	book := new(notebook)
	log := audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
	f := newFixture(t, Options{
		Mode: ModeSingle, HideDenied: true, Audit: log,
		Policy: parsePolicy(t, "version: 1\nrules:\n  - {name: x, effect: deny, operations: [get_note, delete_note]}\n"),
	})
	f.call("mcp_aql", `{"operation":"get_note","params":{"note_id":"n1"}}`)
	f.call("mcp_aql", `{"operations":[{"operation":"delete_note"},{"operation":"no_note"},{"operation":"nothing"}]}`)
	want := []string{
		"OPERATION_DENIED get_note denied reason=policy", "OPERATION_DENIED delete_note denied reason=policy",
	}
	got := slices.DeleteFunc(book.lines(), func(line string) bool { return strings.Contains(line, " nothing ") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// A new policy holds for the next request.
func TestHideDeniedFollowsThePolicy(t *testing.T) {
	f := newFixture(t, Options{Mode: ModeSingle, HideDenied: true})
	const request = `{"operation":"get_note","params":{"note_id":"n1"}}`
	for _, hides := range []bool{false, true, false} {
		rules := "version: 1\nrules: []\n"
		if hides {
			rules = "version: 1\nrules:\n  - {name: x, effect: deny, operations: [get_note]}\n"
		}
		if err := f.adapter.SetPolicy(parsePolicy(t, rules)); err != nil {
			t.Fatal(err)
		}
		if got := f.call("mcp_aql", request); strings.Contains(got, "NOT_FOUND_OPERATION") != hides {
			t.Errorf("hidden %v: %s", hides, got)
		}
	}
}

// Callers who see the same share one view, and what is kept is bounded, also where many callers come at once.
func TestSightsAreBounded(t *testing.T) {
	rules := "version: 1\nrules:\n"
	for _, o := range shop().Operations() {
		rules += fmt.Sprintf("  - {name: %s, effect: deny, operations: [%s], scopes: [%s]}\n", o.Name, o.Name, o.Name)
	}
	adapter, err := New(shop(), Options{Mode: ModeSingle, HideDenied: true, Policy: parsePolicy(t, rules)})
	if err != nil {
		t.Fatal(err)
	}
	operations := shop().Operations()
	ofSet := func(set, who int) context.Context {
		caller := Caller{Subject: fmt.Sprint(who)}
		for i := range operations {
			if set>>i&1 == 1 {
				caller.Scopes = append(caller.Scopes, operations[i].Name)
			}
		}
		return WithCaller(t.Context(), caller)
	}
	var group sync.WaitGroup
	for who := range 8 {
		group.Go(func() {
			for set := range 3 * maxSights {
				list := adapter.ToolsFor(ofSet(set, who))[0].Description
				for i := range operations[:7] {
					if hidden := set>>i&1 == 1; strings.Contains(list, operations[i].Name) == hidden {
						t.Errorf("caller %d of set %b sees %s", who, set, list)
						return
					}
				}
			}
		})
	}
	group.Wait()
	s := adapter.view.Load().sights
	if len(s.sets) != maxSights || s.recent.Len() != maxSights || len(s.callers) > maxCallers {
		t.Errorf("%d views of %d callers are kept", len(s.sets), len(s.callers))
	}
	if one, other := adapter.view.Load().seenBy(ofSet(95, 1)), adapter.view.Load().seenBy(ofSet(95, 2)); one != other {
		t.Error("callers who see the same have views of their own")
	}
	for who := range maxCallers + 10 {
		adapter.ToolsFor(WithCaller(t.Context(), Caller{Subject: fmt.Sprint("many", who)}))
	}
	if len(s.callers) > maxCallers {
		t.Errorf("%d callers are kept", len(s.callers))
	}
}

// quota_status has the limits of what a caller sees.
func TestQuotaStatusOfHiddenOperations(t *testing.T) {
	f := newFixture(t, Options{
		Mode: ModeSingle, HideDenied: true, QuotaStatus: true,
		Quota: quota.Options{Limits: []quota.Limit{
			{Limit: 9, Window: quota.Hour}, {Limit: 9, Window: quota.Hour, Operation: "get_*"},
			{Limit: 9, Window: quota.Hour, Operation: "wipe_*"},
		}},
		Policy: parsePolicy(t, "version: 1\nrules:\n  - {name: x, effect: deny, operations: [wipe_notes]}\n"),
	})
	got := f.call("mcp_aql", `{"operation":"introspect","params":{"query":"quota_status"}}`)
	if strings.Contains(got, "wipe_") || !strings.Contains(got, `"get_*"`) || !strings.Contains(got, `"global"`) {
		t.Errorf("got %s", got)
	}
}

// A caller whose view panics while it is made sees nothing from then on, and not a view that is not there.
func TestViewsThatPanic(t *testing.T) {
	adapter, err := New(shop(), Options{Mode: ModeSingle, HideDenied: true})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.view.Load().sights
	s.whole = &view{gate: s.whole.gate} // whose directory is empty
	func() {
		defer func() {
			if recover() == nil {
				t.Error("making the view did not panic")
			}
		}()
		s.of(t.Context())
	}()
	if got := s.of(t.Context()); got != s.nothing {
		t.Errorf("the view afterwards: %v", got)
	}
	if got := len(adapter.view.Load().seenBy(t.Context()).definitions.Operations); got != 0 {
		t.Errorf("the caller sees %d operations", got)
	}
}
