package todo_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/aqltest"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// client is an MCP client that is connected to the generated adapter of a new service.
type client struct {
	*testing.T
	session *mcp.ClientSession
}

func connect(t *testing.T) client {
	t.Helper()
	adapter, err := aql.New(todo.NewRegistry(open(t, todo.Memory)),
		aql.Options{Name: "todo", Version: "1.0.0", SupportsETag: true})
	if err != nil {
		t.Fatal(err)
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	serverSide, clientSide := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), serverSide) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil).
		Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		server.Close()
	})
	return client{t, session}
}

// answer is an MCP-AQL response.
type answer struct {
	Success bool
	Data    map[string]any
	Error   struct {
		Code    string
		Message string
		Details map[string]any
	}
}

// call makes a call and returns the answer, whatever it says.
func (c client) call(tool, operation, params string) answer {
	c.Helper()
	result, err := c.session.CallTool(c.Context(), &mcp.CallToolParams{
		Name: tool, Arguments: json.RawMessage(fmt.Sprintf(`{"operation":%q,"params":%s}`, operation, params)),
	})
	if err != nil {
		c.Fatal(err)
	}
	if len(result.Content) != 1 || result.IsError {
		c.Fatalf("%s: IsError is %v, with %d contents", operation, result.IsError, len(result.Content))
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		c.Fatalf("%s: the content is %T", operation, result.Content[0])
	}
	var a answer
	if err := json.Unmarshal([]byte(text.Text), &a); err != nil {
		c.Fatalf("%s: %v in %s", operation, err, text.Text)
	}
	return a
}

// data makes a call that must succeed.
func (c client) data(tool, operation, params string) map[string]any {
	c.Helper()
	a := c.call(tool, operation, params)
	if !a.Success {
		c.Fatalf("%s failed: %+v", operation, a.Error)
	}
	return a.Data
}

// details makes a call that must fail with a code.
func (c client) details(tool, operation, params, code string) map[string]any {
	c.Helper()
	a := c.call(tool, operation, params)
	if a.Success || a.Error.Code != code {
		c.Fatalf("%s: got %+v, want code %s", operation, a, code)
	}
	return a.Error.Details
}

// check compares JSON values.
func (c client) check(what string, got any, want string) {
	c.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		c.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		c.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFiveToolsCarryAllOperations(t *testing.T) {
	c := connect(t)
	tools, err := c.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	operations := make(map[string]string)
	for _, tool := range tools.Tools {
		for line := range strings.Lines(tool.Description) {
			if names, ok := strings.CutPrefix(line, "Supported operations: "); ok {
				operations[tool.Name] = strings.TrimSpace(names)
			}
		}
	}
	want := map[string]string{
		"mcp_aql_create":  "create_todo",
		"mcp_aql_read":    "introspect, get_todo, list_todos, search_todos, get_execution, list_executions",
		"mcp_aql_update":  "update_todo",
		"mcp_aql_delete":  "delete_todo, purge_completed",
		"mcp_aql_execute": "complete_todo, import_todos, cancel_execution, retry_execution, answer_execution",
	}
	if diff := cmp.Diff(want, operations); diff != "" {
		t.Errorf("operations by tool (-want +got):\n%s", diff)
	}
}

// What introspection tells about the operations is the table of the design.
func TestIntrospection(t *testing.T) {
	c := connect(t)
	levels := make(map[string]any)
	for _, listed := range c.data("mcp_aql_read", "introspect", `{"query":"operations"}`)["operations"].([]any) {
		name := listed.(map[string]any)["name"].(string)
		if name == "introspect" {
			continue
		}
		operation := c.data("mcp_aql_read", "introspect",
			fmt.Sprintf(`{"query":"operations","name":%q}`, name))["operation"].(map[string]any)
		var params []string
		for _, param := range operation["parameters"].([]any) {
			p := param.(map[string]any)
			mark := ""
			if p["required"] == true {
				mark = "*"
			}
			params = append(params, p["name"].(string)+mark)
		}
		if examples, _ := operation["examples"].([]any); len(examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		levels[name] = fmt.Sprint(operation["semantic_category"], " ", params)
	}
	c.check("operations", levels, `{
		"create_todo": "CREATE [title* notes priority due_at tags metadata]",
		"get_todo": "READ [todo_id* fields preset]",
		"list_todos": "READ [filter sort first after last before aggregate include_items fields preset]",
		"search_todos": "READ [filter query sort first after last before aggregate include_items fields preset]",
		"update_todo": "UPDATE [todo_id* input* if_match]",
		"complete_todo": "EXECUTE [todo_id*]",
		"import_todos": "EXECUTE [todos* request_key]",
		"get_execution": "READ [execution_id* wait_ms after_version]",
		"list_executions": "READ [status operation first after]",
		"cancel_execution": "EXECUTE [execution_id* reason]",
		"retry_execution": "EXECUTE [execution_id*]",
		"answer_execution": "EXECUTE [execution_id* name* value]",
		"delete_todo": "DELETE [todo_id* confirmation_token]",
		"purge_completed": "DELETE [older_than_days*]"
	}`)
}

// Each example works as it stands, but for the todo it names, and for what a person has to type.
func TestExamplesAreAccepted(t *testing.T) {
	c := connect(t)
	for _, operation := range todo.NewRegistry(nil).Definitions().Operations {
		tool := "mcp_aql_" + strings.ToLower(string(operation.Category))
		for _, example := range operation.Examples {
			a := c.call(tool, operation.Name, example.Params)
			typed := operation.TypeToConfirm != "" && a.Error.Code == "PERMISSION_DENIED"
			if !a.Success && !typed && !slices.Contains([]string{"NOT_FOUND_RESOURCE", "CONFIRMATION_REQUIRED"}, a.Error.Code) {
				t.Errorf("%s %s: %+v", operation.Name, example.Params, a.Error)
			}
		}
	}
}

// REQ-UP-11 and RFC 7396: what an update names changes at any depth, null removes, and all else is as it was.
func TestUpdateMergesDeeply(t *testing.T) {
	c := connect(t)
	created := c.data("mcp_aql_create", "create_todo", `{
		"title": "Buy milk", "notes": "Two bottles", "due_at": "2026-03-01T10:00:00+01:00", "tags": ["home", "shop"],
		"metadata": {"color": "red", "estimate_minutes": 10, "labels": {"shop": "corner", "aisle": "3"}}
	}`)
	id := created["todo_id"].(string)
	c.check("the default priority", created["priority"], `"medium"`)

	changed := c.data("mcp_aql_update", "update_todo", fmt.Sprintf(`{"todo_id": %q, "input": {
		"title": "Buy oat milk", "due_at": null, "tags": ["home"],
		"metadata": {"estimate_minutes": null, "labels": {"aisle": null, "brand": "any"}}
	}}`, id))
	read := c.data("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q}`, id))
	if diff := cmp.Diff(changed, read); diff != "" {
		t.Errorf("a read shows something else than the update (-update +read):\n%s", diff)
	}
	for name, want := range map[string]string{
		"title": `"Buy oat milk"`, "due_at": `null`, "tags": `["home"]`,
		"metadata": `{"color": "red", "labels": {"shop": "corner", "brand": "any"}}`,
	} {
		c.check(name, read[name], want)
	}
	for _, untouched := range []string{"todo_id", "notes", "priority", "status", "created_at"} {
		if diff := cmp.Diff(created[untouched], read[untouched]); diff != "" {
			t.Errorf("%s was not targeted (-before +after):\n%s", untouched, diff)
		}
	}
}

// REQ-UP-01, REQ-UP-02, REQ-UP-06, REQ-UP-12, REQ-VO-01.
func TestWhatIsWrongIsRefusedBeforeAnythingHappens(t *testing.T) {
	c := connect(t)
	created := c.data("mcp_aql_create", "create_todo", `{"title":"Buy milk"}`)
	id := fmt.Sprintf("%q", created["todo_id"])

	details := c.details("mcp_aql_create", "create_todo", `{"title":"Buy bread","priorty":"high"}`,
		"VALIDATION_UNKNOWN_PARAM")
	c.check("suggestion", details["suggestions"], `{"priorty":"priority"}`)
	c.details("mcp_aql_create", "create_todo", `{"title":"Buy bread","priority":"urgent"}`, "VALIDATION_INVALID_ENUM")
	c.details("mcp_aql_read", "list_todos", `{"first":-1}`, "VALIDATION_OUT_OF_RANGE")
	c.details("mcp_aql_read", "create_todo", `{"title":"Buy bread"}`, "VALIDATION_ENDPOINT_MISMATCH")
	for _, field := range []string{"todo_id", "created_at", "updated_at", "_etag"} {
		params := fmt.Sprintf(`{"todo_id":%s,"input":{%q:"2026-01-01T00:00:00Z"}}`, id, field)
		c.details("mcp_aql_update", "update_todo", params, "VALIDATION_READ_ONLY_FIELD")
	}

	list := c.data("mcp_aql_read", "list_todos", `{"fields":"full"}`)
	if diff := cmp.Diff([]any{created}, list["items"]); diff != "" {
		t.Errorf("todos (-before +after):\n%s", diff)
	}
}

func TestDeleteAsksAndThenDeletes(t *testing.T) {
	c := connect(t)
	id := c.data("mcp_aql_create", "create_todo", `{"title":"Buy milk"}`)["todo_id"].(string)
	params := fmt.Sprintf(`{"todo_id":%q}`, id)

	details := c.details("mcp_aql_delete", "delete_todo", params, "CONFIRMATION_REQUIRED")
	c.check("reasons", details["reasons"], `["Removes the todo and its history"]`)
	c.check("confirmation_message", details["confirmation_message"],
		fmt.Sprintf(`"Delete todo '%s'? This cannot be undone."`, id))
	c.data("mcp_aql_read", "get_todo", params)

	confirmed := fmt.Sprintf(`{"todo_id":%q,"confirmation_token":%q}`, id, details["confirmation_token"])
	if data := c.data("mcp_aql_delete", "delete_todo", confirmed); data != nil {
		t.Errorf("delete_todo answers %v, want null", data)
	}
	c.details("mcp_aql_read", "get_todo", params, "NOT_FOUND_RESOURCE")
	c.details("mcp_aql_delete", "delete_todo", confirmed, "TOKEN_ALREADY_USED")
}

func TestPurgeAsksAndTellsHowManyWereRemoved(t *testing.T) {
	c := connect(t)
	id := c.data("mcp_aql_create", "create_todo", `{"title":"Buy milk"}`)["todo_id"].(string)
	completed := c.data("mcp_aql_execute", "complete_todo", fmt.Sprintf(`{"todo_id":%q}`, id))
	c.check("status", completed["status"], `"done"`)

	c.details("mcp_aql_delete", "purge_completed", `{"older_than_days":0}`, "PERMISSION_DENIED") // nobody can be asked
	c.data("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q}`, id))

	service := open(t, todo.Memory)
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo"})
	if err != nil {
		t.Fatal(err)
	}
	var created todo.Todo
	aqltest.Call(t, adapter, "create_todo", `{"title":"Buy milk"}`).Decode(t, &created)
	aqltest.Call(t, adapter, "complete_todo", `{"todo_id":"`+created.TodoID+`"}`).Succeeds(t)
	var purged todo.PurgeResult
	aqltest.Confirmed(t, adapter, "purge_completed", `{"older_than_days":0}`).Decode(t, &purged)
	if purged.Purged != 1 {
		t.Errorf("%d todos were purged, want 1", purged.Purged)
	}
	aqltest.Call(t, adapter, "get_todo", `{"todo_id":"`+created.TodoID+`"}`).Fails(t, "NOT_FOUND_RESOURCE")
}

// REQ-PG-11, REQ-PG-14, REQ-RF-16: introspection describes the style of pages, by cursors, with the sizes of pages, in
// the parameters of each operation that lists todos; parameters of another style are refused.
func TestPagingIsDocumented(t *testing.T) {
	c := connect(t)
	for _, operation := range []string{"list_todos", "search_todos"} {
		details := c.data("mcp_aql_read", "introspect", fmt.Sprintf(`{"query":"operations","name":%q}`, operation))
		documented := make(map[string]string)
		for _, parameter := range details["operation"].(map[string]any)["parameters"].([]any) {
			p := parameter.(map[string]any)
			text, _ := p["description"].(string)
			documented[p["name"].(string)] = text
		}
		for name, part := range map[string]string{
			"first": "25", "last": "100", "after": "endCursor", "before": "startCursor", "sort": "created_at",
		} {
			if !strings.Contains(documented[name], part) {
				t.Errorf("%s of %s is described as %q, without %q", name, operation, documented[name], part)
			}
		}
		for _, other := range []string{"page", "page_size", "limit", "offset"} {
			if _, listed := documented[other]; listed {
				t.Errorf("%s has %s beside first and after", operation, other)
			}
			c.details("mcp_aql_read", operation, fmt.Sprintf(`{%q:1}`, other), "VALIDATION_UNKNOWN_PARAM")
		}
	}
}

// REQ-FS-01, REQ-FS-02, REQ-FS-03, REQ-FS-04, REQ-FS-05, REQ-FS-06, REQ-FS-07, REQ-FS-08, REQ-FS-09: agents get the
// fields that they ask for, and no others.
func TestFieldSelection(t *testing.T) {
	c := connect(t)
	created := c.data("mcp_aql_create", "create_todo",
		`{"title":"Buy milk","notes":"2 l","metadata":{"color":"red","labels":{"shop":"corner","aisle":"4"}}}`)
	id := created["todo_id"].(string)
	todo := func(selection string) any {
		return c.data("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q%s}`, id, selection))
	}
	c.check("fields", todo(`,"fields":["title","metadata.labels.shop","due_at"]`),
		`{"title":"Buy milk","metadata":{"labels":{"shop":"corner"}},"_etag":"W/\"1\""}`)
	c.check("preset", todo(`,"preset":"minimal"`),
		fmt.Sprintf(`{"todo_id":%q,"title":"Buy milk","status":"open","_etag":"W/\"1\""}`, id))
	c.check("union", todo(`,"preset":"minimal","fields":["notes"]`),
		fmt.Sprintf(`{"todo_id":%q,"title":"Buy milk","notes":"2 l","status":"open","_etag":"W/\"1\""}`, id))
	list := c.data("mcp_aql_read", "list_todos", `{"fields":["title"]}`)
	c.check("list", list["items"], `[{"title":"Buy milk","_etag":"W/\"1\""}]`)
	list = c.data("mcp_aql_read", "list_todos", `{"first":0}`)
	c.check("A15, T-41: a page of no items", list["items"], `[]`)
	list = c.data("mcp_aql_read", "search_todos", `{"query":"milk"}`)
	c.check("what a search shows", list["items"], fmt.Sprintf(`[{"todo_id":%q,"title":"Buy milk","status":"open"}]`, id))

	details := c.details("mcp_aql_read", "get_todo",
		fmt.Sprintf(`{"todo_id":%q,"fields":["tilte","metadata.colour","title"]}`, id), "VALIDATION_UNKNOWN_FIELD")
	c.check("unknown", details["unknown_fields"], `["tilte","metadata.colour"]`)
	c.details("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q,"fields":["Title"]}`, id),
		"VALIDATION_UNKNOWN_FIELD")
	c.details("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q,"fields":"tiny"}`, id), "VALIDATION_INVALID_ENUM")
	c.details("mcp_aql_read", "get_todo", fmt.Sprintf(`{"todo_id":%q,"fields":[]}`, id), "VALIDATION_OUT_OF_RANGE")
	c.details("mcp_aql_create", "create_todo", `{"title":"x","fields":["title"]}`, "VALIDATION_UNKNOWN_PARAM")
}
