package aql

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// library is an adapter of n operations on books, and of one that is destructive.
func library(t *testing.T, n int, options Options) func(caller Caller, request string) string {
	t.Helper()
	var handlers []gen.Handler
	for i := range n {
		handlers = append(handlers, noteOperation(fmt.Sprintf("get_book_%d", i), gen.Read, gen.Safe, nil,
			gen.Field{Name: "note_id", Go: "NoteID", Type: "string"}))
	}
	handlers = append(handlers, noteOperation("burn_papers", gen.Delete, gen.Destructive, nil,
		gen.Field{Name: "labels", Go: "Labels", Type: "Labels"}))
	options.Mode = ModeSingle
	adapter, err := New(gen.NewRegistry(handlers, noteTypes), options)
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	t.Cleanup(session.Close)
	return func(caller Caller, params string) string {
		t.Helper()
		request := `{"operation":"introspect","params":` + params + `}`
		return string(session.Call(WithCaller(t.Context(), caller), "mcp_aql", []byte(request)).JSON)
	}
}

// listedIn returns the names of the operations in an answer, and its _protocol.
func listedIn(t *testing.T, answer string) (names []string, protocol struct{ Total, More int }) {
	t.Helper()
	var parsed struct {
		Success bool
		Data    struct {
			Protocol   struct{ Total, More int } `json:"_protocol"`
			Operations []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &parsed); err != nil || !parsed.Success {
		t.Fatalf("%s: %v", answer, err)
	}
	for _, o := range parsed.Data.Operations {
		names = append(names, o.Name)
	}
	return names, parsed.Data.Protocol
}

// D2, REQ-IN-21: introspect finds operations by words, and selects them by category, danger level and the beginning of
// their names, a page at a time.
func TestSelectionOfOperations(t *testing.T) {
	ask := library(t, 4, Options{})
	for _, tt := range []struct {
		name, params string
		want         []string
		total, more  int
	}{
		{"words", `{"query":"operations","search":"burn"}`, []string{"burn_papers"}, 1, 0},
		{"a word of one meaning, misspelt", `{"query":"operations","search":"burn paprs"}`, []string{"burn_papers"}, 1, 0},
		{"words of a type", `{"query":"operations","search":"color"}`, []string{"burn_papers"}, 1, 0},
		{"nothing", `{"query":"operations","search":"zeppelin"}`, nil, 0, 0},
		{"a category", `{"query":"operations","category":"DELETE"}`, []string{"burn_papers"}, 1, 0},
		{"a danger level", `{"query":"operations","danger":"destructive"}`, []string{"burn_papers"}, 1, 0},
		{"a prefix", `{"query":"operations","prefix":"get_book_3"}`, []string{"get_book_3"}, 1, 0},
		{
			"names", `{"query":"operations","names":["get_book_2","no_such","burn_papers"]}`,
			[]string{"get_book_2", "burn_papers"}, 2, 0,
		},
		{"all at once", `{"query":"operations","prefix":"get_","category":"DELETE","search":"papers"}`, nil, 0, 0},
		{"a page", `{"query":"operations","first":2}`, []string{"introspect", "get_book_0"}, 6, 4},
		{
			"the page after", `{"query":"operations","first":2,"after":"get_book_0"}`,
			[]string{"get_book_1", "get_book_2"}, 6, 2,
		},
		{"the last page", `{"query":"operations","after":"get_book_3"}`, []string{"burn_papers"}, 6, 0},
		{"after the last", `{"query":"operations","after":"burn_papers"}`, nil, 6, 0},
		{
			"a page of a search", `{"query":"operations","search":"book","first":1,"after":"get_book_2"}`,
			[]string{"get_book_3"}, 4, 0,
		},
		{"null is absent", `{"query":"operations","search":"burn","first":null}`, []string{"burn_papers"}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names, protocol := listedIn(t, ask(Caller{}, tt.params))
			if diff := cmp.Diff(tt.want, names); diff != "" || protocol.Total != tt.total || protocol.More != tt.more {
				t.Errorf("%+v (-want +got):\n%s", protocol, diff)
			}
		})
	}
}

// D2, REQ-VO-02, REQ-VO-06, T-10: what introspection says of the parameters holds, however hostile a request is.
func TestSelectionIsRefused(t *testing.T) {
	ask := library(t, 4, Options{})
	long := strings.Repeat("a", 201)
	for _, tt := range []struct{ name, params, want string }{
		{"an empty search", `{"query":"operations","search":""}`, "VALIDATION_OUT_OF_RANGE"},
		{"a long search", `{"query":"operations","search":"` + long + `"}`, "VALIDATION_OUT_OF_RANGE"},
		{"a search of half a megabyte", `{"query":"operations","search":"` + strings.Repeat("a ", 1<<18) + `"}`,
			"VALIDATION_OUT_OF_RANGE"},
		{"NUL", `{"query":"operations","search":"a\u0000b"}`, "VALIDATION_"},
		{"a deep value", `{"query":"operations","search":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
			"VALIDATION_"},
		{"a number", `{"query":"operations","search":7}`, "VALIDATION_INVALID_TYPE"},
		{"another category", `{"query":"operations","category":"read"}`, "VALIDATION_INVALID_ENUM"},
		{"another level", `{"query":"operations","danger":"high"}`, "VALIDATION_INVALID_ENUM"},
		{"none", `{"query":"operations","first":0}`, "VALIDATION_OUT_OF_RANGE"},
		{"too many", `{"query":"operations","first":101}`, "VALIDATION_OUT_OF_RANGE"},
		{"a fraction", `{"query":"operations","first":1.5}`, "VALIDATION_INVALID_TYPE"},
		{"a long prefix", `{"query":"types","prefix":"` + long + `"}`, "VALIDATION_OUT_OF_RANGE"},
		{"no names", `{"query":"details","names":[]}`, "VALIDATION_OUT_OF_RANGE"},
		{"a number among the names", `{"query":"details","names":[1]}`, "VALIDATION_INVALID_TYPE"},
		{"too many names", `{"query":"details","names":["a"` + strings.Repeat(`,"a"`, 20) + `]}`, "VALIDATION_OUT_OF_RANGE"},
		{"twice", `{"query":"operations","search":"a","search":"b"}`, "VALIDATION_DUPLICATE_PARAM"},
		{"another name", `{"query":"operations","searches":"a"}`, "VALIDATION_UNKNOWN_PARAM"},
		{"after nothing", `{"query":"operations","after":"no_such"}`, "Parameter 'after' names nothing in this selection"},
		{"a search of types", `{"query":"types","search":"a"}`, "Parameter 'search' goes with query 'operations' only"},
		{"a page of details", `{"query":"details","names":["a"],"first":1}`,
			"Parameter 'first' goes with queries 'operations' and 'types' only"},
		{"a name and a search", `{"query":"operations","name":"a","search":"b"}`,
			"Parameter 'name' shows one in full, and 'search' narrows a list; leave one of them out"},
		{"details of nothing", `{"query":"details"}`, "Query 'details' needs 'names', a list of names of operations"},
		{"details by name", `{"query":"details","names":["a"],"name":"a"}`, "put it into 'names'"},
		{"names and a name", `{"query":"operations","names":["a"],"name":"a"}`,
			"Parameter 'name' shows one in full, and 'names' narrows a list; leave one of them out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if answer := ask(Caller{}, tt.params); !strings.Contains(answer, `"success":false`) ||
				!strings.Contains(answer, tt.want) || strings.Contains(answer, `"details"`) {
				t.Errorf("got %.300s", answer)
			}
		})
	}
}

// D2: texts that mean something elsewhere, such as in regular expressions or queries, are words like others.
func TestSearchTakesAnyText(t *testing.T) {
	ask := library(t, 4, Options{})
	for _, text := range []string{
		`.*`, `(((((((((((`, `[a-`, `' OR 1=1 --`, `%s%n`, "\u202e", `🦜`, `日本語`, ` `, `a`, strings.Repeat(`z`, 200),
		strings.Repeat(`x `, 100), `<script>`, `../../etc`,
	} {
		params, err := json.Marshal(map[string]string{"query": "operations", "search": text})
		if err != nil {
			t.Fatal(err)
		}
		listedIn(t, ask(Caller{}, string(params)))
	}
}

// D2: beyond a hundred operations a list that nothing narrows is a summary, and the pages have all.
func TestSummaryOfManyOperations(t *testing.T) {
	ask := library(t, 150, Options{})
	answer := ask(Caller{}, `{"query":"operations"}`)
	names, _ := listedIn(t, answer)
	if diff := cmp.Diff([]string{"introspect"}, names); diff != "" {
		t.Errorf("the summary lists (-want +got):\n%s", diff)
	}
	const summary = `"summary":{"operations":151,"resources":{"book":150,"paper":1},"next":"2 resources, ` +
		`151 operations: too many to list; introspect again with search (words for the task), prefix, category or danger, ` +
		`or go through all with first and after"}`
	if !strings.Contains(answer, summary) || strings.Contains(answer, `"danger_levels":{`) {
		t.Errorf("got %s", answer)
	}
	seen := make(map[string]bool)
	page := `{"query":"operations","first":100}`
	for {
		names, protocol := listedIn(t, ask(Caller{}, page))
		for _, name := range names {
			seen[name] = true
		}
		if protocol.More == 0 {
			break
		}
		page = `{"query":"operations","first":100,"after":"` + names[len(names)-1] + `"}`
	}
	if len(seen) != 152 {
		t.Errorf("the pages have %d operations", len(seen))
	}
}

// B13, D2: the details of several operations come in one answer, with the types of their requests.
func TestDetailsOfSeveralOperations(t *testing.T) {
	ask := library(t, 2, Options{})
	answer := ask(Caller{}, `{"query":"details","names":["burn_papers","get_book_1","burn_papers","no_such"]}`)
	var details struct {
		Data struct {
			Operations, Types []struct{ Name string }
			Unknown           []string
		}
	}
	if err := json.Unmarshal([]byte(answer), &details); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(details.Data.Operations, details.Data.Types, details.Data.Unknown)
	if want := "[{burn_papers} {get_book_1}] [{Labels}] [no_such]"; got != want {
		t.Errorf("got %s, want %s in %s", got, want, answer)
	}
	one := ask(Caller{}, `{"query":"operations","name":"get_book_1"}`)
	whole := strings.TrimSuffix(strings.TrimPrefix(one, `{"success":true,"data":{"operation":`), `}}`)
	if !strings.Contains(answer, whole) {
		t.Errorf("the details are others than by name: %s", answer)
	}
}

// D2, REQ-IN-03: what a caller does not see, and what is switched off, is in no search, no count and no details.
func TestSelectionShowsNothingHidden(t *testing.T) {
	const rules = "version: 1\nrules:\n  - {name: secret, effect: deny, operations: [burn_papers]}\n"
	for name, options := range map[string]Options{
		"hidden from the caller": {HideDenied: true, Policy: parsePolicy(t, rules)},
		"switched off":           {Available: Available{ReadOnly: true}},
	} {
		for _, n := range []int{3, 150} {
			ask := library(t, n, options)
			for _, params := range []string{
				`{"query":"operations"}`, `{"query":"operations","search":"burn papers color"}`,
				`{"query":"operations","danger":"destructive"}`, `{"query":"operations","prefix":"burn"}`,
				`{"query":"operations","category":"DELETE"}`, `{"query":"types","prefix":"Labels"}`,
			} {
				answer := ask(Caller{}, params)
				for _, word := range []string{"burn_papers", "paper", "Labels", `"total":1`, "151"} {
					if strings.Contains(answer, word) {
						t.Errorf("%s, %d operations, %s: %q in %.400s", name, n, params, word, answer)
					}
				}
			}
			details := ask(Caller{}, `{"query":"details","names":["burn_papers"]}`)
			if want := `{"success":true,"data":{"operations":[],"unknown":["burn_papers"]}}`; details != want {
				t.Errorf("%s: the details are %s", name, details)
			}
			after := ask(Caller{}, `{"query":"operations","after":"burn_papers"}`)
			if !strings.Contains(after, "names nothing in this selection") {
				t.Errorf("%s: a page begins after it: %s", name, after)
			}
		}
	}
}
