package collections_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/test/collections/parts"
	"github.com/aqltag/aqltag/test/collections/releases/first"
	"github.com/aqltag/aqltag/test/collections/releases/second"
)

// manyParts are parts with the numbers from 0 on.
func manyParts(n int) *parts.Store {
	s := &parts.Store{}
	for i := range n {
		s.Parts = append(s.Parts, parts.Part{PartID: fmt.Sprintf("p%03d", i), Title: "Part", Minutes: i % 7})
	}
	return s
}

func adapterOf(t testing.TB, s *parts.Store, options aql.Options) *aql.Adapter {
	t.Helper()
	options.Name, options.Version = "parts", "1"
	adapter, err := aql.New(parts.NewRegistry(s, &parts.Tasks{}), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// send sends the parameters of list_slice, as JSON, and returns the answer.
func send(t testing.TB, s *aql.Session, operation, params string) map[string]any {
	t.Helper()
	reply := s.Call(t.Context(), "mcp_aql_read", fmt.Appendf(nil, `{"operation":%q,"params":%s}`, operation, params)).JSON
	var answer map[string]any
	if err := json.Unmarshal(reply, &answer); err != nil {
		t.Fatalf("%v: %s", err, reply)
	}
	return answer
}

// at follows the names of members.
func at(answer any, names ...string) any {
	for _, name := range names {
		members, _ := answer.(map[string]any)
		answer = members[name]
	}
	return answer
}

func items(answer map[string]any) []any {
	list, _ := at(answer, "data", "items").([]any)
	return list
}

// REQ-PG-02: each of the five combinations of parameters that make no sense is refused, whatever their values are.
func TestConflictingPages(t *testing.T) {
	s := adapterOf(t, manyParts(3), aql.Options{}).NewSession()
	for _, tt := range []struct {
		params   string
		provided []any
		hint     string
	}{
		{`{"first":1,"last":1}`, []any{"first", "last"}, "Send first to page forward, or last to page backward"},
		{`{"after":"x"}`, []any{"after"}, `Add first, such as "first":25`},
		{`{"before":"x"}`, []any{"before"}, `Add last, such as "last":25`},
		{`{"first":0,"before":""}`, []any{"first", "before"}, "Send last with before, or after with first"},
		{`{"last":0,"after":""}`, []any{"after", "last"}, "Send first with after, or before with last"},
	} {
		want := map[string]any{
			"code":    "VALIDATION_INVALID_TYPE",
			"message": "Parameter 'pagination' expected 'valid pagination combination', got 'conflicting parameters'",
			"details": map[string]any{
				"param_name": "pagination", "expected_type": "valid pagination combination",
				"actual_type": "conflicting parameters", "provided": tt.provided, "hint": tt.hint,
			},
		}
		if diff := cmp.Diff(want, at(send(t, s, "list_slice", tt.params), "error")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.params, diff)
		}
	}
	for params, name := range map[string]string{`{"after":1}`: "after", `{"first":1,"last":"x"}`: "last"} {
		if got := at(send(t, s, "list_slice", params), "error", "details", "param_name"); got != name {
			t.Errorf("%s: the answer is about %v, not about the type of %s", params, got, name)
		}
	}
	for _, params := range []string{`{"first":1,"last":null}`, `{"first":1,"after":null,"before":null}`} {
		if answer := send(t, s, "list_slice", params); len(items(answer)) != 1 {
			t.Errorf("%s: null is not absence: %v", params, answer)
		}
	}
}

// REQ-IN-26, REQ-PG-04, REQ-PG-07, REQ-PG-08, REQ-PG-13, REQ-PG-14: a request without a size gets the default, one for
// more than there may be gets so many and a warning, and introspection says both numbers.
func TestPageSizes(t *testing.T) {
	for _, tt := range []struct {
		options       aql.Collections
		standard, max int
	}{
		{aql.Collections{}, 25, 100},
		{aql.Collections{PageSize: 3, MaxPage: 5}, 3, 5},
		{aql.Collections{MaxPage: 10}, 10, 10},
		{aql.Collections{MaxPage: 1000}, 25, 1000},
	} {
		s := adapterOf(t, manyParts(1200), aql.Options{Collections: tt.options}).NewSession()
		if answer := send(t, s, "list_slice", `{}`); len(items(answer)) != tt.standard {
			t.Errorf("%+v: a page without a size has %d items, want %d", tt.options, len(items(answer)), tt.standard)
		}
		for _, name := range []string{"first", "last"} {
			answer := send(t, s, "list_slice", fmt.Sprintf(`{%q:1100}`, name))
			warnings, _ := at(answer, "warnings").([]any)
			if len(items(answer)) != tt.max || len(warnings) != 1 {
				t.Errorf("%+v: %s 1100 gives %d items and the warnings %v", tt.options, name, len(items(answer)), warnings)
			} else if code := at(warnings[0], "code"); code != "VALIDATION_TRUNCATED_WARNING" {
				t.Errorf("%+v: %s 1100 warns with %v", tt.options, name, code)
			}
		}
		if answer := send(t, s, "list_slice", `{"first":1100,"filter":{"part_id":"p001"}}`); answer["warnings"] != nil {
			t.Errorf("%+v: a page that has all there is warns: %v", tt.options, answer["warnings"])
		}
		details := string(s.Call(t.Context(), "mcp_aql_read",
			[]byte(`{"operation":"introspect","params":{"query":"operations","name":"list_slice"}}`)).JSON)
		want := fmt.Sprintf("%d if absent, %d at most", tt.standard, tt.max)
		if !strings.Contains(details, want) {
			t.Errorf("%+v: introspection does not say %q:\n%s", tt.options, want, details)
		}
	}
	for _, options := range []aql.Collections{
		{PageSize: -1}, {MaxPage: 1001}, {MaxPage: -5}, {MaxScanned: -1},
	} {
		registry := parts.NewRegistry(&parts.Store{}, &parts.Tasks{})
		if _, err := aql.New(registry, aql.Options{Collections: options}); err == nil {
			t.Errorf("%+v is taken", options)
		}
	}
}

// refusal is how every faulty cursor is refused.
func refusal(name string) map[string]any {
	return map[string]any{
		"code":    "VALIDATION_INVALID_TYPE",
		"message": "Parameter '" + name + "' expected 'cursor of this operation', got 'string'",
		"details": map[string]any{
			"param_name": name, "expected_type": "cursor of this operation", "actual_type": "string",
			"hint": "Repeat filter and sort as they were, or start again without " + name,
		},
	}
}

func endCursor(answer map[string]any) string {
	cursor, _ := at(answer, "data", "pageInfo", "endCursor").(string)
	return cursor
}

// REQ-PG-06: a cursor goes on in the list that it is of: with the same filter, order, parameters, operation and
// adapter, however these are spelled. With any other one it is refused, and always with the same words.
func TestCursorsAreBound(t *testing.T) {
	tasks := &parts.Tasks{All: manyTasks(50)}
	key := bytes.Repeat([]byte{1}, 32)
	session := func(name string) *aql.Session {
		adapter, err := aql.New(parts.NewRegistry(manyParts(50), tasks), aql.Options{Name: name, Version: "1", StateKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return adapter.NewSession()
	}
	s := session("parts")
	const query = `"filter":{"status":"open","minutes":{"gte":1}},"sort":{"field":"title"}`
	cursor := endCursor(send(t, s, "list_tasks", `{"first":2,`+query+`}`))
	if cursor == "" {
		t.Fatal("there is no cursor")
	}
	for _, same := range []string{
		query,
		`"sort":{"order":"asc","field":"title"},"filter":{"minutes":{"gte":1.0},"status":"op\u0065n"}`,
		query + `,"from":"slice"`,
		query + `,"from":null`,
		query + `,"fields":["title"]`,
	} {
		params := fmt.Sprintf(`{"first":5,"after":%q,%s}`, cursor, same)
		if answer := send(t, s, "list_tasks", params); len(items(answer)) != 5 {
			t.Errorf("%s is refused: %v", params, answer)
		}
	}
	before := fmt.Sprintf(`{"last":1,"before":%q,%s}`, cursor, query)
	if answer := send(t, s, "list_tasks", before); len(items(answer)) != 1 {
		t.Errorf("a position is one in both directions: %v", answer)
	}
	refuse := func(s *aql.Session, operation, name, params string) {
		t.Helper()
		if diff := cmp.Diff(refusal(name), at(send(t, s, operation, params), "error")); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", operation, params, diff)
		}
	}
	for _, other := range []string{
		`"sort":{"field":"title"}`,
		`"filter":{"status":"done","minutes":{"gte":1}},"sort":{"field":"title"}`,
		`"filter":{"status":"open","minutes":{"gt":1}},"sort":{"field":"title"}`,
		`"filter":{"status":"open","minutes":{"gte":1}},"sort":{"field":"title","order":"desc"}`,
		`"filter":{"status":"open","minutes":{"gte":1}},"sort":{"field":"task_id"}`,
		`"filter":{"status":"open","minutes":{"gte":1}}`,
		query + `,"from":"stream"`,
	} {
		refuse(s, "list_tasks", "after", fmt.Sprintf(`{"first":5,"after":%q,%s}`, cursor, other))
	}
	refuse(session("other"), "list_tasks", "after", fmt.Sprintf(`{"first":5,"after":%q,%s}`, cursor, query))
	of := endCursor(send(t, s, "list_slice", `{"first":2}`))
	refuse(s, "list_pointers", "after", fmt.Sprintf(`{"first":2,"after":%q}`, of))
	for i := range of {
		forged := of[:i] + string("AB"[of[i]%2]) + of[i+1:]
		if forged != of {
			refuse(s, "list_slice", "after", fmt.Sprintf(`{"first":2,"after":%q}`, forged))
			refuse(s, "list_slice", "before", fmt.Sprintf(`{"last":2,"before":%q}`, forged))
		}
		refuse(s, "list_slice", "after", fmt.Sprintf(`{"first":2,"after":%q}`, of[:i]))
	}
}

// Adapters that share a store, or keys, open each other's cursors; others do not.
func TestCursorKeys(t *testing.T) {
	shared := new(store.Memory)
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	for _, tt := range []struct {
		what           string
		sealed, opened aql.Options
		opens          bool
	}{
		{"a store that both have", aql.Options{State: shared}, aql.Options{State: shared}, true},
		{"memory of their own", aql.Options{}, aql.Options{}, false},
		{"a former key", aql.Options{StateKey: one}, aql.Options{StateKey: two, OldStateKeys: [][]byte{one}}, true},
		{"other keys", aql.Options{StateKey: one}, aql.Options{StateKey: two}, false},
	} {
		s := manyParts(5)
		cursor := endCursor(send(t, adapterOf(t, s, tt.sealed).NewSession(), "list_slice", `{"first":2}`))
		params := fmt.Sprintf(`{"first":2,"after":%q}`, cursor)
		answer := send(t, adapterOf(t, s, tt.opened).NewSession(), "list_slice", params)
		if answer["success"] != tt.opens {
			t.Errorf("%s: %v", tt.what, answer)
		}
	}
}

// A cursor of one release of a service opens in the next one, whose elements have other fields, as long as the
// operation has the same parameters of its own and the order is by fields of the same types.
func TestCursorsOfAnotherRelease(t *testing.T) {
	var old first.Depot
	var young second.Depot
	for i := range 5 {
		id, sent := fmt.Sprintf("p%d", i), time.Unix(int64(i), 0)
		old.Parcels = append(old.Parcels, first.Parcel{ParcelID: id, Weight: i, Pieces: int32(i), SentAt: &sent})
		young.Parcels = append(young.Parcels, second.Parcel{
			ParcelID: id, Weight: fmt.Sprint(i), Pieces: int64(i), SentAt: &sent, Color: "red",
		})
	}
	session := func(registry *aql.Registry, version string) *aql.Session {
		options := aql.Options{Name: "depot", Version: version, StateKey: bytes.Repeat([]byte{1}, 32)}
		adapter, err := aql.New(registry, options)
		if err != nil {
			t.Fatal(err)
		}
		return adapter.NewSession()
	}
	former := session(first.NewRegistry(&old), "1.0.0")
	for _, next := range []struct {
		what    string
		session *aql.Session
		opens   map[string]bool // by what is asked
	}{
		{"the same definitions", session(first.NewRegistry(&old), "2.0.0"), map[string]bool{
			"list_parcels": true, "list_parcels sent_at": true, "list_parcels weight": true, "list_parcels pieces": true,
			"list_own_parcels": true,
		}},
		{"others", session(second.NewRegistry(&young), "2.0.0"), map[string]bool{
			"list_parcels": true, "list_parcels sent_at": true,
			"list_parcels weight": false, // an int before, and a text now
			"list_parcels pieces": false, // of 32 bits before, and of 64 now
			"list_own_parcels":    false, // which has a parameter more
		}},
	} {
		for asked, opens := range next.opens {
			operation, field, sorted := strings.Cut(asked, " ")
			sort := ""
			if sorted {
				sort = fmt.Sprintf(`,"sort":{"field":%q}`, field)
			}
			cursor := endCursor(send(t, former, operation, `{"first":2`+sort+`}`))
			if cursor == "" {
				t.Fatalf("%s: there is no cursor", asked)
			}
			answer := send(t, next.session, operation, fmt.Sprintf(`{"first":2,"after":%q%s}`, cursor, sort))
			if !opens {
				if diff := cmp.Diff(refusal("after"), at(answer, "error")); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", next.what, asked, diff)
				}
				continue
			}
			var ids []any
			for _, item := range items(answer) {
				ids = append(ids, at(item, "parcel_id"))
			}
			if diff := cmp.Diff([]any{"p2", "p3"}, ids); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s\n%v", next.what, asked, diff, answer)
			}
		}
	}
}

// REQ-PG-05: what is added and removed while a client walks shifts nothing: each element that stays is seen once, also
// behind a cursor whose element is gone.
func TestChangesBetweenPages(t *testing.T) {
	parts := manyParts(40)
	s := adapterOf(t, parts, aql.Options{}).NewSession()
	stay := map[string]int{}
	for i := 2; i < 40; i += 3 {
		stay[parts.Parts[i].PartID] = 0
	}
	params, cursor := `{"first":4,"sort":{"field":"minutes","order":"desc"}%s}`, ""
	for page := 0; ; page++ {
		answer := send(t, s, "list_slice", fmt.Sprintf(params, cursor))
		for _, item := range items(answer) {
			if _, ok := stay[at(item, "part_id").(string)]; ok {
				stay[at(item, "part_id").(string)]++
			}
		}
		if at(answer, "data", "pageInfo", "hasNextPage") != true {
			break
		}
		cursor = fmt.Sprintf(`,"after":%q`, endCursor(answer))
		kept := parts.Parts[:0:0]
		for i, p := range parts.Parts {
			if _, ok := stay[p.PartID]; ok || i%2 == page%2 {
				kept = append(kept, p)
			}
		}
		added := kept[0]
		added.PartID, added.Minutes = fmt.Sprint("new", page), page%7
		parts.Parts = append(kept, added)
	}
	for id, seen := range stay {
		if seen != 1 {
			t.Errorf("%s was seen %d times", id, seen)
		}
	}
}

// An iterator that does not end is not read for ever.
func TestEndlessStream(t *testing.T) {
	s := adapterOf(t, manyParts(300), aql.Options{Collections: aql.Collections{MaxScanned: 299}}).NewSession()
	answer := send(t, s, "list_stream", `{}`)
	if code := at(answer, "error", "code"); code != "VALIDATION_PAYLOAD_TOO_LARGE" {
		t.Errorf("299 of 300 elements may be read: %v", answer)
	}
	s = adapterOf(t, manyParts(300), aql.Options{Collections: aql.Collections{MaxScanned: 300}}).NewSession()
	if answer := send(t, s, "list_stream", `{}`); len(items(answer)) != 25 {
		t.Errorf("300 of 300 elements may be read: %v", answer)
	}
}

// Bounds of filters.
func TestBoundsOfFilters(t *testing.T) {
	s := adapterOf(t, manyParts(3), aql.Options{}).NewSession()
	repeated := func(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	conditions := func(n int) string {
		var of []string
		for ; n > 0; n -= 10 {
			of = append(of, `{"minutes":{"eq":1,"ne":1,"gt":1,"gte":1,"lt":1},"small":{"eq":1,"ne":1,"gt":1,"gte":1,"lt":1}}`)
		}
		return `{"_or":[` + strings.Join(of, ",") + `]}`
	}
	for _, tt := range []struct {
		what, filter string
		accepted     bool
	}{
		{"100 values", `{"minutes":{"in":[` + repeated(100, "1") + `]}}`, true},
		{"101 values", `{"minutes":{"in":[` + repeated(101, "1") + `]}}`, false},
		{"20 alternatives", `{"_or":[` + repeated(20, "{}") + `]}`, true},
		{"21 alternatives", `{"_or":[` + repeated(21, "{}") + `]}`, false},
		{"50 conditions", conditions(50), true},
		{"60 conditions", conditions(60), false},
		{"a depth of 4", `{"_not":{"_or":[{"_not":{}}]}}`, true},
		{"a depth of 5", `{"_not":{"_or":[{"_not":{"_not":{}}}]}}`, false},
	} {
		answer := send(t, s, "list_slice", `{"filter":`+tt.filter+`}`)
		if answer["success"] != tt.accepted {
			t.Errorf("%s: %v", tt.what, answer)
		}
		if code := at(answer, "error", "code"); !tt.accepted && code != "VALIDATION_OUT_OF_RANGE" {
			t.Errorf("%s: %v", tt.what, code)
		}
	}
}

// A query works in a batch, once for each item.
func TestQueriesInABatch(t *testing.T) {
	s := adapterOf(t, manyParts(9), aql.Options{}).NewSession()
	reply := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operations":[`+
		`{"operation":"list_slice","params":{"first":1}},`+
		`{"operation":"list_slice","params":{"first":2,"filter":{"minutes":1}}}]}`)).JSON
	var answer struct {
		Results []struct {
			Result struct{ Data struct{ Items []any } }
		}
	}
	if err := json.Unmarshal(reply, &answer); err != nil || len(answer.Results) != 2 {
		t.Fatalf("%v: %s", err, reply)
	}
	if len(answer.Results[0].Result.Data.Items) != 1 || len(answer.Results[1].Result.Data.Items) != 2 {
		t.Errorf("the pages of the batch: %s", reply)
	}
}

// A page that the query of the request has not made does not reach an agent: nobody has applied what it asked.
func TestPagesOfHandlersOwn(t *testing.T) {
	s := adapterOf(t, manyParts(9), aql.Options{}).NewSession()
	if answer := send(t, s, "list_own", `{"how":"of the request","first":1}`); len(items(answer)) != 1 {
		t.Errorf("the page of the request: %v", answer)
	}
	for _, how := range []string{"made by hand", "none", "of another request"} {
		answer := send(t, s, "list_own", fmt.Sprintf(`{"how":%q,"first":1}`, how))
		if code := at(answer, "error", "code"); code != "INTERNAL_ERROR" {
			t.Errorf("a page %s: %v", how, answer)
		}
	}
	var none aql.Query[parts.Part]
	if _, err := none.Slice(t.Context(), nil); err == nil {
		t.Error("a query that no request brought has an answer")
	}
}

// What a refused query says is what an agent needs to send the right one.
func TestRefusedQueriesSayWhatToSend(t *testing.T) {
	s := adapterOf(t, manyParts(3), aql.Options{}).NewSession()
	comparisons := `{"filter":{"_or":[` + strings.Repeat(`{"minutes":1,"part_id":"a","title":"b"},`, 19) +
		`{"minutes":1}]}}`
	for _, tt := range []struct{ params, message, name, detail string }{
		{`{"aggregate":{"a":{"group_by":"country"}}}`,
			"Parameter 'aggregate.a' expected 'one or more of count, sum, avg, min, max', got 'object'", "", ""},
		{comparisons, "Parameter 'filter' must have a number of comparisons <= '50'", "max_comparisons", `50`},
		{`{"filter":{"part_id":["a","b"]}}`,
			"Parameter 'filter.part_id' expected 'value, or object with operators', got 'array'", "hint",
			`"Use {\"in\":[…]}"`},
		{`{"filter":{"made_at":"2026-03-01"}}`, "Parameter 'filter.made_at' expected 'date-time', got 'string'", "hint",
			`"RFC 3339 with a zone, such as \"2026-03-01T00:00:00Z\""`},
		{`{"filter":{"plan.step.count":[1]}}`,
			"Parameter 'filter.plan.step.count' expected 'value, or object with operators', got 'array'", "hint",
			`"Use an object such as {\"eq\":…}, with one or more of eq, lt, null"`},
		{`{"filter":{"plan.step.count":{}}}`,
			"Parameter 'filter.plan.step.count' expected 'value, or operators', got 'object'", "hint",
			`"Use an object such as {\"eq\":…}, with one or more of eq, lt, null"`},
		{`{"filter":{"plan.step.count":{"lte":1}}}`,
			"Parameter 'filter.plan.step.count' has 'lte', which must be one of: 'eq', 'lt', 'null'", "suggestions",
			`{"lte":"lt"}`},
		{`{"filter":{"_not":"x"}}`, "Parameter 'filter._not' expected 'object', got 'string'", "valid_fields",
			string(encoded(t, append(filterNames(t, s), "_or", "_not")))},
		{`{"filter":{"plan":{"due_at":1}}}`, "Unknown field(s) in 'filter' for operation 'list_slice': plan", "suggestions",
			`{"plan":"plan.due_at"}`},
		{`{"filter":{"due_at":1}}`, "Unknown field(s) in 'filter' for operation 'list_slice': due_at", "suggestions",
			`{"due_at":"plan.due_at"}`},
		{`{"filter":{"or":[]}}`, "Unknown field(s) in 'filter' for operation 'list_slice': or", "suggestions",
			`{"or":"_or"}`},
		{`{"filter":{"nota":1}}`, "Unknown field(s) in 'filter' for operation 'list_slice': nota", "suggestions",
			`{"nota":"note"}`},
		{`{"sort":"minutes"}`, "Parameter 'sort' expected 'object', got 'string'", "hint",
			`"Use an object such as {\"field\":…,\"order\":\"desc\"}"`},
		{`{"aggregate":{"count":true}}`, "Parameter 'aggregate.count' expected 'object', got 'boolean'", "hint",
			`"Give each summary a name: {\"a\":{\"count\":true}}"`},
		{`{"filter":{"minuts":1}}`, "Unknown field(s) in 'filter' for operation 'list_slice': minuts", "suggestions",
			`{"minuts":"minutes"}`},
	} {
		failure := at(send(t, s, "list_slice", tt.params), "error")
		if diff := cmp.Diff(tt.message, at(failure, "message")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.params, diff)
		}
		if tt.name == "" {
			continue
		}
		if diff := cmp.Diff(tt.detail, string(encoded(t, at(failure, "details", tt.name)))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.params, tt.name, diff)
		}
	}
	failure := at(send(t, s, "list_slice", `{"sort":{"field":"minuts"}}`), "error", "details", "suggestions")
	if diff := cmp.Diff(any(map[string]any{"minuts": "minutes"}), failure); diff != "" {
		t.Errorf("an order (-want +got):\n%s", diff)
	}
	missing := at(send(t, s, "list_slice", `{"sort":{"minutes":"asc"}}`), "error")
	message, _ := at(missing, "message").(string)
	if !strings.HasPrefix(message, "Missing required parameter 'sort.field'. Expected: string (") ||
		!strings.Contains(message, "'minutes'") {
		t.Errorf("an order without a field: %s", message)
	}
	if diff := cmp.Diff(any([]any{"minutes"}), at(missing, "details", "unknown_fields")); diff != "" {
		t.Errorf("an order without a field (-want +got):\n%s", diff)
	}
}

// filterNames returns the names of the fields that a filter of list_slice may have.
func filterNames(t *testing.T, s *aql.Session) []any {
	t.Helper()
	valid, _ := at(send(t, s, "list_slice", `{"filter":{"":1}}`), "error", "details", "valid_fields").([]any)
	return valid[:len(valid)-2]
}
