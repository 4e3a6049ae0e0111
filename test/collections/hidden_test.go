package collections_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// A caller who does not get a field can neither filter nor sort by it, nor find words in it: he would learn its values.
func TestHiddenFields(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.minutes, Part.title, Part.plan, Maker.rank], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(5)
	store.Parts[0].Tags = []string{"visible"}
	s := adapterOf(t, store, aql.Options{Policy: rules}).NewSession()
	call := func(caller, operation, params string) map[string]any {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: caller})
		var answer map[string]any
		decoded(t, s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"`+operation+`","params":`+params+`}`)).JSON, &answer)
		return answer
	}
	for _, tt := range []struct{ operation, params, code string }{
		{"list_slice", `{"filter":{"minutes":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"filter":{"_or":[{"_not":{"title":{"starts":"P"}}}]}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"sort":{"field":"minutes"}}`, "VALIDATION_INVALID_ENUM"},
		{"list_slice", `{"filter":{"plan.step.count":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"filter":{"maker.rank":1}}`, "VALIDATION_UNKNOWN_FIELD"},
		{"list_slice", `{"sort":{"field":"maker.rank"}}`, "VALIDATION_INVALID_ENUM"},
		{"list_slice", `{"sort":{"field":"plan.due_at"}}`, "VALIDATION_INVALID_ENUM"},
	} {
		if answer := call("ann", tt.operation, tt.params); answer["success"] != true {
			t.Errorf("ann, who sees all: %s: %v", tt.params, answer)
		}
		answer := call("bob", tt.operation, tt.params)
		if code := at(answer, "error", "code"); code != tt.code {
			t.Errorf("bob: %s: %v, want %s", tt.params, answer, tt.code)
		}
		if text := string(encoded(t, at(answer, "error", "details", "allowed"))); strings.Contains(text, "minutes") {
			t.Errorf("bob: %s: what is allowed names what is hidden: %s", tt.params, text)
		}
	}
	for caller, want := range map[string]int{"ann": 5, "bob": 0} {
		if n := len(items(call(caller, "search_parts", `{"query":"part"}`))); n != want {
			t.Errorf("%s finds %d parts by a word of a title, want %d", caller, n, want)
		}
	}
	if n := len(items(call("bob", "search_parts", `{"query":"visible"}`))); n != 1 {
		t.Errorf("bob finds %d parts by a word of a tag", n)
	}
	for _, query := range []string{
		`{"query":"operations","name":"list_slice"}`, `{"query":"operations","name":"search_parts"}`,
		`{"query":"types","name":"PartFilter"}`, `{"query":"types","name":"PartSort"}`, `{"query":"types","name":"Part"}`,
	} {
		told := string(encoded(t, call("bob", "introspect", query)))
		for _, name := range []string{"minutes", "title", "plan.", "maker.rank"} {
			if strings.Contains(told, name) {
				t.Errorf("introspection tells bob of %s: %s: %s", name, query, told)
			}
		}
	}
	visible := `{"filter":{"checked":false,"maker.name":""}}`
	if diff := cmp.Diff(5, len(items(call("bob", "list_slice", visible)))); diff != "" {
		t.Errorf("bob filters by what he gets: %s", diff)
	}
}

// What is said of a field that a caller does not get is what is said of one that there is not, whatever else is wrong
// with the request: neither that it exists, nor its type, its operators and its values.
func TestHiddenFieldsAreAnsweredAsThoseThatThereAreNot(t *testing.T) {
	const secret, none = "%", "absent"
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.minutes, Part.title, Part.plan, Part.weight, Maker.rank], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := adapterOf(t, manyParts(5), aql.Options{Policy: rules}).NewSession()
	hidden := []string{"minutes", "title", "weight", "plan.step.grade", "plan.due_at", "plan.step.count", "maker.rank"}
	told := func(request string) string {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "bob"})
		return string(s.Call(ctx, "mcp_aql_read", []byte(request)).JSON)
	}
	for _, params := range []string{
		`{"filter":{"%":1}}`, `{"filter":{"%":"x"}}`, `{"filter":{"%":null}}`, `{"filter":{"%":{}}}`,
		`{"filter":{"%":{"like":1,"eq":[]}}}`, `{"filter":{"%":{"in":["x",1]}}}`, `{"filter":{"%":[1],"none":2}}`,
		`{"filter":{"%":1,"none":2}}`, `{"filter":{"_or":[{"_not":{"%":true}},{"none":1}]}}`,
		`{"filter":{"%":1},"first":-1}`, `{"filter":{"%":1},"sort":{"field":"x"}}`, `{"filter":{"%":1,"%":1}}`,
		`{"filter":{"%":1},"first":"x"}`, `{"filter":{"none":1}}`, `{"filter":{"checked":{"like":1}}}`,
		`{"sort":{"field":"%"}}`, `{"sort":{"field":"%","order":"x"}}`, `{"sort":{"field":"%"},"first":-1}`,
		`{"sort":{"field":"%"},"filter":{"none":1}}`, `{"sort":{"field":"none"}}`,
		`{"aggregate":{"a":{"sum":"%"}}}`, `{"aggregate":{"a":{"group_by":"%","count":true}}}`,
		`{"aggregate":{"a.b":{"min":"%","max":"none"}}}`, `{"aggregate":{"a":{"avg":"%"}},"first":-1}`,
		`{"aggregate":{"a":{"sum":"none"}}}`, `{"aggregate":{"a":{"group_by":"%"}}}`,
	} {
		for _, operation := range []string{
			`{"operation":"list_slice","params":*}`, `{"operations":[{"operation":"list_slice","params":*}]}`,
		} {
			request := strings.Replace(operation, "*", params, 1)
			want := told(strings.ReplaceAll(request, secret, none))
			for _, name := range hidden {
				if strings.Contains(want, `"`+name) || strings.Contains(want, "'"+name) {
					t.Errorf("%s: the answer tells of %s: %s", request, name, want)
				}
				got := strings.ReplaceAll(told(strings.ReplaceAll(request, secret, name)), name, none)
				if request == strings.ReplaceAll(request, secret, name) {
					continue
				}
				if diff := cmp.Diff(withoutOffsets(want), withoutOffsets(got)); diff != "" {
					t.Errorf("%s: of %s and of a field that there is not (-not +is):\n%s", request, name, diff)
				}
			}
		}
	}
}

// withoutOffsets returns an answer without what depends on the length of a request and on the call, and without
// suggestions: these are names that the caller gets, and follow from how much like them the name is that he sent.
func withoutOffsets(answer string) string { return offsets.ReplaceAllString(answer, "") }

var offsets = regexp.MustCompile(
	`"byte_offset":\d+|Byte \d+|"_?request_id":"[^"]*"|"timestamp":"[^"]*"|,"suggestions":\{[^{}]*\}`,
)

// The order that an operation has by default tells the order of the values, so it applies only to callers who get them.
func TestOrderByAHiddenFieldDoesNotApply(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Task.created_at], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tasks := &parts.Tasks{}
	for i, created := range []int64{3, 1, 4, 2} {
		tasks.All = append(tasks.All, parts.Task{TaskID: string(rune('a' + i)), CreatedAt: time.Unix(created, 0)})
	}
	a, err := aql.New(parts.NewRegistry(&parts.Store{}, tasks), aql.Options{Name: "x", Version: "1", Policy: rules})
	if err != nil {
		t.Fatal(err)
	}
	s := a.NewSession()
	for _, tt := range []struct{ caller, params, want string }{
		{"ann", `{}`, "cadb"}, {"bob", `{}`, "abcd"}, {"bob", `{"sort":null}`, "abcd"},
		{"bob", `{"sort":{"field":"task_id","order":"desc"}}`, "dcba"},
	} {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: tt.caller})
		var answer map[string]any
		decoded(t, s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"list_tasks","params":`+tt.params+`}`)).JSON, &answer)
		got := ""
		for _, item := range items(answer) {
			got += at(item, "task_id").(string)
		}
		if got != tt.want {
			t.Errorf("%s: %s: tasks %q, want %q", tt.caller, tt.params, got, tt.want)
		}
	}
}

// Callers who get no field by which requests can sort have no parameter sort.
func TestThereIsNoOrderByHiddenFields(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [\"Task.*_at\", Task.t*, Task.priority, Task.status, Task.minutes], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tasks := &parts.Tasks{All: make([]parts.Task, 2)}
	a, err := aql.New(parts.NewRegistry(&parts.Store{}, tasks), aql.Options{Name: "x", Version: "1", Policy: rules})
	if err != nil {
		t.Fatal(err)
	}
	s := a.NewSession()
	call := func(request string) string {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "bob"})
		return string(s.Call(ctx, "mcp_aql_read", []byte(request)).JSON)
	}
	for _, params := range []string{`{"sort":{"field":"title"}}`, `{"sort":{"field":"none"}}`, `{"sort":1}`} {
		answer := call(`{"operation":"list_tasks","params":` + params + `}`)
		if !strings.Contains(answer, `"VALIDATION_UNKNOWN_PARAM"`) || strings.Count(answer, `"sort"`) != 1 {
			t.Errorf("%s: %s", params, answer)
		}
	}
	if answer := call(`{"operation":"list_tasks","params":{"first":1,"from":"stream"}}`); !strings.Contains(
		answer, `"hasNextPage":true`) {
		t.Errorf("other parameters mean what they do: %s", answer)
	}
	told := call(`{"operation":"introspect","params":{"query":"operations","name":"list_tasks"}}`)
	if strings.Contains(told, `"sort"`) || !strings.Contains(told, `"first"`) {
		t.Errorf("introspection has the parameter sort: %s", told)
	}
}
