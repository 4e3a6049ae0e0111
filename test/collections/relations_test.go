package collections_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/test/collections/orders"
	"github.com/aqltag/aqltag/test/collections/parts"
	"github.com/aqltag/aqltag/test/collections/people"
)

// office has two persons who are each other's boss, one who is his own, and one without; a team; and tasks.
func office() *people.Office {
	seven := int64(7)
	return &people.Office{
		Persons: []*people.Person{
			{PersonID: "ann", BossID: "bob", TeamID: &seven},
			{PersonID: "bob", BossID: "ann", TeamID: &seven},
			{PersonID: "cid", BossID: "cid"},
			{PersonID: "dee"},
			{PersonID: "eve", BossID: "nobody"},
		},
		Teams: []*people.Team{{ID: 7, Title: "Seven"}},
		Tasks: []*people.Task{
			{TaskID: "t1", OwnerID: "ann"}, {TaskID: "t2", OwnerID: "bob", AfterID: "t1"}, {TaskID: "t3", AfterID: "t2"},
			{TaskID: "t4", AfterID: "t3"}, {TaskID: "t5", AfterID: "t4"},
		},
	}
}

func officeAdapter(t *testing.T, o *people.Office, options aql.Options) *aql.Adapter {
	t.Helper()
	options.Name, options.Version = "people", "1"
	adapter, err := aql.New(people.NewRegistry(o), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// follow sends a request to query_relationships and returns its answer.
func follow(t *testing.T, s *aql.Session, params string) (answer map[string]any) {
	t.Helper()
	reply := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"query_relationships","params":`+params+`}`))
	decoded(t, reply.JSON, &answer)
	return answer
}

// found returns the relationships of an answer, each on a line, or its failure.
func found(t *testing.T, answer map[string]any) []string {
	t.Helper()
	if answer["success"] != true {
		failed := answer["error"].(map[string]any)
		return []string{fmt.Sprint(failed["code"], ": ", failed["message"])}
	}
	data := answer["data"].(map[string]any)
	lines := []string{}
	list, _ := data["relationships"].([]any)
	edges := []any{}
	if graph, has := data["graph"].(map[string]any); has {
		edges, _ = graph["edges"].([]any)
	}
	for i, each := range list {
		r := each.(map[string]any)
		target := r["target"].(map[string]any)
		line := fmt.Sprint(r["depth"], " ", r["direction"], " ", r["type"], " ", target["element_type"], ":",
			target["element_name"])
		if i < len(edges) {
			e := edges[i].(map[string]any)
			line += fmt.Sprint(" (", e["source"], " ", e["type"], " ", e["target"], ")")
		}
		lines = append(lines, line)
	}
	return lines
}

func warningCodes(answer map[string]any) (codes []string) {
	list, _ := answer["warnings"].([]any)
	for _, w := range list {
		w := w.(map[string]any)
		codes = append(codes, fmt.Sprint(w["code"], ": ", w["message"]))
	}
	return codes
}

const fromAnn = `"root":{"element_type":"person","element_name":"ann"}`

// REQ-RL-01, REQ-RL-02, REQ-RL-04: relationships are found breadth first, those of one depth in a fixed order; a
// cycle ends with the relationship that closes it.
func TestRelationshipsAreFound(t *testing.T) {
	for _, test := range []struct {
		name, params string
		want         []string
	}{
		{"one step where no depth is given", `{` + fromAnn + `,"direction":"outgoing"}`, []string{
			"1 outgoing references person:bob (person:ann references person:bob)",
		}},
		{"a cycle of two", `{` + fromAnn + `,"direction":"outgoing","depth":3}`, []string{
			"1 outgoing references person:bob (person:ann references person:bob)",
			"2 outgoing references person:ann (person:bob references person:ann)",
		}},
		{
			"a cycle of one", `{"root":{"element_type":"person","element_name":"cid"},"direction":"outgoing","depth":3}`,
			[]string{"1 outgoing references person:cid (person:cid references person:cid)"},
		},
		{"nothing", `{"root":{"element_type":"person","element_name":"dee"},"direction":"both","depth":3}`, []string{}},
		{"a key that leads nowhere", `{"root":{"element_type":"person","element_name":"eve"},"direction":"outgoing"}`,
			[]string{}},
		{"incoming", `{` + fromAnn + `,"direction":"incoming"}`, []string{
			"1 incoming composes team:7 (team:7 composes person:ann)",
			"1 incoming uses task:t1 (task:t1 uses person:ann)",
		}},
		{"both", `{` + fromAnn + `,"direction":"both"}`, []string{
			"1 outgoing references person:bob (person:ann references person:bob)",
			"1 incoming composes team:7 (team:7 composes person:ann)",
			"1 incoming uses task:t1 (task:t1 uses person:ann)",
		}},
		{"one type", `{` + fromAnn + `,"direction":"both","relationship":"uses"}`, []string{
			"1 incoming uses task:t1 (task:t1 uses person:ann)",
		}},
		{"many of one, by a number", `{"root":{"element_type":"team","element_name":"7"},"direction":"outgoing","depth":2}`,
			[]string{
				"1 outgoing composes person:ann (team:7 composes person:ann)",
				"1 outgoing composes person:bob (team:7 composes person:bob)",
				"2 outgoing references person:bob (person:ann references person:bob)",
				"2 outgoing references person:ann (person:bob references person:ann)",
			}},
		{"no deeper than asked", `{"root":{"element_type":"task","element_name":"t5"},"direction":"outgoing","depth":3}`,
			[]string{
				"1 outgoing extends task:t4 (task:t5 extends task:t4)",
				"2 outgoing extends task:t3 (task:t4 extends task:t3)",
				"3 outgoing extends task:t2 (task:t3 extends task:t2)",
			}},
		{"a root that its handler does not find",
			`{"root":{"element_type":"person","element_name":"zoe"},"direction":"both"}`,
			[]string{"NOT_FOUND_RESOURCE: Resource 'person' not found: 'zoe'"}},
		{"a root that is nil", `{"root":{"element_type":"task","element_name":"t9"},"direction":"both"}`,
			[]string{"NOT_FOUND_RESOURCE: Resource 'task' not found: 't9'"}},
		{"a root whose name is no id", `{"root":{"element_type":"team","element_name":"x"},"direction":"both"}`,
			[]string{"NOT_FOUND_RESOURCE: Resource 'team' not found: 'x'"}},
		{"a root of no type", `{"root":{"element_type":"x","element_name":"x"},"direction":"both"}`,
			[]string{"VALIDATION_INVALID_ENUM: Parameter 'root.element_type' must be one of: 'person', 'task', 'team'"}},
		{"no direction", `{` + fromAnn + `}`, []string{
			"VALIDATION_MISSING_PARAM: Missing required parameter 'direction'. Expected: string (Of the relationships, as " +
				"seen from the root: 'outgoing', 'incoming', 'both')",
		}},
		{"another direction", `{` + fromAnn + `,"direction":"up"}`, []string{
			"VALIDATION_INVALID_ENUM: Parameter 'direction' must be one of: 'outgoing', 'incoming', 'both'",
		}},
		{"another type", `{` + fromAnn + `,"direction":"both","relationship":"triggers"}`, []string{
			"VALIDATION_INVALID_ENUM: Parameter 'relationship' must be one of: 'composes', 'extends', 'references', 'uses'",
		}},
		{"too deep", `{` + fromAnn + `,"direction":"both","depth":4}`, []string{
			"VALIDATION_OUT_OF_RANGE: Parameter 'depth' must be <= '3'",
		}},
		{"another section", `{` + fromAnn + `,"direction":"both","include":["nodes"]}`, []string{
			"VALIDATION_INVALID_ENUM: Parameter 'include[0]' must be one of: 'root', 'relationships', 'graph.nodes', " +
				"'graph.edges'",
		}},
		{"after without first", `{` + fromAnn + `,"direction":"both","after":"x"}`, []string{
			"VALIDATION_INVALID_TYPE: Parameter 'pagination' expected 'valid pagination combination', got 'conflicting " +
				"parameters'",
		}},
		{"a forged cursor", `{` + fromAnn + `,"direction":"both","first":1,"after":"x"}`, []string{
			"VALIDATION_INVALID_TYPE: Parameter 'after' expected 'cursor of this operation', got 'string'",
		}},
	} {
		s := officeAdapter(t, office(), aql.Options{}).NewSession()
		if diff := cmp.Diff(test.want, found(t, follow(t, s, test.params))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Each relation is loaded once for a level, with each key once, and never again for a key that was loaded.
func TestLoadersAreCalledOnceForALevel(t *testing.T) {
	o := office()
	s := officeAdapter(t, o, aql.Options{}).NewSession()
	answer := follow(t, s, `{"root":{"element_type":"team","element_name":"7"},"direction":"both","depth":3}`)
	if all := found(t, answer); len(all) < 5 {
		t.Errorf("%v", all)
	}
	want := []people.Load{
		{Loader: "members", Keys: []any{int64(7)}},
		{Loader: "persons", Keys: []any{"bob", "ann"}},
		{Loader: "tasks of", Keys: []any{"ann", "bob"}},
		{Loader: "teams", Keys: []any{int64(7)}},
		{Loader: "persons", Keys: []any{"ann", "bob"}}, // of tasks
		{Loader: "tasks", Keys: []any{"t1"}},
	}
	if diff := cmp.Diff(want, o.Loads); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// REQ-RL-02, T-44: an answer has the sections that a request includes, and the root always.
func TestSectionsOfRelationships(t *testing.T) {
	s := officeAdapter(t, office(), aql.Options{}).NewSession()
	for include, want := range map[string]string{
		`["root"]`: ``,
		`["relationships"]`: `,"relationships":[{"type":"references","direction":"outgoing",` +
			`"target":{"element_type":"person","element_name":"bob"},"depth":1}]`,
		`["graph.nodes"]`: `,"graph":{"nodes":[{"id":"person:ann","element_type":"person","element_name":"ann"},` +
			`{"id":"person:bob","element_type":"person","element_name":"bob"}]}`,
		`["graph.edges"]`: `,"graph":{"edges":[{"source":"person:ann","target":"person:bob","type":"references"}]}`,
	} {
		want = `{"root":{"element_type":"person","element_name":"ann"}` + want + `}`
		reply := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"query_relationships","params":{`+fromAnn+
			`,"direction":"outgoing","include":`+include+`}}`)).JSON
		if diff := cmp.Diff(`{"success":true,"data":`+want+`}`, string(reply)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", include, diff)
		}
	}
	empty := `{"success":true,"data":{"root":{"element_type":"person","element_name":"dee"},"relationships":[],` +
		`"graph":{"nodes":[{"id":"person:dee","element_type":"person","element_name":"dee"}],"edges":[]}}}`
	reply := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"query_relationships","params":{"root":`+
		`{"element_type":"person","element_name":"dee"},"direction":"outgoing"}}`)).JSON
	if diff := cmp.Diff(empty, string(reply)); diff != "" {
		t.Errorf("nothing (-want +got):\n%s", diff)
	}
}

// Pages are parts of the whole, whatever their size, and cursors are those of one request.
func TestPagesOfRelationships(t *testing.T) {
	s := officeAdapter(t, office(), fixedKey).NewSession()
	const all = `"root":{"element_type":"team","element_name":"7"},"direction":"both","depth":3`
	whole := found(t, follow(t, s, `{`+all+`}`))
	for size := 1; size <= len(whole)+1; size++ {
		var walked []string
		after, pages := "", 0
		for more := true; more; pages++ {
			answer := follow(t, s, fmt.Sprintf(`{%s,"first":%d%s}`, all, size, after))
			walked = append(walked, found(t, answer)...)
			info := at(answer, "data", "pageInfo").(map[string]any)
			if fmt.Sprint(info["totalCount"]) != strconv.Itoa(len(whole)) || info["hasPreviousPage"] != (pages > 0) {
				t.Errorf("page %d of %d: %v", pages, size, info)
			}
			more = info["hasNextPage"] == true
			after = fmt.Sprintf(`,"after":%q`, info["endCursor"])
		}
		if diff := cmp.Diff(whole, walked); diff != "" || pages > len(whole)/size+1 {
			t.Errorf("%d pages of %d (-whole +walked):\n%s", pages, size, diff)
		}
	}
	cursor := at(follow(t, s, `{`+all+`,"first":1}`), "data", "pageInfo", "endCursor")
	for _, other := range []string{
		strings.Replace(all, `"depth":3`, `"depth":2`, 1), strings.Replace(all, "both", "outgoing", 1),
		all + `,"relationship":"uses"`, fromAnn + `,"direction":"both","depth":3`,
	} {
		answer := follow(t, s, fmt.Sprintf(`{%s,"first":1,"after":%q}`, other, cursor))
		if answer["success"] != false {
			t.Errorf("a cursor of another request is accepted: %s", other)
		}
	}
	if got := found(t, follow(t, s, `{`+all+`,"first":0}`)); len(got) != 0 {
		t.Errorf("no relationships were asked for: %v", got)
	}
}

// The page behind a relationship that is gone begins with the next one.
func TestPagesOfRelationshipsAreStable(t *testing.T) {
	o := office()
	s := officeAdapter(t, o, aql.Options{}).NewSession()
	const team = `"root":{"element_type":"team","element_name":"7"},"direction":"outgoing","first":1`
	cursor := at(follow(t, s, `{`+team+`}`), "data", "pageInfo", "endCursor")
	o.Persons = slices.Insert(o.Persons[1:], 0, &people.Person{PersonID: "aaa", TeamID: o.Persons[0].TeamID})
	want := []string{"1 outgoing composes person:bob (team:7 composes person:bob)"}
	if diff := cmp.Diff(want, found(t, follow(t, s, fmt.Sprintf(`{%s,"after":%q}`, team, cursor)))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func when(param string, value any) []policy.Condition {
	return []policy.Condition{{Param: param, Equals: value}}
}

// Rights to a relation are those to the operation that an agent would call instead.
func TestRightsToRelations(t *testing.T) {
	const boss = `{` + fromAnn + `,"direction":"outgoing"}`
	const members = `{"root":{"element_type":"team","element_name":"7"},"direction":"outgoing","depth":2}`
	for _, test := range []struct {
		name, params string
		rule         policy.Rule
		want         []string
		warnings     []string
	}{
		{
			"an operation that is denied", members, policy.Rule{Effect: policy.Deny, Operations: []string{"get_person"}},
			[]string{"PERMISSION_DENIED: Permission denied: 'relation \"person.boss\" needs operation \"get_person\", which " +
				"the policy of this adapter does not allow'"}, nil,
		},
		{
			"an operation that is denied with a reason", members,
			policy.Rule{Effect: policy.Deny, Operations: []string{"list_persons"}, Reason: "secret"},
			[]string{"PERMISSION_DENIED: Permission denied: 'relation \"team.members\" needs operation \"list_persons\", " +
				"which the policy of this adapter does not allow: secret'"}, nil,
		},
		{
			"one that is not needed", boss, policy.Rule{Effect: policy.Deny, Operations: []string{"list_persons", "get_team"}},
			[]string{"1 outgoing references person:bob (person:ann references person:bob)"}, nil,
		},
		{
			"the root", boss,
			policy.Rule{Effect: policy.Deny, Operations: []string{"get_person"}, When: when("person_id", "ann")},
			[]string{"PERMISSION_DENIED: Permission denied: 'the root of this query needs operation \"get_person\", which " +
				"the policy of this adapter does not allow'"}, nil,
		},
		{
			"one key", members,
			policy.Rule{Effect: policy.Deny, Operations: []string{"get_person"}, When: when("person_id", "bob")},
			[]string{
				"1 outgoing composes person:ann (team:7 composes person:ann)",
				"1 outgoing composes person:bob (team:7 composes person:bob)",
				"2 outgoing references person:ann (person:bob references person:ann)",
			},
			[]string{"PERMISSION_DENIED_WARNING: Relation 'person.boss' leaves out what operation 'get_person' does not allow"},
		},
		{
			"a number", `{` + fromAnn + `,"direction":"incoming"}`,
			policy.Rule{Effect: policy.Deny, Operations: []string{"get_team"}, When: when("id", 7)},
			[]string{"1 incoming uses task:t1 (task:t1 uses person:ann)"},
			[]string{"PERMISSION_DENIED_WARNING: Relation 'person.team' leaves out what operation 'get_team' does not allow"},
		},
		{
			"a confirmation", members, policy.Rule{Effect: policy.Confirm, Operations: []string{"get_person"}},
			[]string{"PERMISSION_DENIED: Permission denied: 'relation \"person.boss\" needs operation \"get_person\", which " +
				"asks for a confirmation; leave it out, or call that operation itself'"}, nil,
		},
		{
			"the query itself", boss, policy.Rule{Effect: policy.Deny, Operations: []string{"query_relationships"}},
			[]string{"PERMISSION_DENIED: Permission denied: 'the policy of this adapter does not allow this operation " +
				"with these parameters'"}, nil,
		},
		{
			"a field with the key that is hidden", boss, policy.Rule{Hide: []string{"Person.boss_id"}},
			[]string{}, nil,
		},
		{
			"a field with the key of the inverse that is hidden",
			`{"root":{"element_type":"team","element_name":"7"},"direction":"both"}`,
			policy.Rule{Hide: []string{"Person.team_id"}},
			[]string{"VALIDATION_INVALID_ENUM: Parameter 'root.element_type' must be one of: 'person', 'task'"}, nil,
		},
		{
			"an id that is hidden", `{"root":{"element_type":"task","element_name":"t2"},"direction":"outgoing"}`,
			policy.Rule{Hide: []string{"Person.person_id"}},
			[]string{"1 outgoing extends task:t1 (task:t2 extends task:t1)"}, nil,
		},
	} {
		o := office()
		test.rule.Name = "r"
		adapter := officeAdapter(t, o, aql.Options{})
		if err := adapter.SetPolicy(&policy.Policy{Rules: []policy.Rule{test.rule}}); err != nil {
			t.Fatal(err)
		}
		answer := follow(t, adapter.NewSession(), test.params)
		if diff := cmp.Diff(test.want, found(t, answer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.warnings, warningCodes(answer)); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", test.name, diff)
		}
	}
}

// A policy that changes between two calls counts from the next one on.
func TestThePolicyOfRelationsChanges(t *testing.T) {
	adapter := officeAdapter(t, office(), aql.Options{})
	s := adapter.NewSession()
	const boss = `{` + fromAnn + `,"direction":"outgoing"}`
	if got := found(t, follow(t, s, boss)); len(got) != 1 {
		t.Errorf("%v", got)
	}
	deny := policy.Rule{Name: "r", Effect: policy.Deny, Operations: []string{"get_person"}, When: when("person_id", "bob")}
	if err := adapter.SetPolicy(&policy.Policy{Rules: []policy.Rule{deny}}); err != nil {
		t.Fatal(err)
	}
	if got := found(t, follow(t, s, boss)); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Under HideDenied, relations that lead to what a caller may not call do not exist for him.
func TestRelationsThatACallerDoesNotSee(t *testing.T) {
	adapter := officeAdapter(t, office(), aql.Options{
		HideDenied: true,
		Policy:     &policy.Policy{Rules: []policy.Rule{{Name: "r", Effect: policy.Deny, Operations: []string{"get_task"}}}},
	})
	s := adapter.NewSession()
	for params, want := range map[string]string{
		`{` + fromAnn + `,"direction":"both","relationship":"extends"}`: "VALIDATION_INVALID_ENUM: " +
			"Parameter 'relationship' must be one of: 'composes', 'references', 'uses'",
		`{"root":{"element_type":"task","element_name":"t1"},"direction":"both"}`: "VALIDATION_INVALID_ENUM: " +
			"Parameter 'root.element_type' must be one of: 'person', 'team'",
	} {
		if diff := cmp.Diff([]string{want}, found(t, follow(t, s, params))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
	}
}

// Where all relations that lead back are hidden from a caller, there is one direction.
func TestDirectionsThatACallerDoesNotSee(t *testing.T) {
	denied := []string{"get_task", "list_work", "list_persons"}
	s := officeAdapter(t, office(), aql.Options{
		HideDenied: true,
		Policy:     &policy.Policy{Rules: []policy.Rule{{Name: "r", Effect: policy.Deny, Operations: denied}}},
	}).NewSession()
	for _, direction := range []string{"incoming", "both"} {
		want := []string{"VALIDATION_INVALID_ENUM: Parameter 'direction' must be one of: 'outgoing'"}
		if diff := cmp.Diff(want, found(t, follow(t, s, `{`+fromAnn+`,"direction":"`+direction+`"}`))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", direction, diff)
		}
	}
	const introspect = `{"operation":"introspect","params":{"query":"operations","name":"query_relationships"}}`
	reply := string(s.Call(t.Context(), "mcp_aql_read", []byte(introspect)).JSON)
	if !strings.Contains(reply, `"enum":["outgoing"]`) {
		t.Error(reply)
	}
}

// Nothing that is said to a caller names types or relationships that he does not see, whether operations are denied to
// him or fields hidden from him.
func TestAnswersNameOnlyWhatACallerSees(t *testing.T) {
	for name, rule := range map[string]policy.Rule{
		"denied": {Name: "r", Effect: policy.Deny, Operations: []string{"get_task"}},
		"hidden": {Name: "r", Hide: []string{"Task.task_id"}},
	} {
		s := officeAdapter(t, office(), aql.Options{
			HideDenied: true, Policy: &policy.Policy{Rules: []policy.Rule{rule}},
		}).NewSession()
		const introspect, query = `{"operation":"introspect","params":`, `{"operation":"query_relationships","params":`
		for request, says := range map[string]string{
			introspect + `{"query":"types","name":"RelationshipRoot"}}`:                      `["person","team"]`,
			introspect + `{"query":"operations","name":"query_relationships"}}`:              "composes",
			query + `{"direction":"both"}}`:                                                  "person, team",
			query + `{"direction":"up"}}`:                                                    "person, team",
			query + `{"direction":"both","root":{"element_type":"zzz"}}}`:                    "element_name",
			query + `{"direction":"both","root":{"element_name":"a"}}}`:                      "element_type",
			query + `{"direction":"both","root":{"element_type":"zzz","element_name":"a"}}}`: "'person', 'team'",
			query + `{"direction":"both","root":{"element_type":7,"element_name":"a"}}}`:     "element_type",
		} {
			reply := string(s.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON)
			if !strings.Contains(reply, says) || strings.Contains(reply, "task") || strings.Contains(reply, "extends") {
				t.Errorf("%s: %s\n%s", name, request, reply)
			}
		}
	}
}

// Each load is one request of its operation to quotas and limits.
func TestLoadsAreCounted(t *testing.T) {
	adapter := officeAdapter(t, office(), aql.Options{
		Quota: quota.Options{Limits: []quota.Limit{{Operation: "get_person", Limit: 3, Window: quota.Hour}}},
	})
	s := adapter.NewSession()
	const boss = `{` + fromAnn + `,"direction":"outgoing"}` // the root, and one load
	for i, want := range []string{
		"1 outgoing references person:bob (person:ann references person:bob)",
		"RATE_LIMIT_EXCEEDED: API rate limit exceeded",
	} {
		if diff := cmp.Diff([]string{want}, found(t, follow(t, s, boss))); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
	}
}

// records collects audit records.
type records struct{ list []audit.Record }

func (r *records) Write(_ context.Context, list []audit.Record) error {
	r.list = append(r.list, list...)
	return nil
}

func (r *records) Close() error { return nil }

// What is left out of a relation is on record as a denial of its operation, with the keys.
func TestDeniedKeysAreOnRecord(t *testing.T) {
	var log records
	written := audit.New(audit.Options{Sinks: []audit.Sink{&log}})
	adapter := officeAdapter(t, office(), aql.Options{
		Audit: written,
		Policy: &policy.Policy{Rules: []policy.Rule{{
			Name: "r", Effect: policy.Deny, Operations: []string{"get_person"}, When: when("person_id", "bob"),
		}}},
	})
	follow(t, adapter.NewSession(), `{`+fromAnn+`,"direction":"outgoing"}`)
	if err := written.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, r := range log.list {
		got = append(got, fmt.Sprint(r.Operation, " ", r.Event, " ", r.Outcome, " ", r.Rule, " ", string(r.Parameters)))
	}
	want := []string{`get_person OPERATION_DENIED denied r {"person_id":["bob"]}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// REQ-RL-05: an answer loads no more than Collections.MaxRelated, and a relation leads to no more than 25 of a key.
func TestRelationsAreBounded(t *testing.T) {
	seven := int64(7)
	o := &people.Office{Teams: []*people.Team{{ID: 7}}}
	for i := range 30 {
		o.Persons = append(o.Persons, &people.Person{PersonID: fmt.Sprintf("p%02d", i), TeamID: &seven})
	}
	const members = `{"root":{"element_type":"team","element_name":"7"},"direction":"outgoing"}`
	answer := follow(t, officeAdapter(t, o, aql.Options{}).NewSession(), members)
	if got := found(t, answer); len(got) != 25 {
		t.Errorf("%d members", len(got))
	}
	if diff := cmp.Diff([]string{"VALIDATION_TRUNCATED_WARNING: Relation 'team.members' has no more than 25 of each " +
		"element; operation 'list_persons' has the rest"}, warningCodes(answer)); diff != "" {
		t.Error(diff)
	}
	few := aql.Options{Collections: aql.Collections{MaxRelated: 24}}
	if diff := cmp.Diff([]string{"VALIDATION_PAYLOAD_TOO_LARGE: Payload exceeds related_items limit of 24; ask for a " +
		"smaller depth, or for one relationship"},
		found(t, follow(t, officeAdapter(t, o, few).NewSession(), members))); diff != "" {
		t.Error(diff)
	}
	few.Collections.MaxRelated = 25
	if got := found(t, follow(t, officeAdapter(t, o, few).NewSession(), members)); len(got) != 25 {
		t.Errorf("%v", got)
	}
	if _, err := aql.New(people.NewRegistry(o), aql.Options{Collections: aql.Collections{MaxRelated: -1}}); err == nil {
		t.Error("a negative bound is accepted")
	}
}

// The errors and panics of loaders are those of handlers: the agent learns nothing of what agents may not see.
func TestLoadersThatFail(t *testing.T) {
	for _, test := range []struct {
		name string
		fail func(context.Context, people.Load) error
		want string
	}{
		{"an error", func(context.Context, people.Load) error { return people.ErrNone }, "INTERNAL_ERROR"},
		{"a panic", func(context.Context, people.Load) error { panic("at /secret/path") }, "INTERNAL_ERROR"},
		{
			"an error for agents", func(context.Context, people.Load) error { return aql.Denied("not today") },
			"PERMISSION_DENIED",
		},
		{
			"something that is not found", func(context.Context, people.Load) error { return aql.NotFound("person", "secret") },
			"INTERNAL_ERROR",
		},
	} {
		o := office()
		o.Fail = test.fail
		s := officeAdapter(t, o, aql.Options{}).NewSession()
		answer := follow(t, s, `{`+fromAnn+`,"direction":"outgoing"}`)
		if code := at(answer, "error", "code"); code != test.want {
			t.Errorf("%s: %v", test.name, answer)
		}
		if text := string(encoded(t, answer)); strings.Contains(text, "/var/lib") || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", test.name, text)
		}
		o.Fail = nil
		if got := found(t, follow(t, s, `{`+fromAnn+`,"direction":"outgoing"}`)); len(got) != 1 {
			t.Errorf("%s: the next request: %v", test.name, got)
		}
	}
}

// A request that is cancelled loads nothing more.
func TestRelationsHonourTheContext(t *testing.T) {
	o := office()
	ctx, cancel := context.WithCancel(t.Context())
	o.Fail = func(context.Context, people.Load) error { cancel(); return nil }
	s := officeAdapter(t, o, aql.Options{}).NewSession()
	s.Call(ctx, "mcp_aql_read", []byte(`{"operation":"query_relationships","params":{`+fromAnn+
		`,"direction":"both","depth":3}}`))
	if len(o.Loads) != 1 {
		t.Errorf("%v", o.Loads)
	}
}

// Receivers are chosen for each load as for each call of a handler.
func TestReceiversOfLoadersAreChosen(t *testing.T) {
	type key struct{}
	adapter, err := aql.New(people.NewRegistryFor(func(ctx context.Context) (*people.Office, error) {
		o, ok := ctx.Value(key{}).(*people.Office)
		if !ok {
			return nil, errors.New("nobody")
		}
		return o, nil
	}), aql.Options{Name: "people"})
	if err != nil {
		t.Fatal(err)
	}
	mine, other := office(), office()
	other.Persons[0].BossID = "dee"
	for o, want := range map[*people.Office]string{mine: "person:bob", other: "person:dee"} {
		reply := adapter.NewSession().Call(context.WithValue(t.Context(), key{}, o), "mcp_aql_read",
			[]byte(`{"operation":"query_relationships","params":{`+fromAnn+`,"direction":"outgoing"}}`)).JSON
		if !bytes.Contains(reply, []byte(want)) || len(o.Loads) != 1 {
			t.Errorf("%s: %s", want, reply)
		}
	}
}

// REQ-CQ-03, REQ-RL-03, REQ-RL-05, MCP-AQL introspection §3.3: introspection says what can be followed.
func TestRelationshipCapabilities(t *testing.T) {
	s := officeAdapter(t, office(), aql.Options{Logger: slog.New(slog.DiscardHandler)}).NewSession()
	var details, list map[string]any
	decoded(t, s.Call(t.Context(), "mcp_aql_read",
		[]byte(`{"operation":"introspect","params":{"query":"operations","name":"query_relationships"}}`)).JSON, &details)
	want := map[string]any{
		"supported": true, "directions": []any{"outgoing", "incoming", "both"}, "max_depth": json.Number("3"),
		"relationship_types": []any{"composes", "extends", "references", "uses"},
	}
	if diff := cmp.Diff(want, at(details, "data", "operation", "relationship_capabilities")); diff != "" {
		t.Error(diff)
	}
	listed := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"introspect","params":{"query":"operations"}}`))
	decoded(t, listed.JSON, &list)
	if at(list, "data", "_protocol", "capabilities", "relationship_queries") != true &&
		at(list, "_protocol", "capabilities", "relationship_queries") != true {
		t.Errorf("%s", encoded(t, list))
	}
}

// The operation exists where there is something to follow: its loaders' operations are on.
func TestNoRelationshipsWithoutTheirOperations(t *testing.T) {
	adapter := officeAdapter(t, office(), aql.Options{Available: aql.Available{Operations: []string{"!get_*"}}})
	if tool := adapter.Tool(gen.QueryRelationships); tool != "" {
		t.Errorf("it is reached by %s", tool)
	}
	adapter = officeAdapter(t, office(), aql.Options{Available: aql.Available{Operations: []string{"!get_task"}}})
	got := found(t, follow(t, adapter.NewSession(), `{`+fromAnn+`,"direction":"incoming"}`))
	if diff := cmp.Diff([]string{
		"1 incoming composes team:7 (team:7 composes person:ann)", "1 incoming uses task:t1 (task:t1 uses person:ann)",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// REQ-RL-01, REQ-RL-02, T-44: what relationship queries accept and answer is valid against the official schemas, and
// what these refuse is refused.
func TestOfficialSchemasOfRelationships(t *testing.T) {
	schema := official(t, "relationship-query.schema.json")
	result := official(t, "operation-result.schema.json")
	introspection := official(t, "introspection-response.schema.json")
	s := officeAdapter(t, office(), aql.Options{}).NewSession()
	for _, request := range []string{
		`{` + fromAnn + `,"direction":"both","depth":3}`,
		`{` + fromAnn + `,"direction":"outgoing","relationship":"uses","include":["root","graph.nodes"]}`,
		`{` + fromAnn + `,"direction":"incoming","depth":2,"include":["relationships","graph.edges"]}`,
		`{"root":{"element_type":"team","element_name":"7"},"direction":"outgoing","first":1}`,
	} {
		var params map[string]any
		decoded(t, []byte(request), &params)
		answer := follow(t, s, request)
		if err := valid(t, result, encoded(t, answer)); err != nil || answer["success"] != true {
			t.Errorf("%s: %v: %s", request, err, encoded(t, answer))
			continue
		}
		data := maps.Clone(answer["data"].(map[string]any))
		if _, paged := data["pageInfo"]; paged != (params["first"] != nil) {
			t.Errorf("%s: %s", request, encoded(t, data))
		}
		delete(data, "pageInfo") // T-44: the schema does not know it
		if err := valid(t, schema, encoded(t, map[string]any{"request": params, "response": data})); err != nil {
			t.Errorf("%s: %v", request, err)
		}
	}
	for _, wrong := range []string{
		`{}`, `{"root":"ann","direction":"both"}`, `{"root":{"element_type":"person"},"direction":"both"}`,
		`{` + fromAnn + `,"direction":"up"}`, `{` + fromAnn + `,"direction":"both","depth":0}`,
		`{` + fromAnn + `,"direction":"both","include":["all"]}`, `{` + fromAnn + `,"direction":"both","first":-1}`,
		`{` + fromAnn + `,"direction":"both","include":"root"}`, `{` + fromAnn + `,"direction":"both","first":1,"after":1}`,
	} {
		if valid(t, schema, []byte(`{"request":`+wrong+`}`)) == nil {
			t.Errorf("the official schema accepts %s", wrong)
		}
		if answer := follow(t, s, wrong); answer["success"] != false {
			t.Errorf("%s is accepted", wrong)
		}
	}
	for _, query := range []string{
		`{"query":"operations"}`, `{"query":"operations","name":"query_relationships"}`,
		`{"query":"types","name":"RelationshipAnswer"}`, `{"query":"types","name":"RelationshipGraph"}`,
	} {
		reply := s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"introspect","params":`+query+`}`)).JSON
		if err := valid(t, introspection, reply); err != nil {
			t.Errorf("%s: %v\n%s", query, err, reply)
		}
	}
}

// Whatever a request is, it is answered, and loads no more than it may.
func TestHostileRelationshipRequests(t *testing.T) {
	o := office()
	s := officeAdapter(t, o, aql.Options{}).NewSession()
	deep := strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40)
	for _, value := range []string{
		`null`, `""`, `"\u0000"`, `"'; DROP TABLE persons; --"`, `"../../etc/passwd"`, `-1`, `1e999`, `[]`, `{}`, deep,
		`"` + strings.Repeat("a", 100_000) + `"`, `{"element_type":"person","element_name":"ann","x":1}`,
		`{"element_type":"person","element_name":{}}`, `{"element_type":["person"],"element_name":"ann"}`,
		`{"element_type":"Person","element_name":"ann"}`, `{"element_type":"team","element_name":"7 OR 1=1"}`,
		`{"element_type":"team","element_name":"99999999999999999999"}`, `{"element_type":"team","element_name":"--7"}`,
	} {
		for _, param := range []string{"root", "direction", "relationship", "depth", "include", "first", "after"} {
			params := map[string]json.RawMessage{
				"root":      json.RawMessage(`{"element_type":"person","element_name":"ann"}`),
				"direction": json.RawMessage(`"both"`),
			}
			params[param] = json.RawMessage(value)
			text, err := json.Marshal(params)
			if err != nil {
				text = []byte(`{"` + param + `":` + value + `}`)
			}
			o.Loads = nil
			answer := follow(t, s, string(text))
			if code, _ := at(answer, "error", "code").(string); answer["success"] != true &&
				!strings.HasPrefix(code, "VALIDATION_") && code != "NOT_FOUND_RESOURCE" {
				t.Errorf("%s: %s", text, encoded(t, answer))
			}
			if len(o.Loads) > 5 {
				t.Errorf("%s: %v", text, o.Loads)
			}
		}
	}
}

// The adapter runs what the header of its generated file says.
func TestTheFingerprintCoversRelations(t *testing.T) {
	text, err := os.ReadFile("people/aql_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	print := officeAdapter(t, office(), aql.Options{}).Fingerprint()
	if !bytes.Contains(text, []byte("// Definitions: "+print+"\n")) {
		t.Errorf("the adapter's is %s", print)
	}
}

// What the JSON Schemas of query_relationships accept, the adapter accepts, and the other way round; what it answers,
// they accept.
func TestJSONSchemasOfRelationships(t *testing.T) {
	o := office()
	definitions := people.NewRegistry(o).Definitions()
	gen.AddRelationships(&definitions)
	operation, known := definitions.Operation(gen.QueryRelationships)
	if !known {
		t.Fatal("there is no such operation")
	}
	compiled := func(exported *jsonschema.Schema) *validator.Schema {
		text, err := exported.Text()
		if err != nil {
			t.Fatal(err)
		}
		document, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		compiler := validator.NewCompiler()
		if err := compiler.AddResource("schema.json", document); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("schema.json")
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	params := compiled(jsonschema.Params(&definitions, operation))
	result := compiled(jsonschema.Result(&definitions, operation.Returns.Name))
	s := officeAdapter(t, o, aql.Options{}).NewSession()
	for _, request := range []string{
		`{` + fromAnn + `,"direction":"both","depth":3}`, `{` + fromAnn + `,"direction":"both","depth":null,"include":[]}`,
		`{` + fromAnn + `,"direction":"incoming","relationship":"uses","include":["graph.edges"],"first":1}`,
		`{` + fromAnn + `,"direction":"outgoing","relationship":null,"first":null,"after":null}`,
		`{}`, `{` + fromAnn + `}`, `{"root":"ann","direction":"both"}`,
		`{"root":{"element_type":"person"},"direction":"both"}`,
		`{"root":{"element_type":"person","element_name":"ann","id":1},"direction":"both"}`,
		`{` + fromAnn + `,"direction":"up"}`, `{` + fromAnn + `,"direction":"both","relationship":"likes"}`,
		`{` + fromAnn + `,"direction":"both","depth":0}`, `{` + fromAnn + `,"direction":"both","depth":4}`,
		`{` + fromAnn + `,"direction":"both","include":["all"]}`, `{` + fromAnn + `,"direction":"both","first":-1}`,
		`{` + fromAnn + `,"direction":"both","x":1}`,
	} {
		answer := follow(t, s, request)
		if refused := valid(t, params, []byte(request)); (refused == nil) != (answer["success"] == true) {
			t.Errorf("%s: the schema says %v, the adapter %s", request, refused, encoded(t, answer))
		}
		if answer["success"] == true {
			if err := valid(t, result, encoded(t, answer["data"])); err != nil {
				t.Errorf("%s: %v", request, err)
			}
		}
	}
}

// Relations are those of their package where several are joined, also if types of theirs have one name.
func TestRelationsOfMergedPackages(t *testing.T) {
	o := office()
	adapter, err := aql.New(aql.Merge(parts.NewRegistry(new(parts.Store), new(parts.Tasks)), people.NewRegistry(o)),
		aql.Options{Name: "both", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	want := []string{
		"1 outgoing extends people_task:t1 (people_task:t2 extends people_task:t1)",
		"1 outgoing uses person:bob (people_task:t2 uses person:bob)",
	}
	got := found(t, follow(t, s, `{"root":{"element_type":"people_task","element_name":"t2"},"direction":"outgoing"}`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A query begins at the resource that its root identifies, also if relations lead to such resources by other keys.
func TestQueriesBeginAtTheirRoot(t *testing.T) {
	adapter, err := aql.New(orders.NewRegistry(), aql.Options{Name: "orders", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	for _, test := range []struct{ name, typ, element, direction, want string }{
		{"by its id", "customer", "c1", "incoming", "1 incoming references order:O1 (order:O1 references customer:c1)"},
		{
			"by the key of a relation", "customer", "ann@example.com", "incoming",
			"NOT_FOUND_RESOURCE: Resource 'customer' not found: 'ann@example.com'",
		},
		{
			"of the other type", "order", "O1", "outgoing",
			"1 outgoing references customer:c1 (order:O1 references customer:c1)",
		},
		{
			"another one than was asked for", "order", "o1", "outgoing",
			"NOT_FOUND_RESOURCE: Resource 'order' not found: 'o1'",
		},
	} {
		params := fmt.Sprintf(`{"root":{"element_type":%q,"element_name":%q},"direction":%q}`,
			test.typ, test.element, test.direction)
		if diff := cmp.Diff([]string{test.want}, found(t, follow(t, s, params))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A relation that shows the key of its inverse from the other end is hidden with it, whichever of the two names the
// other one.
func TestInversesOfHiddenKeys(t *testing.T) {
	for _, field := range []string{"Order.email", "Customer.email"} {
		adapter, err := aql.New(orders.NewRegistry(), aql.Options{
			Name: "orders", Version: "1", Policy: &policy.Policy{Rules: []policy.Rule{{Name: "r", Hide: []string{field}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := adapter.NewSession()
		for _, root := range []string{
			`{"element_type":"customer","element_name":"c1"}`, `{"element_type":"order","element_name":"O1"}`,
		} {
			got := found(t, follow(t, s, `{"root":`+root+`,"direction":"both"}`))
			want := []string{"VALIDATION_INVALID_ENUM: Parameter 'root.element_type' must be one of: 'parcel'"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", field, root, diff)
			}
		}
	}
}

// Ids write themselves, also where their methods have pointer receivers, and one that fails to names nothing.
func TestIDsThatWriteThemselves(t *testing.T) {
	adapter, err := aql.New(orders.NewRegistry(), aql.Options{Name: "orders", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	for root, want := range map[string][]string{
		"p1": {
			"1 outgoing extends parcel:p2 (parcel:p1 extends parcel:p2)",
			"2 outgoing extends parcel:p1 (parcel:p2 extends parcel:p1)",
		},
		"p3": {"INTERNAL_ERROR: Internal error: 'unexpected failure'"},
		"p4": {"INTERNAL_ERROR: Internal error: 'unexpected failure'"},
	} {
		params := fmt.Sprintf(`{"root":{"element_type":"parcel","element_name":%q},"direction":"outgoing","depth":2}`, root)
		if diff := cmp.Diff(want, found(t, follow(t, s, params))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", root, diff)
		}
	}
}
