package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// In discrete mode a client lists the tools page by page, also where callers see only some, and calls one with the
// parameters of its operation.
func TestDiscreteTools(t *testing.T) {
	const operations = 1200
	var handlers []gen.Handler
	for i := range operations {
		handlers = append(handlers, gen.Handler{
			Name: fmt.Sprintf("get_thing_%d", i), Category: gen.Read, Danger: gen.Safe, Description: "Gets it.",
			Params: []gen.Field{{Name: "id", Go: "ID", Type: "string"}}, Returns: "Text",
			Request: (*thing)(nil), Result: (*string)(nil),
			Call: func(_ context.Context, _ []any, request any) (any, error) { return "got " + request.(*thing).ID, nil },
		})
	}
	registry := gen.NewRegistry(handlers, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	for _, hides := range []bool{false, true} {
		adapter, err := aql.New(registry, aql.Options{Name: "things", Mode: aql.ModeDiscrete, HideDenied: hides})
		if err != nil {
			t.Fatal(err)
		}
		server := New(adapter, Options{})
		t.Cleanup(server.Close)
		session := inMemory(t, server, "")
		pages, names := 0, map[string]bool{}
		for cursor := ""; pages == 0 || cursor != ""; pages++ {
			list, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				names[tool.Name] = true
			}
			cursor = list.NextCursor
		}
		if pages < 2 || len(names) != operations+1 || !names["introspect"] || !names["get_thing_1199"] {
			t.Errorf("hides %v: %d tools on %d pages", hides, len(names), pages)
		}
		for _, tt := range []struct {
			arguments, want string
			isError         bool
		}{
			{`{"id":"7"}`, `"data":"got 7"`, false},
			{`{"operation":"get_thing_8"}`, "VALIDATION_UNKNOWN_PARAM", true},
		} {
			got, isError := call(t, session, "get_thing_7", tt.arguments)
			if !strings.Contains(got, tt.want) || isError != tt.isError {
				t.Errorf("%s: error %v, %s", tt.arguments, isError, got)
			}
		}
	}
}

// A policy that asks for a confirmation is seen in the list of tools as soon as it holds.
func TestDiscreteToolsFollowThePolicy(t *testing.T) {
	server := newServerOf(t, aql.Options{Mode: aql.ModeDiscrete}, Options{}, nil)
	session := inMemory(t, server, "")
	asks := func() bool {
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == "get_thing" {
				schema, err := json.Marshal(tool.InputSchema)
				return err == nil && strings.Contains(string(schema), "confirmation_token")
			}
		}
		t.Fatal("there is no tool get_thing")
		return false
	}
	if asks() {
		t.Error("get_thing has a token without a policy")
	}
	rules := &policy.Policy{Rules: []policy.Rule{{Name: "ask", Effect: policy.Confirm, Operations: []string{"get_thing"}}}}
	if err := server.adapter.SetPolicy(rules); err != nil {
		t.Fatal(err)
	}
	if !asks() {
		t.Error("get_thing has no token under a policy that confirms it")
	}
}
