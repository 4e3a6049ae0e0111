package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// With HideDenied each caller gets the list of the tools that he may call, in both protocol eras, and a tool that he
// does not see is one that does not exist.
func TestToolsByCaller(t *testing.T) {
	rules := &policy.Policy{Rules: []policy.Rule{
		{
			Name: "bob reads", Effect: policy.Deny, Callers: []string{"bob"},
			Categories: []gen.Category{gen.Delete, gen.Execute},
		},
	}}
	server := newServerOf(
		t, aql.Options{HideDenied: true, Policy: rules}, Options{Bearer: &Bearer{Verify: verify}}, nil,
	)
	server.mcp.AddTool(&mcp.Tool{Name: "own", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	web := httpServer(t, server)
	for _, version := range []string{"", "2025-11-25"} {
		for token, want := range map[string][]string{
			"ann-token": {"mcp_aql_delete", "mcp_aql_execute", "mcp_aql_read", "own"}, "bob-token": {"mcp_aql_read", "own"},
		} {
			session := connectAs(t, web, token, version)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if token == "bob-token" && strings.Contains(tool.Description, "delete_thing") {
					t.Errorf("bob sees %s", tool.Description)
				}
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("protocol %q, %s (-want +got):\n%s", version, token, diff)
			}
		}
		bob := connectAs(t, web, "bob-token", version)
		answer := func(tool string) string {
			_, err := bob.CallTool(t.Context(), &mcp.CallToolParams{
				Name: tool, Arguments: json.RawMessage(`{"operation":"delete_thing"}`),
			})
			if err == nil {
				t.Fatalf("bob called %s", tool)
			}
			return strings.ReplaceAll(err.Error(), tool, "TOOL")
		}
		if diff := cmp.Diff(answer("mcp_aql_deleted"), answer("mcp_aql_delete")); diff != "" {
			t.Errorf("protocol %q (-of no tool +of a hidden one):\n%s", version, diff)
		}
	}
}
