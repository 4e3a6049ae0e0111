package aql

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// shop is a registry with an operation of each kind that Available tells apart. Only delete_order and ship_order have
// the type Labels.
func shop() *Registry { return gen.NewRegistry(shopHandlers(), noteTypes) }

// noon is a clock.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func shopHandlers() []gen.Handler {
	operation := func(name string, category gen.Category, danger gen.Danger, params ...gen.Field) gen.Handler {
		return noteOperation(name, category, danger, func(context.Context, *noteRequest) (string, error) {
			return name, nil
		}, params...)
	}
	stated := func(h gen.Handler) gen.Handler {
		h.DangerSource = gen.DangerFromTag
		return h
	}
	old := operation("find_order", gen.Read, gen.Safe)
	old.Replacement = "ship_order"
	return []gen.Handler{
		operation("get_order", gen.Read, gen.Safe),
		operation("list_orders", gen.Read, gen.Safe),
		old,
		operation("create_order", gen.Create, gen.Reversible),
		operation("update_order", gen.Update, gen.Reversible),
		stated(operation("archive_order", gen.Delete, gen.Reversible)),
		operation("delete_order", gen.Delete, gen.Destructive, labels),
		operation("ship_order", gen.Execute, gen.Reversible, labels),
		stated(operation("pack_order", gen.Execute, gen.Reversible)),
		stated(operation("replace_order", gen.Update, gen.Dangerous)),
	}
}

// What is switched off is neither listed nor callable, and the tool of a family without operations is not registered.
func TestAvailable(t *testing.T) {
	for _, tt := range []struct {
		name      string
		available Available
		mode      Mode
		tools     string
		left      string
	}{
		{
			"everything by default", Available{}, ModeSemantic, "create read update delete execute",
			"get_order list_orders find_order create_order update_order archive_order delete_order ship_order pack_order " +
				"replace_order",
		},
		{"only READ", Available{ReadOnly: true}, ModeSemantic, "read", "get_order list_orders find_order"},
		{"only READ in one tool", Available{ReadOnly: true}, ModeSingle, "", "get_order list_orders find_order"},
		{
			"nothing destructive, and no DELETE and EXECUTE without a stated level", Available{NoDestructive: true},
			ModeSemantic, "create read update delete execute",
			"get_order list_orders find_order create_order update_order archive_order pack_order",
		},
		{
			"by names", Available{Operations: []string{"get_*", "ship_order"}}, ModeSemantic, "read execute",
			"get_order ship_order",
		},
		{
			"an exclusion wins, wherever it stands", Available{Operations: []string{"!list_*", "*_order*"}}, ModeSingle, "",
			"get_order find_order create_order update_order archive_order delete_order ship_order pack_order replace_order",
		},
		{
			"exclusions alone", Available{Operations: []string{"!*e_order", "!*_orders"}}, ModeSingle, "",
			"get_order find_order ship_order pack_order",
		},
		{
			"all at once", Available{ReadOnly: true, NoDestructive: true, Operations: []string{"*t_order", "introspect"}},
			ModeSemantic, "read", "get_order",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := Options{Name: "shop", Mode: tt.mode, Available: tt.available, GetManifest: true, Now: noon}
			adapter, err := New(shop(), options)
			if err != nil {
				t.Fatal(err)
			}
			left := strings.Fields(tt.left)
			checkTools(t, adapter.Tools(), tt.mode, strings.Fields(tt.tools), tt.available.ReadOnly)
			checkListed(t.Context(), t, adapter, left)
			checkCallable(t.Context(), t, adapter, left)
			for _, o := range shop().Operations() {
				if isOn := slices.Contains(left, o.Name); (adapter.Tool(o.Name) != "") != isOn {
					t.Errorf("%s: tool %q", o.Name, adapter.Tool(o.Name))
				}
			}
		})
	}
}

func checkTools(t *testing.T, tools []describe.Tool, mode Mode, families []string, readOnly bool) {
	t.Helper()
	var names []string
	for _, tool := range tools {
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(tool.Name, "mcp_aql"), "_"))
		if readOnly && (!tool.ReadOnly || tool.Destructive) {
			t.Errorf("tool %s says that it is not read-only", tool.Name)
		}
	}
	if mode == ModeSingle {
		families = []string{""}
	}
	if diff := cmp.Diff(families, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// checkListed checks that every text for agents names the operations that are left, and no other.
func checkListed(ctx context.Context, t *testing.T, adapter *Adapter, left []string) {
	t.Helper()
	session := adapter.NewSession()
	read := adapter.Tool("introspect")
	ask := func(request string) string {
		reply := session.Call(ctx, read, []byte(request))
		checkOfficial(t, reply.JSON)
		return string(reply.JSON)
	}
	list := ask(`{"operation":"introspect","params":{"query":"operations"}}`)
	var listed struct {
		Data struct{ Operations []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(list), &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range listed.Data.Operations {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff(append([]string{"introspect", "get_manifest"}, left...), names); diff != "" {
		t.Errorf("introspection (-want +got):\n%s", diff)
	}
	texts := []string{
		list, ask(`{"operation":"get_manifest"}`), ask(`{"operation":"introspect","params":{"query":"types"}}`),
		ask(`{"operation":"introspect","params":{"query":"operations","name":"find_order"}}`),
		ask(`{"operation":"no_order"}`), ask(`{"operation":"zzz"}`),
	}
	for _, tool := range adapter.ToolsFor(ctx) {
		texts = append(texts, tool.Description, string(tool.InputSchema))
	}
	for _, o := range shopHandlers() {
		if slices.Contains(left, o.Name) {
			continue
		}
		for _, text := range texts {
			if strings.Contains(text, o.Name) {
				t.Errorf("%s is off, and a text says: %s", o.Name, text)
			}
		}
	}
	wantLabels := slices.Contains(left, "delete_order") || slices.Contains(left, "ship_order")
	if got := strings.Contains(texts[2], `"Labels"`); got != wantLabels {
		t.Errorf("type Labels listed: %v, want %v", got, wantLabels)
	}
}

// checkCallable checks that calls are answered as by an adapter whose registry has only what is left.
func checkCallable(ctx context.Context, t *testing.T, adapter *Adapter, left []string) {
	t.Helper()
	var handlers []gen.Handler
	for _, h := range shopHandlers() {
		if !slices.Contains(left, h.Name) {
			continue
		}
		if h.Replacement != "" && !slices.Contains(left, h.Replacement) {
			h.Replacement, h.Deprecated = "", "it has no replacement here"
		}
		handlers = append(handlers, h)
	}
	without, err := New(gen.NewRegistry(handlers, noteTypes), Options{
		Name: "shop", Mode: adapter.options.Mode, GetManifest: true, OmitEmptyFamilies: true, Now: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, other := adapter.NewSession(), without.NewSession()
	for _, h := range shopHandlers() {
		for _, tool := range []string{"mcp_aql", "mcp_aql_read", "mcp_aql_delete", "mcp_aql_execute"} {
			request := []byte(`{"operation":"` + h.Name + `"}`)
			want := hidden(string(other.Call(ctx, tool, request).JSON))
			if diff := cmp.Diff(want, hidden(string(session.Call(ctx, tool, request).JSON))); diff != "" {
				t.Errorf("%s through %s (-without it +switched off):\n%s", h.Name, tool, diff)
			}
		}
	}
}

// Patterns that cannot be meant end the start.
func TestAvailableRefusesPatterns(t *testing.T) {
	for _, tt := range []struct {
		name      string
		available Available
		want      string
	}{
		{"one that matches nothing", Available{Operations: []string{"get_ordr"}},
			`pattern "get_ordr" matches no operation; did you mean get_order?`},
		{"an exclusion that matches nothing", Available{Operations: []string{"!drop_*"}},
			`pattern "!drop_*" matches no operation; there is introspect, get_order, `},
		{"none", Available{Operations: []string{"get_*", ""}}, `pattern "" of operations is empty`},
		{"a class without end", Available{Operations: []string{"get_[a"}}, `pattern "get_[a" of operations: syntax error`},
		{"introspect excluded", Available{Operations: []string{"!introspect"}},
			`pattern "!introspect" excludes a built-in operation`},
		{"nothing left", Available{ReadOnly: true, Operations: []string{"ship_*"}},
			"no operation is left: only READ, only ship_*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(shop(), Options{Name: "shop", Available: tt.available})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// A policy is about the service: its rules may name what an adapter has switched off.
func TestPoliciesMayNameWhatIsOff(t *testing.T) {
	rules := parsePolicy(t, "version: 1\nrules:\n  - {name: x, effect: deny, operations: [delete_order], "+
		"when: [{param: labels.color, equals: red}]}\n")
	if _, err := New(shop(), Options{Available: Available{ReadOnly: true}, Policy: rules}); err != nil {
		t.Error(err)
	}
}

// What one Available leaves out, another one joined to it does not bring back.
func TestAvailableAnd(t *testing.T) {
	author := Available{ReadOnly: true, Operations: []string{"!find_*"}}
	for _, operator := range []Available{
		{}, {Operations: []string{"*"}}, {Operations: []string{"find_order", "ship_order", "get_order"}},
		Available{NoDestructive: true}.And(Available{Operations: []string{"*_order"}}),
	} {
		joined := author.And(operator)
		for _, name := range []string{"find_order", "ship_order"} {
			category := gen.Read
			if name == "ship_order" {
				category = gen.Execute
			}
			if joined.has(&gen.Operation{Name: name, Category: category}) {
				t.Errorf("%s is on: %s", name, joined.description())
			}
		}
		get := gen.Operation{Name: "get_order", Category: gen.Read, Danger: gen.Safe}
		if !joined.has(&get) || !joined.readsOnly() {
			t.Errorf("get_order is off, or not only READ is left: %s", joined.description())
		}
	}
}
