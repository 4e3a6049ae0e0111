package collections_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/test/collections/crates"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// mirrors are the computed fields of a crate that have the value of a stored one.
var mirrors = map[string]string{
	"title": "_computed.same_title", "minutes": "_computed.same_minutes", "sold_at": "_computed.same_sold_at",
	"tags": "_computed.same_tags", "checked": "_computed.same_checked",
}

func (m maker) crates(n int) []crates.Crate {
	all := make([]crates.Crate, n)
	for i := range all {
		all[i] = crates.Crate{
			PartID: fmt.Sprint("p", i/3), Lot: i, Title: m.text(), Minutes: int64(m.IntN(4) - 1),
			SoldAt: pointer(m, m.moment()), Tags: list(m, m.text), Checked: m.IntN(2) == 0,
		}
	}
	m.Shuffle(n, func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

func crateAdapter(t testing.TB, depot *crates.Depot, options aql.Options) *aql.Adapter {
	t.Helper()
	options.Name, options.Version = "crates", "1"
	adapter, err := aql.New(crates.NewRegistry(depot, &crates.Scale{Reason: "new"}), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// mirrored is a filter in which conditions on stored fields are on computed ones, at random.
func (m maker) mirrored(filter map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range filter {
		switch {
		case name == "_not":
			value = m.mirrored(value.(map[string]any))
		case name == "_or":
			var all []any
			for _, one := range value.([]any) {
				all = append(all, m.mirrored(one.(map[string]any)))
			}
			value = all
		case m.IntN(3) > 0:
			name = mirrors[name]
		}
		out[name] = value
	}
	return out
}

// crateSchema is the stored fields of a crate that have mirrors.
var crateSchema = reference.Schema{
	Identity: []string{"part_id", "lot"},
	Fields: map[string]*reference.Field{
		"title": kinds["title"], "minutes": kinds["minutes"], "sold_at": kinds["sold_at"], "tags": kinds["tags"],
		"checked": kinds["checked"], "part_id": kinds["part_id"], "lot": kinds["lot"],
	},
}

// crateFilter is a random filter by stored fields that have mirrors.
func (m maker) crateFilter() map[string]any {
	mirrored := reference.Schema{Identity: crateSchema.Identity, Fields: make(map[string]*reference.Field)}
	for name := range mirrors {
		mirrored.Fields[name] = crateSchema.Fields[name]
	}
	return mirrored.Filter(m.Rand, 0)
}

// expectedCrates returns the crates for which a filter holds, in an order.
func expectedCrates(t *testing.T, all []reference.Element, filter map[string]any, by string, descending bool) []string {
	t.Helper()
	var found []element
	for _, e := range crateSchema.Select(t, all, filter, by, descending) {
		found = append(found, element(e))
	}
	return identities(found)
}

// REQ-CF-02: to filter and to sort by a computed field finds what the evaluator of JSON finds by a stored field with
// the same value, on every page, forward and backward.
func TestComputedFieldsCompareAsStoredOnes(t *testing.T) {
	m := newMaker(t, 9)
	rounds := *rounds / 3
	if testing.Short() {
		rounds = min(rounds, 100)
	}
	depot := &crates.Depot{}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	var all []reference.Element
	for round := range rounds {
		if round%50 == 0 {
			depot.Crates = m.crates(m.IntN(40))
			all = nil
			decoded(t, encoded(t, depot.Crates), &all)
		}
		filter := m.crateFilter()
		params := map[string]any{"filter": m.mirrored(filter), "fields": []string{"part_id", "lot", "_computed.same_title"}}
		by, descending := []string{"", "title", "minutes", "sold_at", "checked"}[m.IntN(5)], m.IntN(2) == 0
		if by == "" {
			descending = false
		} else {
			params["sort"] = reference.Order(mirrors[by], descending)
		}
		want := expectedCrates(t, all, decodedFilter(t, filter), by, descending)
		size := 1 + m.IntN(10)
		for _, operation := range []string{"list_crates", "list_crate_pointers", "list_crate_stream"} {
			for _, forward := range []bool{true, false} {
				if diff := cmp.Diff(want, walk(t, session, operation, params, size, len(want), forward)); diff != "" {
					t.Fatalf("round %d: %s %s by %d, forward %v (-want +got):\n%s",
						round, operation, encoded(t, params), size, forward, diff)
				}
			}
		}
	}
}

// Values by which elements are ordered are kept no longer than the elements: an iterator's are read again and again
// into the same place.
func TestOrdersOfManyElementsByComputedFields(t *testing.T) {
	m := newMaker(t, 11)
	depot := &crates.Depot{Crates: m.crates(1000)}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	var all []reference.Element
	decoded(t, encoded(t, depot.Crates), &all)
	for _, by := range []string{"title", "minutes", "sold_at", "checked"} {
		want := expectedCrates(t, all, nil, by, true)[:100]
		params := map[string]any{"sort": reference.Order(mirrors[by], true), "first": 100}
		for _, operation := range []string{"list_crates", "list_crate_pointers", "list_crate_stream"} {
			got := identities(ask(t, session, operation, params).Data.Items)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s by %s (-want +got):\n%s", operation, by, diff)
			}
		}
	}
}

// What is asked of a computed field is the query's to apply: a handler that takes all it can of a query takes none of
// it, and answers the same.
func TestComputedFieldsAreNotTaken(t *testing.T) {
	m := newMaker(t, 10)
	depot := &crates.Depot{Crates: m.crates(30)}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	var all []reference.Element
	decoded(t, encoded(t, depot.Crates), &all)
	for round := range 200 {
		filter := m.crateFilter()
		by, descending := []string{"", "part_id", "title", "minutes"}[m.IntN(4)], m.IntN(2) == 0
		params := map[string]any{"filter": m.mirrored(filter), "first": 3}
		switch {
		case by == "":
			descending = false
		case mirrors[by] != "":
			params["sort"] = reference.Order(mirrors[by], descending)
		default:
			params["sort"] = reference.Order(by, descending)
		}
		want := expectedCrates(t, all, decodedFilter(t, filter), by, descending)
		got := []string{}
		for {
			p := ask(t, session, "list_taken_crates", params)
			got = append(got, identities(p.Data.Items)...)
			if !p.Data.PageInfo.HasNextPage {
				break
			}
			params["after"] = p.Data.PageInfo.EndCursor
		}
		delete(params, "after")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: %s (-want +got):\n%s", round, encoded(t, params), diff)
		}
	}
}

// computedOf returns a computed field of the items of a page.
func computedOf(answer map[string]any, name string) (values []any) {
	for _, item := range items(answer) {
		values = append(values, at(item, "_computed", name))
	}
	return values
}

// REQ-CF-01, REQ-CF-04: a computed field is computed where a request asks for it, for the elements of its page, once.
func TestComputedFieldsAreComputedOncePerPage(t *testing.T) {
	calls := &crates.Calls{}
	depot := &crates.Depot{Crates: maker{rand.New(rand.NewPCG(1, 1))}.crates(40)}
	for i := range depot.Crates {
		depot.Crates[i].Calls = calls
	}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	for _, tt := range []struct {
		name, operation, params string
		want                    crates.Calls
	}{
		{"nothing asks", "list_crates", `{}`, crates.Calls{}},
		{"full is all stored fields", "list_crates", `{"fields":"full"}`, crates.Calls{}},
		{"a page", "list_crates", `{"first":7,"fields":["_computed.total"]}`, crates.Calls{Totals: 1, Elements: 7}},
		{"an empty page", "list_crates", `{"first":0,"fields":["_computed.total"]}`, crates.Calls{}},
		{"a preset", "list_crates", `{"first":2,"preset":"rich"}`, crates.Calls{Totals: 1, Elements: 2}},
		{"each element", "list_crate_stream", `{"first":7,"fields":["_computed.same_title"]}`, crates.Calls{Names: 7}},
		{"twice in fields", "list_crates", `{"first":3,"fields":["_computed.total","_computed.total"]}`,
			crates.Calls{Totals: 1, Elements: 3}},
		{"a condition, behind others", "list_crates", `{"filter":{"_computed.same_title":{"ne":"x"},"part_id":"p0"}}`,
			crates.Calls{Names: 3}},
		{"a condition in a negation, behind others", "list_crate_pointers",
			`{"filter":{"_not":{"_computed.same_title":"x"},"part_id":"p0"}}`, crates.Calls{Names: 3}},
		{"an order, once for each element", "list_crates", `{"first":5,"sort":{"field":"_computed.same_title"}}`,
			crates.Calls{Names: 40}},
		{"one result", "get_crate", `{"at":1,"fields":["_computed.total"]}`, crates.Calls{Totals: 1, Elements: 1}},
		{"lists in lists", "list_shelves", `{"fields":["_computed.total"]}`, crates.Calls{Totals: 1, Elements: 40}},
	} {
		*calls = crates.Calls{}
		if answer := send(t, session, tt.operation, tt.params); answer["success"] != true {
			t.Errorf("%s: %v", tt.name, answer)
		}
		if diff := cmp.Diff(tt.want, *calls); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Values stand behind the fields of their own element, whatever the result is made of.
func TestComputedValuesAreThoseOfTheirElement(t *testing.T) {
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Title: "A", Minutes: 1}, {PartID: "b", Title: "B"}}}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	const fields = `"fields":["part_id","_computed.total","_computed.same_title"]`
	a := map[string]any{"part_id": "a", "_computed": map[string]any{
		"same_title": "A", "total": map[string]any{"sum": "2", "tenant": "", "reason": "new"},
	}}
	b := map[string]any{"part_id": "b", "_computed": map[string]any{"same_title": "B", "total": nil}}
	for _, tt := range []struct {
		operation, params string
		want              any
	}{
		{"list_crates", `{` + fields + `,"sort":{"field":"part_id","order":"desc"}}`, []any{b, a}},
		{"get_crate", `{"at":1,` + fields + `}`, b},
		{"list_shelves", `{` + fields + `}`, []any{[]any{a, nil}, []any{b, nil}}},
	} {
		answer := send(t, session, tt.operation, tt.params)
		got := at(answer, "data")
		if list := at(answer, "data", "items"); list != nil {
			got = list
		}
		text := strings.ReplaceAll(string(encoded(t, got)), `"sum":2`, `"sum":"2"`)
		if diff := cmp.Diff(string(encoded(t, tt.want)), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.operation, diff)
		}
	}
	if answer := send(t, session, "list_crates", `{"preset":"rich"}`); computedOf(answer, "same_title")[0] != nil ||
		computedOf(answer, "same_minutes")[0] == nil || computedOf(answer, "total")[0] == nil {
		t.Errorf("a preset has the fields whose directives name it: %v", answer)
	}
	if answer := send(t, session, "list_crates", `{"fields":"full"}`); computedOf(answer, "same_minutes")[0] == nil ||
		computedOf(answer, "total")[0] != nil {
		t.Errorf("full has the computed fields whose directives name it: %v", answer)
	}
}

// What goes wrong in a computed field is a failure of the call, as in a handler: no page, and a line in the log.
func TestComputedFieldsFailAsHandlers(t *testing.T) {
	for _, tt := range []struct {
		name, params, logged string
		key, value           any
	}{
		{"an error", `{"fields":["_computed.total"]}`, "the scale is broken", crates.Wrong{}, "failure"},
		{"a panic of a page", `{"fields":["_computed.total"]}`, "the scale fell over", crates.Wrong{}, "panic"},
		{"a panic of an element", `{"fields":["_computed.same_minutes"]}`, "no minutes", crates.Panics{}, true},
		{"a panic in a condition", `{"filter":{"_computed.same_minutes":1}}`, "no minutes", crates.Panics{}, true},
		{"a panic in an order", `{"sort":{"field":"_computed.same_minutes"}}`, "no minutes", crates.Panics{}, true},
		{"values of others", `{"fields":["_computed.total"]}`,
			"computed field total of Crate has 2 values for 1 elements", crates.Wrong{}, "length"},
	} {
		var log bytes.Buffer
		depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a"}}}
		adapter := crateAdapter(t, depot, aql.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		session := adapter.NewSession()
		ctx := context.WithValue(t.Context(), tt.key, tt.value)
		var answer map[string]any
		request := []byte(`{"operation":"list_crates","params":` + tt.params + `}`)
		decoded(t, session.Call(ctx, "mcp_aql_read", request).JSON, &answer)
		if code := at(answer, "error", "code"); code != "INTERNAL_ERROR" {
			t.Errorf("%s: %v", tt.name, answer)
		}
		if !strings.Contains(log.String(), tt.logged) {
			t.Errorf("%s: the log does not say %q: %s", tt.name, tt.logged, log.String())
		}
		if answer := send(t, session, "list_crates", tt.params); answer["success"] != true {
			t.Errorf("%s: the next call: %v", tt.name, answer)
		}
	}
}

// A call that is cancelled between the handler and its computed fields computes nothing.
func TestCancelledCallsComputeNothing(t *testing.T) {
	calls := &crates.Calls{}
	ctx, cancel := context.WithCancel(t.Context())
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Calls: calls}}, Cancel: cancel}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	reply := session.Call(ctx, "mcp_aql_read",
		[]byte(`{"operation":"list_crates","params":{"fields":["_computed.total","_computed.same_title"]}}`)).JSON
	var answer map[string]any
	if decoded(t, reply, &answer); answer["success"] != false {
		t.Errorf("%s", reply)
	}
	if diff := cmp.Diff(crates.Calls{}, *calls); diff != "" {
		t.Errorf("computed after the end (-want +got):\n%s", diff)
	}
}

// The receiver of a computed field is chosen for the call, once, and where it is needed. A handler's own is not chosen
// again.
func TestReceiversOfComputedFieldsAreChosenForTheCall(t *testing.T) {
	var chosen []string
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Minutes: 1}}}
	registry := crates.NewRegistryFor(
		func(context.Context) (*crates.Depot, error) {
			chosen = append(chosen, "depot")
			return depot, nil
		},
		func(context.Context) (*crates.Scale, error) {
			chosen = append(chosen, "scale")
			return &crates.Scale{Reason: fmt.Sprint(len(chosen))}, nil
		})
	adapter, err := aql.New(registry, aql.Options{Name: "crates", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	for params, want := range map[string][]string{
		`{}`:                                  {"depot"},
		`{"fields":["_computed.total"]}`:      {"depot", "scale"},
		`{"fields":["_computed.same_title"]}`: {"depot"},
		`{"fields":["_computed.total","_computed.same_minutes"]}`: {"depot", "scale"},
	} {
		chosen = nil
		answer := send(t, session, "list_crates", params)
		if diff := cmp.Diff(want, chosen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
		if slices.Contains(want, "scale") && at(computedOf(answer, "total")[0], "reason") != "2" {
			t.Errorf("%s: not computed by what was chosen: %v", params, answer)
		}
	}
}

// Computed fields are a part of the call for interceptors: they have the context that goes to next, and are those of
// the result that an interceptor returns.
func TestInterceptorsSeeComputedFieldsAsPartOfTheCall(t *testing.T) {
	other := &crates.Crate{PartID: "other", Minutes: 5}
	for _, tt := range []struct {
		name      string
		intercept aql.Interceptor
		want      []any // part, tenant
	}{
		{
			"the context of next",
			func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				return next(context.WithValue(ctx, crates.Tenant{}, "north"))
			},
			[]any{"a", "north"},
		},
		{
			"next twice",
			func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				if _, err := next(ctx); err != nil {
					return nil, err
				}
				return next(context.WithValue(ctx, crates.Tenant{}, "south"))
			},
			[]any{"a", "south"},
		},
		{
			"another result",
			func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				if _, err := next(context.WithValue(ctx, crates.Tenant{}, "north")); err != nil {
					return nil, err
				}
				return [][]*crates.Crate{{other}}, nil
			},
			[]any{"other", ""},
		},
		{
			"no call",
			func(context.Context, aql.Invocation, aql.Next) (any, error) { return [][]*crates.Crate{{other}}, nil },
			[]any{"other", ""},
		},
	} {
		depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Minutes: 1}}}
		session := crateAdapter(t, depot, aql.Options{Intercept: []aql.Interceptor{tt.intercept}}).NewSession()
		answer := send(t, session, "list_shelves", `{"fields":["part_id","_computed.total"]}`)
		var first any
		if shelves := items(answer); len(shelves) > 0 {
			first = shelves[0].([]any)[0]
		}
		if diff := cmp.Diff(tt.want, []any{at(first, "part_id"), at(first, "_computed", "total", "tenant")}); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", tt.name, diff, answer)
		}
	}
	value := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
		return next(context.WithValue(ctx, crates.Tenant{}, "north"))
	}
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Minutes: 1}}}
	session := crateAdapter(t, depot, aql.Options{Intercept: []aql.Interceptor{value}}).NewSession()
	answer := send(t, session, "get_crate", `{"at":0,"fields":["_computed.total"]}`)
	if got := at(answer, "data", "_computed", "total", "tenant"); got != "north" {
		t.Errorf("a result that is no pointer has what was computed with the interceptor's context, not %v", got)
	}
}

// Operations of a batch have computed fields of their own.
func TestComputedFieldsInABatch(t *testing.T) {
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Title: "A"}, {PartID: "b", Title: "B"}}}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	var answer map[string]any
	decoded(t, session.Call(t.Context(), "mcp_aql_read", []byte(`{"operations":[
		{"operation":"get_crate","params":{"at":1,"fields":["_computed.same_title"]}},
		{"operation":"get_crate","params":{"at":0,"fields":["part_id"]}},
		{"operation":"get_crate","params":{"at":0,"fields":["part_id","_computed.same_title"]}}]}`)).JSON, &answer)
	var got []any
	results, _ := at(answer, "results").([]any)
	for _, r := range results {
		got = append(got, at(r, "result", "data", "_computed"))
	}
	want := []any{map[string]any{"same_title": "B"}, nil, map[string]any{"same_title": "A"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%v", diff, answer)
	}
}

// A caller who does not get a computed field learns nothing of it, and what he does not get of values is not in those
// of computed fields.
func TestHiddenComputedFields(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Crate._computed.same_minutes, Total.reason], not: {callers: [ann]}}\n"+
		"  - {name: none, hide: [\"*._computed.*\"], callers: [eve]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Minutes: 3}}}
	session := crateAdapter(t, depot, aql.Options{Policy: rules}).NewSession()
	call := func(caller, operation, params string) map[string]any {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: caller})
		var answer map[string]any
		request := []byte(`{"operation":"` + operation + `","params":` + params + `}`)
		decoded(t, session.Call(ctx, "mcp_aql_read", request).JSON, &answer)
		return answer
	}
	for _, tt := range []struct{ params, code string }{
		{`{"fields":["_computed.same_minutes"]}`, "VALIDATION_UNKNOWN_FIELD"},
		{`{"filter":{"_computed.same_minutes":3}}`, "VALIDATION_UNKNOWN_FIELD"},
		{`{"filter":{"_or":[{"_not":{"_computed.same_minutes":3}}]}}`, "VALIDATION_UNKNOWN_FIELD"},
		{`{"sort":{"field":"_computed.same_minutes"}}`, "VALIDATION_INVALID_ENUM"},
	} {
		if answer := call("ann", "list_crates", tt.params); answer["success"] != true {
			t.Errorf("ann, who sees all: %s: %v", tt.params, answer)
		}
		answer := call("bob", "list_crates", tt.params)
		if code := at(answer, "error", "code"); code != tt.code {
			t.Errorf("bob: %s: %v, want %s", tt.params, answer, tt.code)
		}
		for _, told := range []string{"valid_fields", "allowed", "suggestions"} {
			text := string(encoded(t, at(answer, "error", "details", told)))
			sent := `"_computed.same_minutes":` // what a suggestion is for
			if strings.Contains(strings.ReplaceAll(text, sent, ""), "same_minutes") {
				t.Errorf("bob: %s: %s names what is hidden: %s", tt.params, told, text)
			}
		}
	}
	for _, caller := range []string{"bob", "eve"} {
		for _, query := range []string{
			`{"query":"operations","name":"list_crates"}`, `{"query":"operations","name":"get_crate"}`, `{"query":"types"}`,
			`{"query":"types","name":"Crate"}`, `{"query":"types","name":"CrateFilter"}`, `{"query":"types","name":"CrateSort"}`,
			`{"query":"types","name":"Total"}`,
		} {
			told := string(encoded(t, call(caller, "introspect", query)))
			for _, name := range []string{"same_minutes", "reason"} {
				if strings.Contains(told, name) {
					t.Errorf("introspection tells %s of %s: %s: %s", caller, name, query, told)
				}
			}
			if caller == "eve" && (strings.Contains(told, "same_title") || strings.Contains(told, `"computed_fields":[{`)) {
				t.Errorf("introspection tells eve of computed fields: %s: %s", query, told)
			}
		}
	}
	for caller, want := range map[string]any{
		"ann": map[string]any{"same_minutes": "3", "total": map[string]any{"sum": "6", "tenant": "", "reason": "new"}},
		"bob": map[string]any{"total": map[string]any{"sum": "6", "tenant": ""}},
		"eve": nil,
	} {
		for operation, params := range map[string]string{
			"list_crates": `{"preset":"rich"}`, "get_crate": `{"at":0,"preset":"rich"}`,
		} {
			answer := call(caller, operation, params)
			item := at(answer, "data")
			if all := items(answer); len(all) > 0 {
				item = all[0]
			}
			got := strings.NewReplacer(`:3`, `:"3"`, `:6`, `:"6"`).Replace(string(encoded(t, at(item, "_computed"))))
			if diff := cmp.Diff(string(encoded(t, want)), got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", operation, caller, diff)
			}
		}
	}
	listed := call("eve", "introspect", `{"query":"operations"}`)
	if at(listed, "data", "_protocol", "capabilities", "computed_fields") != false {
		t.Errorf("eve, who has no computed field, is told of the capability")
	}
}

// REQ-CF-03, REQ-PM-04: introspection lists the computed fields that requests of an operation may name, and claims the
// capability where there is one.
func TestIntrospectionListsComputedFields(t *testing.T) {
	session := crateAdapter(t, &crates.Depot{}, aql.Options{}).NewSession()
	listed := func(operation string) (names []string) {
		answer := send(t, session, "introspect", `{"query":"operations","name":"`+operation+`"}`)
		all, _ := at(answer, "data", "operation", "computed_fields").([]any)
		for _, f := range all {
			name := fmt.Sprint(at(f, "name"), " ", at(f, "type"))
			for _, can := range []string{"filterable", "sortable"} {
				if at(f, can) == true {
					name += " " + can
				}
			}
			names = append(names, name)
		}
		return names
	}
	for operation, want := range map[string][]string{
		"list_crates": {
			"same_title string filterable sortable", "same_minutes integer filterable sortable",
			"same_sold_at string filterable sortable", "same_tags string[] filterable",
			"same_checked boolean filterable sortable", "total Total",
		},
		"get_crate": {
			"same_title string", "same_minutes integer", "same_sold_at string", "same_tags string[]", "same_checked boolean",
			"total Total",
		},
		"any_crate": nil,
	} {
		if diff := cmp.Diff(want, listed(operation)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", operation, diff)
		}
	}
	for name, tt := range map[string]struct {
		session *aql.Session
		want    bool
	}{
		"crates": {session, true}, "parts": {newSession(t, manyParts(1)), false},
	} {
		answer := send(t, tt.session, "introspect", `{"query":"operations"}`)
		if got := at(answer, "data", "_protocol", "capabilities", "computed_fields"); got != tt.want {
			t.Errorf("%s: capability computed_fields is %v", name, got)
		}
	}
}

// REQ-CF-01, REQ-CF-03: requests, answers and introspection are valid against the official schemas.
func TestOfficialSchemasOfComputedFields(t *testing.T) {
	helper, fields := official(t, "computed-fields.schema.json"),
		official(t, "field-selection.schema.json#/$defs/FieldSelectionInput")
	result, introspection := official(t, "operation-result.schema.json"), official(t, "introspection-response.schema.json")
	depot := &crates.Depot{Crates: maker{rand.New(rand.NewPCG(1, 3))}.crates(9)}
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	for _, operation := range []string{"list_crates", "get_crate", "any_crate", "list_shelves"} {
		answer := send(t, session, "introspect", `{"query":"operations","name":"`+operation+`"}`)
		if err := valid(t, introspection, encoded(t, answer)); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		listed, _ := at(answer, "data", "operation", "computed_fields").([]any)
		document := map[string]any{}
		var paths []string
		for _, f := range listed {
			paths = append(paths, "_computed."+at(f, "name").(string))
		}
		if document["fields"], document["computed_fields"] = paths, listed; listed == nil {
			continue
		}
		if err := valid(t, helper, encoded(t, document)); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		params := map[string]any{"fields": paths}
		if err := valid(t, fields, encoded(t, params)); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		if operation == "get_crate" {
			params["at"] = 0
		}
		reply := send(t, session, operation, string(encoded(t, params)))
		if err := valid(t, result, encoded(t, reply)); err != nil || reply["success"] != true {
			t.Errorf("%s: %v: %v", operation, err, reply)
		}
	}
}

// A selection of unknown computed fields is refused, or left out with a warning if the adapter omits unknown fields.
func TestUnknownComputedFields(t *testing.T) {
	depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Title: "A"}}}
	const params = `{"fields":["_computed.same_titel","_computed.same_title"]}`
	strict := crateAdapter(t, depot, aql.Options{}).NewSession()
	answer := send(t, strict, "list_crates", params)
	if !strings.Contains(string(encoded(t, at(answer, "error", "details"))), `"_computed.same_title"`) {
		t.Errorf("the refusal does not name what was meant: %v", answer)
	}
	lenient := crateAdapter(t, depot, aql.Options{OmitUnknownFields: true}).NewSession()
	answer = send(t, lenient, "list_crates", params)
	if diff := cmp.Diff([]any{"A"}, computedOf(answer, "same_title")); diff != "" || answer["warnings"] == nil {
		t.Errorf("%s%v", diff, answer)
	}
	for _, wrong := range []string{`["_computed"]`, `["_computed."]`, `["_computed.total.sum"]`, `["total"]`} {
		if answer := send(t, strict, "list_crates", `{"fields":`+wrong+`}`); answer["success"] != false {
			t.Errorf("%s is accepted: %v", wrong, answer)
		}
	}
}
