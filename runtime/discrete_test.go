package aql

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// In discrete mode each operation is a tool, whose arguments are the parameters.
func TestDiscreteMode(t *testing.T) {
	f := newFixture(t, Options{Mode: ModeDiscrete, Prefix: "my_"})
	session := f.adapter.NewSession()
	for _, tt := range []struct {
		name, tool, arguments string
		want                  string
		isError               bool
	}{
		{"parameters", "my_create_note", `{"title":"Tea"}`, `{"success":true,"data":"Tea"`, false},
		{"metadata", "my_create_note", `{"title":"Tea","_meta":{"progressToken":1}}`, `{"success":true,"data":"Tea"`, false},
		{"no arguments", "my_nothing", ``, `{"success":true,"data":null`, false},
		{"null for no arguments", "my_nothing", ` null `, `{"success":true,"data":null`, false},
		{"a required parameter is absent", "my_create_note", `{}`, `"VALIDATION_MISSING_PARAM"`, true},
		{"an unknown parameter", "my_create_note", `{"title":"Tea","titel":"Tea"}`, `"VALIDATION_UNKNOWN_PARAM"`, true},
		{"the envelope is not known", "my_create_note", `{"operation":"create_note","params":{"title":"Tea"}}`,
			`"VALIDATION_`, true},
		{"another operation is not reached", "my_get_note", `{"operation":"delete_note","note_id":"1"}`,
			`"VALIDATION_UNKNOWN_PARAM"`, true},
		{"a batch is not known", "my_get_note", `{"operations":[{"operation":"get_note","params":{"note_id":"1"}}]}`,
			`"VALIDATION_`, true},
		{"a list", "my_create_note", `[]`, `"VALIDATION_INVALID_TYPE"`, true},
		{"no JSON", "my_create_note", `{"title":`, `"VALIDATION_MALFORMED_JSON"`, true},
		{"two values", "my_create_note", `{"title":"Tea"}{}`, `"VALIDATION_MALFORMED_JSON"`, true},
		{"an unknown tool", "create_note", `{"title":"Tea"}`, `Unknown tool: 'create_note'`, true},
		{"the tool of another mode", "my_mcp_aql", `{"operation":"get_note"}`, `Unknown tool: 'my_mcp_aql'`, true},
		{"introspect", "my_introspect", `{"query":"operations","name":"get_note"}`, `"mcpTool":"my_get_note"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := session.Call(context.Background(), tt.tool, []byte(tt.arguments))
			if !strings.Contains(string(reply.JSON), tt.want) || reply.IsError != tt.isError {
				t.Errorf("error %v, want %v: %s; want %s", reply.IsError, tt.isError, reply.JSON, tt.want)
			}
		})
	}
	if diff := cmp.Diff([]string{"Tea", "Tea"}, f.ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
}

// The gate is the same in discrete mode: the tool is called again with the token.
func TestDiscreteModeConfirms(t *testing.T) {
	f := newFixture(t, Options{Mode: ModeDiscrete})
	session := f.adapter.NewSession()
	reply := session.Call(context.Background(), "delete_note", []byte(`{"note_id":"1"}`))
	var failure struct {
		Error struct {
			Code    string
			Details struct {
				Token string `json:"confirmation_token"`
			}
		}
	}
	if err := json.Unmarshal(reply.JSON, &failure); err != nil || failure.Error.Code != "CONFIRMATION_REQUIRED" ||
		failure.Error.Details.Token == "" || len(f.ran) > 0 {
		t.Fatalf("%v: %s; ran %v", err, reply.JSON, f.ran)
	}
	request := `{"note_id":"1","confirmation_token":"` + failure.Error.Details.Token + `"}`
	if reply = session.Call(context.Background(), "delete_note", []byte(request)); reply.IsError || len(f.ran) != 1 {
		t.Errorf("%s; ran %v", reply.JSON, f.ran)
	}
}

// Tools tell what clients ask people about: a title, whether the operation changes or removes something, and its
// parameters alone.
func TestDiscreteTools(t *testing.T) {
	f := newFixture(t, Options{Mode: ModeDiscrete})
	tools := f.adapter.Tools()
	if len(tools) != 10 || tools[0].Name != "introspect" {
		t.Fatalf("%d tools, the first is %s", len(tools), tools[0].Name)
	}
	find := func(name string) describe.Tool {
		return tools[slices.IndexFunc(tools, func(tool describe.Tool) bool { return tool.Name == name })]
	}
	drop, get := find("delete_note"), find("get_note")
	if drop.Title != "Delete note" || !drop.Destructive || drop.ReadOnly || get.Destructive || !get.ReadOnly {
		t.Errorf("got %+v and %+v", drop, get)
	}
	if !strings.Contains(drop.Description, "confirmation required") ||
		!strings.Contains(string(drop.InputSchema), `"confirmation_token"`) {
		t.Errorf("got %s %s", drop.Description, drop.InputSchema)
	}
	const want = `{"type":"object","properties":{"note_id":{"description":"Which note","type":"string"}},` +
		`"additionalProperties":false,"required":["note_id"]}`
	if diff := cmp.Diff(want, string(get.InputSchema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if got := f.adapter.Tool("get_note"); got != "get_note" {
		t.Errorf("the tool of get_note is %s", got)
	}
}

// The protocol knows no discrete mode, and it has no batches: _protocol says so.
func TestDiscreteModeIsAnExtension(t *testing.T) {
	f := newFixture(t, Options{Mode: ModeDiscrete})
	reply := f.adapter.NewSession().Call(context.Background(), "introspect", []byte(`{"query":"operations"}`))
	for _, want := range []string{`"discrete_mode"`, `"batch":false`} {
		if !strings.Contains(string(reply.JSON), want) {
			t.Errorf("%s is not in %s", want, reply.JSON)
		}
	}
	if strings.Contains(string(reply.JSON), `"mode":`) {
		t.Errorf("a mode is named in %s", reply.JSON)
	}
}

// With HideDenied, what a caller may not call is no tool for him.
func TestDiscreteModeHidesWhatIsDenied(t *testing.T) {
	nothingDone := func(context.Context, *noteRequest) (string, error) { return "", nil }
	registry := gen.NewRegistry([]gen.Handler{
		noteOperation("get_note", gen.Read, gen.Safe, nothingDone, noteID),
		noteOperation("delete_note", gen.Delete, gen.Destructive, nothingDone, noteID),
	}, noteTypes)
	rules := parsePolicy(t, "version: 1\ndefault: allow\nrules:\n"+
		"  - {name: x, effect: deny, operations: ['delete_*'], callers: [bob]}\n")
	adapter, err := New(registry, Options{Mode: ModeDiscrete, HideDenied: true, Policy: rules})
	if err != nil {
		t.Fatal(err)
	}
	for caller, want := range map[string]string{"ann": "introspect get_note delete_note", "bob": "introspect get_note"} {
		ctx := WithCaller(context.Background(), Caller{Subject: caller})
		var names []string
		for _, tool := range adapter.ToolsFor(ctx) {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff(want, strings.Join(names, " ")); diff != "" {
			t.Errorf("tools of %s (-want +got):\n%s", caller, diff)
		}
		reply := adapter.NewSession().Call(ctx, "delete_note", []byte(`{"note_id":"1"}`))
		if unknown := strings.Contains(string(reply.JSON), "Unknown tool"); unknown != (caller == "bob") {
			t.Errorf("%s: %s", caller, reply.JSON)
		}
	}
}
