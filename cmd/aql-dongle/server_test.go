package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/runtime/approve"
)

// answer is an answer of the server.
type answer struct {
	Success bool
	Data    struct {
		Operations []struct {
			Name     string
			Category string `json:"semantic_category"`
		}
		Protocol struct {
			Capabilities struct {
				Loop string `json:"execution_safety_loop"`
			}
		} `json:"_protocol"`
		Execution string `json:"execution_id"`
		Continue  bool
		Step      int
		Status    string
		Unblocked bool
	}
	Error struct {
		Code    string
		Details struct {
			Approval  string `json:"approval_id"`
			Challenge string `json:"challenge_id"`
		}
	}
}

// call calls an operation in the MCP server.
func (d *dongle) call(session *mcp.ClientSession, tool, operation, params string) (a answer) {
	d.Helper()
	arguments := json.RawMessage(`{"operation":"` + operation + `","params":` + params + `}`)
	result, err := session.CallTool(d.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		d.Fatal(err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
	if strings.Contains(text, d.dir) {
		d.Errorf("the agent is told where files are: %s", text)
	}
	return a
}

// REQ-SL-13: the dongle is an MCP server with the operations of the loop alone, in the families CREATE, READ and
// EXECUTE. Agents that report by themselves and tool uses that its hook judges are steps of the same execution.
func TestServer(t *testing.T) {
	d := newDongle(t, rules)
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: d.command(d.flags...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if says := session.InitializeResult().Instructions; !strings.Contains(says, "record_execution_step") {
		t.Errorf("the instructions do not tell the model to report: %s", says)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const create, read, execute = "mcp_aql_create", "mcp_aql_read", "mcp_aql_execute"
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if want := []string{create, execute, read}; !slices.Equal(names, want) {
		t.Errorf("it has the tools %q, and is to have %q", names, want)
	}
	listed := d.call(session, read, "introspect", `{"query":"operations"}`)
	var operations []string
	for _, o := range listed.Data.Operations {
		operations = append(operations, o.Category+" "+o.Name)
	}
	slices.Sort(operations)
	want := []string{
		"CREATE record_execution_step", "CREATE verify_challenge", "EXECUTE abort_execution", "EXECUTE complete_execution",
		"EXECUTE confirm_operation", "EXECUTE execute_agent", "READ introspect",
	}
	if !slices.Equal(operations, want) {
		t.Errorf("it has the operations %q, and is to have %q", operations, want)
	}
	if mode := listed.Data.Protocol.Capabilities.Loop; mode != "enforcing" {
		t.Errorf("introspection says that the loop is %q", mode)
	}
	if a := d.call(session, read, "get_execution", `{"execution_id":"exec_x"}`); a.Error.Code != "NOT_FOUND_OPERATION" {
		t.Errorf("it has get_execution: %+v", a)
	}

	agent := `{"element_name":"claude"}`
	a := d.call(session, execute, "execute_agent", agent)
	if a.Error.Code != "CONFIRMATION_REQUIRED" {
		t.Fatalf("no person is asked about a start: %+v", a)
	}
	d.vote(a.Error.Details.Approval, true)
	started := d.call(session, execute, "execute_agent", agent)
	if !started.Success {
		t.Fatalf("%+v", started)
	}
	step := d.call(session, create, "record_execution_step", `{"element_name":"claude","nextActionHint":"list files"}`)
	if !step.Data.Continue || step.Data.Step != 1 {
		t.Errorf("%+v", step)
	}
	d.passes(bash("ls", "1")) // the second step
	d.refuses(bash("rm -rf /", "2"), "is blocked")
	blocked := d.call(session, create, "record_execution_step", `{"element_name":"claude","next_action_hint":"look"}`)
	if blocked.Error.Code != "PERMISSION_DENIED" || blocked.Error.Details.Challenge == "" {
		t.Errorf("a tool use that is denied does not block the agent: %+v", blocked)
	}
	confirmed := d.call(session, execute, "confirm_operation", `{"confirmation_token":"x"}`)
	if confirmed.Error.Code != "PERMISSION_DENIED" {
		t.Errorf("an agent confirms by itself: %+v", confirmed)
	}
	_, box, _ := d.people()
	shown, err := box.Show(t.Context(), olga, d.waiting(approve.Block)[0])
	if err != nil {
		t.Fatal(err)
	}
	verified := d.call(session, create, "verify_challenge",
		`{"challenge_id":"`+blocked.Error.Details.Challenge+`","code":"`+shown.Code.Text()+`"}`)
	if !verified.Data.Unblocked {
		t.Errorf("the code of a person does not lift the block: %+v", verified)
	}
	d.passes(bash("ls", "3"))
	step = d.call(session, create, "record_execution_step", `{"element_name":"claude","next_action_hint":"list files"}`)
	if step.Data.Execution != started.Data.Execution || step.Data.Step != 4 {
		t.Errorf("the tool uses that passed are no steps of %s: %+v", started.Data.Execution, step)
	}
	if a := d.call(session, execute, "complete_execution", agent); a.Data.Status != "completed" {
		t.Errorf("%+v", a)
	}
	d.refuses(bash("ls", "4"), "the start of agent 'claude'")
}

// The dongle says at once that it has no telemetry.
func TestFlagsThatTheDongleRefuses(t *testing.T) {
	d := newDongle(t, rules)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-metrics", "127.0.0.1:0"}, "this service has no telemetry"},
		{[]string{"-otel"}, "this service has no telemetry"},
	} {
		r := d.run("", slices.Concat(d.flags, tt.args)...)
		if r.code == exitPassed || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%v: the exit code is %d, and the dongle says %s", tt.args, r.code, r.stderr)
		}
	}
}
