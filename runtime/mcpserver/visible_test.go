package mcpserver

import (
	"context"
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

// Middleware of Setup that replaces the caller replaces the one who lists tools too: a list has what its reader may
// call, and a tool of the service's own with the name of a hidden one is still an error.
func TestToolsOfReplacedCaller(t *testing.T) {
	rules := &policy.Policy{Rules: []policy.Rule{{
		Name: "guests read", Effect: policy.Deny, Callers: []string{"guest"},
		Categories: []gen.Category{gen.Delete, gen.Execute},
	}}}
	as := func(subject string, also func(*mcp.Server)) Options {
		return Options{Setup: func(server *mcp.Server) {
			server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
					return next(aql.WithCaller(ctx, aql.Caller{Subject: subject}), method, request)
				}
			})
			also(server)
		}}
	}
	for subject, want := range map[string][]string{
		"guest": {"echo", "mcp_aql_read"}, "member": {"echo", "mcp_aql_delete", "mcp_aql_execute", "mcp_aql_read"},
	} {
		server := newServerOf(t, aql.Options{HideDenied: true, Policy: rules}, as(subject, func(server *mcp.Server) {
			server.AddTool(&mcp.Tool{Name: "echo", InputSchema: anyObject}, nil)
		}), nil)
		for _, version := range []string{"", "2025-11-25"} {
			list, err := inMemory(t, server, version).ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("%s, protocol %q (-want +got):\n%s", subject, version, diff)
			}
		}
		taken := newServerOf(t, aql.Options{HideDenied: true, Policy: rules}, as(subject, func(server *mcp.Server) {
			server.AddTool(&mcp.Tool{Name: "mcp_aql_delete", InputSchema: anyObject}, nil)
		}), nil)
		if taken.Err() == nil {
			t.Errorf("%s: a tool with the name of one of the adapter's is no error", subject)
		}
	}
}
