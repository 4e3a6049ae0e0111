package collections_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// aggregate makes random summaries with labels.
func (m maker) aggregate() map[string]any { return schema.Aggregate(m.Rand) }

// summary is what elements amount to.
func summary(t *testing.T, found []element, expression map[string]any) any {
	t.Helper()
	return schema.Summary(t, toReference(found), expression)
}

// REQ-AG-01, REQ-AG-02, REQ-AG-03, REQ-AG-04: whatever a request wants to know of the elements that match, a slice,
// pointers, an iterator and a handler that takes parts of the query answer as an evaluator does that knows nothing but
// the JSON of the elements, and the items are there where they are asked for.
func TestSummaries(t *testing.T) {
	m := newMaker(t, 6)
	k := &taker{maker: m, T: t}
	store := &parts.Store{Answer: k.answer}
	session := newSession(t, store)
	var all []element
	for round := range min(*rounds, 600) {
		if round%20 == 0 {
			store.Parts = m.parts(m.IntN(60))
			all, k.all = elementsOf(t, store.Parts), nil
			for i := range all {
				k.all = append(k.all, pair{store.Parts[i], all[i]})
			}
		}
		filter, labels := m.filter(1), m.aggregate()
		params := map[string]any{"filter": filter, "aggregate": labels}
		left, operations := all, []string{
			"list_slice", "list_pointers", "list_stream", "list_taken", "list_numbered", "list_offset",
		}
		if m.IntN(3) == 0 {
			words := schema.Query(m.Rand)
			params["query"], left = words, having(t, all, words)
			operations = []string{"search_parts", "search_pointers", "search_stream", "search_taken"}
		}
		found := expected(t, left, decodedFilter(t, filter), "", false)
		want := map[string]any{}
		for label, expression := range labels {
			want[label] = summary(t, found, expression.(map[string]any))
		}
		beside := m.IntN(2) == 0
		around := map[string]string{"list_numbered": "pagination", "list_offset": "pagination"}
		sizes := map[string]string{"list_numbered": "page_size", "list_offset": "limit"}
		for _, operation := range operations {
			params := maps.Clone(params)
			if beside {
				params["include_items"], params[cmp.Or(sizes[operation], "first")] = true, 3
			}
			request := encoded(t, map[string]any{"operation": operation, "params": params})
			reply := session.Call(t.Context(), "mcp_aql_read", request).JSON
			var answer map[string]any
			decoded(t, reply, &answer)
			if diff := gocmp.Diff(any(want), at(answer, "data", "aggregations")); diff != "" {
				t.Fatalf("round %d: %s (-want +got):\n%s", round, request, diff)
			}
			data, _ := at(answer, "data").(map[string]any)
			_, hasItems := data["items"]
			info, hasInfo := data[cmp.Or(around[operation], "pageInfo")].(map[string]any)
			if hasItems != beside || hasInfo != beside || beside && len(items(answer)) != min(3, len(found)) {
				t.Fatalf("round %d: %s answers %s", round, request, reply)
			}
			total := info["totalCount"]
			if around[operation] != "" {
				total = info["total_items"]
			}
			if beside && total != json.Number(fmt.Sprint(len(found))) {
				t.Fatalf("round %d: %s: %v match, want %d", round, request, total, len(found))
			}
		}
	}
}

// T-43: what nothing amounts to.
func TestSummariesOfNothing(t *testing.T) {
	s := newSession(t, new(parts.Store))
	want := map[string]any{
		"n": 0.0, "sum": 0.0, "avg": nil, "min": nil, "max": nil, "groups": map[string]any{},
		"all": map[string]any{"count": 0.0, "sum": 0.0, "avg": nil, "min": nil},
	}
	answer := send(t, s, "list_slice", `{"aggregate":{"n":{"count":true},"sum":{"sum":"weight"},"avg":{"avg":"minutes"},
		"min":{"min":"title"},"max":{"max":"made_at"},"groups":{"group_by":"grade","count":true},
		"all":{"count":true,"sum":"minutes","avg":"weight","min":"grade"}}}`)
	if diff := gocmp.Diff(any(want), at(answer, "data", "aggregations")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Core §4.7.3: sums of integers are exact. Those that a reader of JSON may round are strings.
func TestSumsAreExact(t *testing.T) {
	store := manyParts(3)
	for i, serial := range []uint64{math.MaxUint64, math.MaxUint64, 3} {
		store.Parts[i].Serial = serial
		store.Parts[i].Stock.V, store.Parts[i].Stock.Valid = math.MinInt64, true
		store.Parts[i].Minutes = 1<<52 + i
		store.Parts[i].Weight = []float64{1e308, 1, -1e308}[i]
		store.Parts[i].Reserve = aql.Some(math.MaxFloat64)
	}
	s := newSession(t, store)
	for _, tt := range []struct{ name, aggregate, want string }{
		{"beyond 64 bits", `{"sum":"serial"}`, `"36893488147419103233"`},
		{"negative, beyond 64 bits", `{"sum":"stock"}`, `"-27670116110564327424"`},
		{"mean beyond 64 bits", `{"avg":"stock"}`, `-9223372036854776000`},
		{"beyond 53 bits", `{"sum":"minutes"}`, `"13510798882111491"`},
		{"in 53 bits", `{"group_by":"minutes","sum":"minutes"}`,
			`{"4503599627370496":4503599627370496,"4503599627370497":4503599627370497,"4503599627370498":4503599627370498}`},
		{"floating-point numbers", `{"sum":"weight"}`, `1`},
		{"a number that no float64 holds", `{"sum":"reserve"}`, `"5.3930794045869471e+308"`},
		{"its mean", `{"avg":"reserve"}`, `1.7976931348623157e+308`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := s.Call(t.Context(), "mcp_aql_read",
				[]byte(`{"operation":"list_stream","params":{"aggregate":{"a":`+tt.aggregate+`}}}`)).JSON
			want := `{"success":true,"data":{"aggregations":{"a":` + tt.want + `}}}`
			if diff := gocmp.Diff(want, string(reply)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Groups are in the order of their names. An element of which a list has a value twice counts once, one with an empty
// list is in no group, and a text that is called null is in the group of those that have none.
func TestGroups(t *testing.T) {
	store := manyParts(4)
	null := "null"
	store.Parts[0].Note = &null
	store.Parts[1].Tags, store.Parts[2].Tags = []string{"b", "a", "b"}, []string{"b"}
	store.Parts[3].Title = "\xff"
	store.Parts[2].Title = "\ufffd"
	session := newSession(t, store)
	reply := session.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"list_slice","params":{"aggregate":{
		"tags":{"group_by":"tags","count":true},"note":{"group_by":"note","count":true},
		"minutes":{"group_by":"minutes","count":true,"max":"minutes"},"broken":{"group_by":"title","count":true}}}}`)).JSON
	want := `{"success":true,"data":{"aggregations":{"broken":{"Part":2,"` + "\ufffd" + `":2},` +
		`"minutes":{"0":{"count":1,"max":0},"1":{"count":1,"max":1},"2":{"count":1,"max":2},"3":{"count":1,"max":3}},` +
		`"note":{"null":4},"tags":{"a":1,"b":2}}}}`
	if diff := gocmp.Diff(want, string(reply)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A summary never has a part of its groups: with more than there may be, it is refused.
func TestTooManyGroups(t *testing.T) {
	options := aql.Options{Collections: aql.Collections{MaxGroups: 7}}
	within := adapterOf(t, manyParts(20), options).NewSession() // whose minutes have seven values
	options.Collections.MaxGroups = 6
	beyond := adapterOf(t, manyParts(20), options).NewSession()
	for _, operation := range []string{"list_slice", "list_pointers", "list_stream"} {
		for _, params := range []string{
			`{"aggregate":{"a":{"count":true},"m":{"group_by":"minutes","count":true}}}`,
			`{"include_items":true,"aggregate":{"m":{"group_by":"minutes","count":true}}}`,
		} {
			if answer := send(t, within, operation, params); answer["success"] != true {
				t.Errorf("%s %s is refused: %v", operation, params, answer)
			}
			want := map[string]any{
				"code": "VALIDATION_PAYLOAD_TOO_LARGE",
				"message": "Payload exceeds aggregate_groups limit of 6; narrow the filter, or group by a field with fewer " +
					"values",
				"details": map[string]any{
					"limit_type": "aggregate_groups", "limit_value": 6.0, "actual_value": 7.0, "unit": "groups",
				},
			}
			if diff := gocmp.Diff(any(want), at(send(t, beyond, operation, params), "error")); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", operation, params, diff)
			}
		}
	}
	if _, err := aql.New(parts.NewRegistry(&parts.Store{}, &parts.Tasks{}), aql.Options{
		Name: "parts", Version: "1", Collections: aql.Collections{MaxGroups: -1},
	}); err == nil || !strings.Contains(err.Error(), "Collections.MaxGroups") {
		t.Errorf("MaxGroups of -1: %v", err)
	}
}

// Parameters of items that the answer does not have are named in a warning, and so they are not with items.
func TestPagingBesideSummaries(t *testing.T) {
	s := adapterOf(t, manyParts(5), fixedKey).NewSession()
	cursor := endCursor(send(t, s, "list_slice", `{"first":2}`))
	aggregate := `"aggregate":{"n":{"count":true}}`
	for _, tt := range []struct {
		params  string
		ignored []any
		items   int
	}{
		{`{` + aggregate + `}`, nil, 0},
		{`{` + aggregate + `,"first":2}`, []any{"first"}, 0},
		{`{` + aggregate + `,"include_items":false,"last":500,"before":"forged"}`, []any{"last", "before"}, 0},
		{`{` + aggregate + `,"first":2,"sort":{"field":"title"}}`, []any{"sort", "first"}, 0},
		{`{` + aggregate + `,"include_items":true,"first":2,"sort":{"field":"title"}}`, nil, 2},
		{`{` + aggregate + `,"include_items":true,"first":2}`, nil, 2},
		{`{` + aggregate + `,"include_items":true,"first":2,"after":"` + cursor + `"}`, nil, 2}, // of a request without it
		{`{` + aggregate + `,"include_items":true,"first":9,"after":"` + cursor + `"}`, nil, 3},
	} {
		answer := send(t, s, "list_slice", tt.params)
		if n := at(answer, "data", "aggregations", "n"); n != 5.0 || len(items(answer)) != tt.items {
			t.Errorf("%s: %v", tt.params, answer)
		}
		var warnings []any
		if tt.ignored != nil {
			names := strings.ReplaceAll(strings.Trim(fmt.Sprint(tt.ignored), "[]"), " ", ", ")
			warnings = []any{map[string]any{
				"code": "VALIDATION_IGNORED_PARAM_WARNING", "severity": "low",
				"message": "The answer has summaries and no items, so these parameters were ignored: " + names,
				"details": map[string]any{
					"ignored_params": tt.ignored, "hint": `Add "include_items":true to get a page beside the summaries`,
				},
			}}
		}
		got, _ := answer["warnings"].([]any)
		if diff := gocmp.Diff(warnings, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.params, diff)
		}
	}
	for operation, params := range map[string]string{
		"list_numbered": `"page":2,"page_size":1`, "list_offset": `"offset":1,"limit":1`,
	} {
		answer := send(t, s, operation, `{`+aggregate+`,`+params+`}`)
		warnings, _ := answer["warnings"].([]any)
		if len(warnings) != 1 || len(at(warnings[0], "details", "ignored_params").([]any)) != 2 {
			t.Errorf("%s: %v", operation, answer)
		}
	}
	if answer := send(t, s, "list_slice", `{"include_items":false}`); len(items(answer)) != 5 {
		t.Errorf("without summaries there are always items: %v", answer)
	}
}

// A caller who does not get a field can neither group by it, nor add it up, nor ask for its least or greatest value.
func TestHiddenFieldsInSummaries(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.minutes, Part.title, Part.plan, Maker.rank], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := adapterOf(t, manyParts(5), aql.Options{Policy: rules}).NewSession()
	call := func(caller, operation, params string) map[string]any {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: caller})
		var answer map[string]any
		decoded(t, s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"`+operation+`","params":`+params+`}`)).JSON, &answer)
		return answer
	}
	for _, summary := range []string{
		`{"group_by":"minutes","count":true}`, `{"sum":"minutes"}`, `{"avg":"maker.rank"}`, `{"min":"title"}`,
		`{"max":"plan.due_at"}`, `{"count":true,"group_by":"plan.step.grade"}`,
	} {
		params := `{"aggregate":{"a":` + summary + `}}`
		if answer := call("ann", "list_slice", params); answer["success"] != true {
			t.Errorf("ann, who sees all: %s: %v", params, answer)
		}
		answer := call("bob", "list_slice", params)
		if code := at(answer, "error", "code"); code != "VALIDATION_INVALID_ENUM" {
			t.Errorf("bob: %s: %v", params, answer)
		}
		allowed := string(encoded(t, at(answer, "error", "details", "allowed")))
		for _, name := range []string{"minutes", "title", "plan.", "maker.rank"} {
			if strings.Contains(allowed, name) {
				t.Errorf("bob: %s: what is allowed names what is hidden: %s", params, allowed)
			}
		}
	}
	visible := `{"aggregate":{"a":{"group_by":"maker.name","count":true,"sum":"weight"}}}`
	if answer := call("bob", "list_slice", visible); answer["success"] != true {
		t.Errorf("bob summarises what he gets: %v", answer)
	}
	for _, query := range []string{
		`{"query":"operations","name":"list_slice"}`, `{"query":"types","name":"PartSummary"}`,
	} {
		told := string(encoded(t, call("bob", "introspect", query)))
		for _, name := range []string{"minutes", "title", "plan.", "maker.rank"} {
			if strings.Contains(told, name) {
				t.Errorf("introspection tells bob of %s: %s: %s", name, query, told)
			}
		}
		if !strings.Contains(told, "maker.name") {
			t.Errorf("introspection does not tell bob of what he gets: %s: %s", query, told)
		}
	}
}

// FuzzAggregate sends any text as summaries. What is accepted is JSON to encoding/json too, and answers what the
// evaluator of JSON answers.
func FuzzAggregate(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(1, 7))}
	for range 30 {
		f.Add(string(encoded(f, m.aggregate())))
	}
	for _, text := range []string{
		`{}`, `{"a":{}}`, `{"a":null}`, `{"a":{"count":false}}`, `{"a":{"count":true,"count":true}}`, `{"":{"max":"title"}}`,
		`{"a":{"group_by":"weight","count":true}}`, `{"a":{"sum":"title"}}`, `{"a":{"median":"minutes"}}`,
		`{"\ud800":{"count":true}}`, `{"a":{"count":true,"sum":null}}`,
	} {
		f.Add(text)
	}
	store := &parts.Store{Parts: m.parts(30)}
	all := elementsOf(f, store.Parts)
	session := newSession(f, store)
	f.Fuzz(func(t *testing.T, text string) {
		request := fmt.Appendf(nil, `{"operation":"list_slice","params":{"include_items":false,"aggregate":%s}}`, text)
		reply := session.Call(t.Context(), "mcp_aql_read", request).JSON
		var answer map[string]any
		decoded(t, reply, &answer)
		if answer["success"] != true {
			return
		}
		if !json.Valid(request) {
			t.Fatalf("%q is accepted, and is no JSON", request)
		}
		labels := map[string]map[string]any{}
		if !json.Valid([]byte(text)) || json.Unmarshal([]byte(text), &labels) != nil || len(labels) == 0 {
			return // it has other parameters behind the summaries, or is null
		}
		want := map[string]any{}
		for label, expression := range labels {
			want[label] = summary(t, all, expression)
		}
		if diff := gocmp.Diff(any(want), at(answer, "data", "aggregations")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	})
}
