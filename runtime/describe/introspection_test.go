package describe

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// answers are all answers an introspection can give, the unknown names included.
func answers(in *Introspection) [][]byte {
	all := [][]byte{in.Operations(), in.Types(), in.Operation("no_such"), in.Type("NoSuch")}
	for _, name := range slices.Sorted(maps.Keys(in.operation)) {
		all = append(all, in.Operation(name))
	}
	for _, name := range slices.Sorted(maps.Keys(in.typ)) {
		all = append(all, in.Type(name))
	}
	return all
}

// lines breaks JSON where people would, so that a difference is readable.
func lines(text string) []string {
	return strings.SplitAfter(strings.ReplaceAll(text, `},{`, "},\n{"), "\n")
}

func same(t *testing.T, what, want string, got []byte) {
	t.Helper()
	if diff := cmp.Diff(lines(strings.ReplaceAll(want, "\n", "")), lines(string(got))); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// REQ-RF-10, REQ-IN-03, REQ-IN-07, REQ-IN-08, REQ-IN-15, REQ-IN-27, REQ-IN-28, REQ-IN-29, REQ-PM-01, REQ-PM-02,
// REQ-PM-03, REQ-PM-04, REQ-PM-05, REQ-PM-07, REQ-PM-08, REQ-CL-03, REQ-EP-12, T-04, T-11, T-12, T-76. D2: the levels
// below destructive, which most operations have, are not repeated beside the list.
func TestOperationsList(t *testing.T) {
	in, err := Introspect(todoAdapter(), surfaceOf(t, Semantic, "crude"), Protocol{
		Conformance:  "level-1",
		Capabilities: Capabilities{Confirmation: true, DangerousOperations: true, ExecutionSafetyLoop: "disabled"},
		Limits:       Limits{RequestSize: 1, ResponseSize: 2, StringLength: 3, ArrayElements: 4, NestingDepth: 5},
		Concurrency:  "serialized", SupportsETag: true, MaxConcurrentRequests: 8, Gate: gateDestructive,
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "operations", `{"success":true,"data":{"_protocol":{"version":"1.0.0-draft","conformance":"level-1",
"mode":"semantic","profile":"crude",
"capabilities":{"batch":false,"field_selection":false,"aggregations":false,"computed_fields":false,"pagination":false,
"relationship_queries":false,"warnings":false,"confirmation":true,"dangerous_operations":true,
"execution_safety_loop":"disabled"},
"limits":{"max_request_size":1,"max_response_size":2,"max_string_length":3,"max_array_elements":4,
"max_nesting_depth":5},
"concurrency":"serialized","supports_etag":true,"max_concurrent_requests":8,"extensions":["selection","danger_levels"],
"danger_levels":{"delete_todo":"destructive","wipe":"dangerous"}},"operations":[
{"name":"introspect","semantic_category":"READ","endpoint":"read",
"description":"Discover operations and types: all of them, the matches of a search, or some in full."},
{"name":"create_todo","semantic_category":"CREATE","endpoint":"create","description":"Adds a todo."},
{"name":"list_todos","semantic_category":"READ","endpoint":"read","description":"Lists todos"},
{"name":"update_todo","semantic_category":"UPDATE","endpoint":"update","description":"Changes a todo."},
{"name":"delete_todo","semantic_category":"DELETE","endpoint":"delete",
"description":"Removes a todo [danger: destructive; confirmation required]"},
{"name":"wipe","semantic_category":"EXECUTE","endpoint":"execute",
"description":"Wipes everything. [danger: dangerous; confirmation required] [deprecated: use delete_todo]"}]}}`,
		in.Operations())
}

// REQ-RF-09, REQ-RF-11, REQ-IN-09, REQ-IN-10, REQ-IN-12, REQ-IN-14, REQ-IN-16, REQ-IN-18, REQ-IN-19, T-01, T-11, T-18.
func TestOperationDetails(t *testing.T) {
	in := introspect(t, todoAdapter(), surfaceOf(t, Semantic, "crude"))
	for name, want := range map[string]string{
		"create_todo": `{"success":true,"data":{"operation":{"name":"create_todo","semantic_category":"CREATE",
"endpoint":"create","mcpTool":"mcp_aql_create",
"description":"Adds a todo. The title may repeat.","permissions":{"readOnly":false,"destructive":false},"parameters":[
{"name":"title","type":"string","required":true,"description":"The thing to do","minLength":1,"maxLength":200},
{"name":"priority","type":"Priority","required":false,"default":"low","enum":["low","high"]},
{"name":"tags","type":"array","required":false,"description":"Up to 20 items","items":{"type":"string","maxLength":30}},
{"name":"labels","type":"object","required":false,"description":"Free labels. Map with values of type string",
"items":{"type":"string"}},
{"name":"estimate","type":"integer","required":false,"description":"Also accepted as minutes","minimum":0,
"maximum":10000}],
"returns":{"name":"Todo","kind":"object"},
"examples":[{"description":"The shortest request","request":{"operation":"create_todo",
"params":{"title":"Buy milk & <tea>"}}}]}}}`,
		"update_todo": `{"success":true,"data":{"operation":{"name":"update_todo","semantic_category":"UPDATE",
"endpoint":"update","mcpTool":"mcp_aql_update",
"description":"Changes a todo. [danger: reversible]","permissions":{"readOnly":false,"destructive":true},"parameters":[
{"name":"todo_id","type":"string","required":true,"pattern":"^[a-z0-9]+$"},
{"name":"input","type":"TodoPatch","required":true}],"returns":{"name":"Todo","kind":"object"}}}}`,
		"delete_todo": `{"success":true,"data":{"operation":{"name":"delete_todo","semantic_category":"DELETE",
"endpoint":"delete","mcpTool":"mcp_aql_delete",
"description":
"Removes a todo [danger: destructive; confirmation required] Reasons: Removes the todo; Removes its history",
"permissions":{"readOnly":false,"destructive":true},"parameters":[{"name":"todo_id","type":"string","required":true},
{"name":"confirmation_token","type":"string","required":false,
"description":"Token from a CONFIRMATION_REQUIRED failure; send the same request again with it to confirm",
"sensitive":true}],
"returns":{"name":"Nothing","kind":"scalar","description":"No data (null)"}}}}`,
		"wipe": `{"success":true,"data":{"operation":{"name":"wipe","semantic_category":"EXECUTE","endpoint":"execute",
"mcpTool":"mcp_aql_execute",
"description":
"Wipes everything. [danger: dangerous; confirmation required] Deprecated: Too easy to hit; use delete_todo instead",
"permissions":{"readOnly":false,"destructive":true},"parameters":[{"name":"password","type":"string","required":true,
"sensitive":true},
{"name":"confirmation_token","type":"any","required":false}],"returns":{"name":"Anything","kind":"union"}}}}`,
		"introspect": `{"success":true,"data":{"operation":{"name":"introspect","semantic_category":"READ",
"endpoint":"read","mcpTool":"mcp_aql_read",
"description":"Discover operations and types: all of them, the matches of a search, or some in full.",
"permissions":{"readOnly":true,"destructive":false},"parameters":[
{"name":"query","type":"string","required":true,"description":"Kind of list","enum":["operations","types","details"]},
{"name":"name","type":"string","required":false,"description":"One operation or type to show in full"},
{"name":"names","type":"array","required":false,
"description":"Only operations or types of these names; query details shows the operations in full, with
 the types of their requests. 1 to 20 items",
"items":{"type":"string"}},
{"name":"search","type":"string","required":false,
"description":"Words for the task, such as delete notes; the best matches come first","minLength":1,"maxLength":200},
{"name":"category","type":"string","required":false,"description":"Only operations of this category",
"enum":["CREATE","READ","UPDATE","DELETE","EXECUTE"]},
{"name":"danger","type":"string","required":false,"description":"Only operations of this danger level",
"enum":["safe","reversible","destructive","dangerous","forbidden"]},
{"name":"prefix","type":"string","required":false,
"description":"Only operations or types whose names begin with it","minLength":1,"maxLength":100},
{"name":"first","type":"integer","required":false,
"description":"How many to list; without it 5 of a search and 25 of other selections","minimum":1,"maximum":100},
{"name":"after","type":"string","required":false,
"description":"Name of the last one listed; the list goes on after it"}],
"returns":{"name":"IntrospectionResult","kind":"object"},"examples":[
{"description":"All operations","request":{"operation":"introspect","params":{"query":"operations"}}},
{"description":"One operation with its parameters","request":{"operation":"introspect","params":{"query":"operations",
"name":"introspect"}}},
{"description":"Operations for a task","request":{"operation":"introspect","params":{"query":"operations",
"search":"find types"}}}]}}}`,
	} {
		same(t, name, want, in.Operation(name))
	}
}

// REQ-IN-04, REQ-TY-01, REQ-TY-02, REQ-TY-03, REQ-TY-04, REQ-TY-05, T-79.
func TestTypes(t *testing.T) {
	in := introspect(t, todoAdapter(), surfaceOf(t, Semantic, "crude"))
	var list struct {
		Data struct{ Types []map[string]string }
	}
	decode(t, in.Types(), &list)
	var names []string
	for _, info := range list.Data.Types {
		names = append(names, info["name"])
	}
	want := []string{
		"SemanticCategory", "OperationInput", "OperationResult", "OperationSuccess", "OperationFailure",
		"EndpointPermissions", "IntrospectionResult", "FieldSelection",
		"Priority", "Todo", "TodoList", "TodoPatch", "Node", "Nothing", "Anything", "Empty",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"SemanticCategory": `{"success":true,"data":{"type":{"name":"SemanticCategory","kind":"enum",` +
			`"description":"Effect of an operation on data","values":["CREATE","READ","UPDATE","DELETE","EXECUTE"]}}}`,
		"OperationResult": `{"success":true,"data":{"type":{"name":"OperationResult","kind":"union",` +
			`"description":"The answer to a request","members":["OperationSuccess","OperationFailure"]}}}`,
		"Priority": `{"success":true,"data":{"type":{"name":"Priority","kind":"enum",` +
			`"description":"How urgent. high: today","values":["low","high"]}}}`,
		"Todo": `{"success":true,"data":{"type":{"name":"Todo","kind":"object","fields":[
{"name":"todo_id","type":"string","required":true,"description":"Read-only"},
{"name":"due_at","type":"string","required":false,"description":"Deprecated: use deadline","format":"date-time"},
{"name":"log","type":"array","required":false,"description":"1 item or more. Append-only","items":{"type":"array",
"items":{"type":"Node"}}}]}}}`,
		"Nothing":  `{"success":true,"data":{"type":{"name":"Nothing","kind":"scalar","description":"No data (null)"}}}`,
		"Anything": `{"success":true,"data":{"type":{"name":"Anything","kind":"union","members":["Todo","Nothing"]}}}`,
		"Empty":    `{"success":true,"data":{"type":{"name":"Empty","kind":"object","fields":[]}}}`,
	} {
		same(t, name, want, in.Type(name))
	}
}

// REQ-IN-05, T-09.
func TestUnknownNamesAreNull(t *testing.T) {
	in := introspect(t, todoAdapter(), surfaceOf(t, Semantic, "crude"))
	for _, name := range []string{"", "nope", "Create_Todo", "Todo"} {
		same(t, name, `{"success":true,"data":{"operation":null}}`, in.Operation(name))
	}
	for _, name := range []string{"", "todo", "create_todo"} {
		same(t, name, `{"success":true,"data":{"type":null}}`, in.Type(name))
	}
}

// REQ-TL-08, T-05, T-94: endpoint and tool agree with the surface in every mode, and crude is never a mode.
func TestEndpointAndToolFollowTheSurface(t *testing.T) {
	for name, s := range everySurface(t) {
		s.Prefix = "my_"
		a := todoAdapter()
		in := introspect(t, a, s)
		tools := make(map[string]string)
		for _, tool := range toolsOf(t, a, s) {
			tools[tool.Name] = tool.Family
		}
		for _, o := range s.everyOperation(a) {
			var answer struct {
				Data struct {
					Operation struct{ Endpoint, MCPTool string }
				}
			}
			decode(t, in.Operation(o.Name), &answer)
			shown := answer.Data.Operation
			family, exists := tools[shown.MCPTool]
			if !exists || family != "" && family != shown.Endpoint || shown.Endpoint != s.Family(o) {
				t.Errorf("%s %s: endpoint %q through tool %q", name, o.Name, shown.Endpoint, shown.MCPTool)
			}
		}
		if !strings.Contains(string(in.Operations()), `"mode":"`+string(s.Mode)+`"`) {
			t.Errorf("%s: wrong mode in %s", name, in.Operations())
		}
	}
}

// REQ-IN-11, REQ-IN-12: every parameter of the model is shown, in order, with its type and whether it is required; so
// is every field of a type.
func TestEveryParameterIsShown(t *testing.T) {
	type shown struct {
		Name, Type string
		Required   bool
	}
	of := func(params []gen.Param) []shown {
		list := []shown{}
		for _, p := range params {
			list = append(list, shown{p.Name, p.Type, p.Required})
		}
		return list
	}
	for seed := range uint64(200) {
		a := randomAdapter(seed)
		in, err := Introspect(a, surfaceOf(t, Semantic, "crude"), Protocol{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Operations {
			var answer struct {
				Data struct {
					Operation struct{ Parameters []shown }
				}
			}
			decode(t, in.Operation(a.Operations[i].Name), &answer)
			if diff := cmp.Diff(of(a.Operations[i].Params), answer.Data.Operation.Parameters); diff != "" {
				t.Fatalf("seed %d, %s: %s", seed, a.Operations[i].Name, diff)
			}
		}
		var answer struct {
			Data struct{ Type struct{ Fields []shown } }
		}
		decode(t, in.Type("Thing"), &answer)
		if diff := cmp.Diff(of(a.Types[1].Fields), answer.Data.Type.Fields); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// REQ-IN-13: what introspection names as a type, it can show.
func TestTypeNamesResolve(t *testing.T) {
	builtIn := []string{"string", "integer", "number", "boolean", "object", "array", "any"}
	naming := regexp.MustCompile(`"(?:type|members)":(?:"([^"]+)"|\["([^\]]+)"\])|"returns":\{"name":"([^"]+)"`)
	void := &gen.Definitions{Operations: []gen.Operation{{Name: "ping", Category: gen.Read}}}
	for _, a := range []*gen.Definitions{todoAdapter(), randomAdapter(3), void} {
		in := introspect(t, a, surfaceOf(t, Semantic, "crude"))
		count := 0
		for _, answer := range answers(in) {
			for _, match := range naming.FindAllSubmatch(answer, -1) {
				names := string(match[1]) + string(match[2]) + string(match[3])
				for name := range strings.SplitSeq(strings.ReplaceAll(names, `","`, " | "), " | ") {
					name = strings.TrimSuffix(name, "[]")
					count++
					if !slices.Contains(builtIn, name) && string(in.Type(name)) == string(noType) {
						t.Errorf("type %q does not resolve; it is named in %s", name, answer)
					}
				}
			}
		}
		if count < 20 {
			t.Errorf("found only %d names of types", count)
		}
	}
}

// REQ-IN-17: the same definitions are the same bytes.
func TestIntrospectionIsDeterministic(t *testing.T) {
	s := surfaceOf(t, All, "semantic")
	first, second := answers(introspect(t, todoAdapter(), s)), answers(introspect(t, todoAdapter(), s))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// REQ-UK-08: how strictly unknown parameters are treated is nothing that introspection shows.
func TestStrictModeIsNotShown(t *testing.T) {
	for name, s := range everySurface(t) {
		for _, answer := range answers(introspect(t, todoAdapter(), s)) {
			if strings.Contains(strings.ToLower(string(answer)), "strict") {
				t.Errorf("%s: %s", name, answer)
			}
		}
	}
}

func TestIntrospectReportsEverythingItCannotShow(t *testing.T) {
	a := &gen.Definitions{
		Operations: []gen.Operation{
			{Name: "a", Category: gen.Read, Params: []gen.Param{{Name: "x", Type: "string", Default: "low"}}},
			{Name: "b", Category: gen.Read, Examples: []gen.Example{{Params: "{"}}},
		},
		Types: []gen.Type{{Name: "OperationResult", Kind: gen.KindObject}},
	}
	_, err := Introspect(a, surfaceOf(t, Semantic, "crude"), Protocol{})
	for _, want := range []string{
		`operation a: x: default "low" is not JSON`, `operation b: example "{" is not JSON`,
		`two types are called "OperationResult"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want one with %q", err, want)
		}
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
