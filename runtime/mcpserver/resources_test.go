package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// D5: the reference page and the manifest are resources, in which a caller sees what he may call.
func TestResources(t *testing.T) {
	rules := &policy.Policy{Rules: []policy.Rule{
		{Name: "bob reads", Effect: policy.Deny, Callers: []string{"bob"}, Categories: []gen.Category{gen.Delete}},
	}}
	server := newServerOf(
		t, aql.Options{HideDenied: true, Policy: rules}, Options{Bearer: &Bearer{Verify: verify}}, nil,
	)
	web := httpServer(t, server)
	for _, version := range []string{"", "2025-11-25"} {
		for token, deletes := range map[string]bool{"ann-token": true, "bob-token": false} {
			session := connectAs(t, web, token, version)
			list, err := session.ListResources(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Resources) != 2 {
				t.Errorf("%d resources", len(list.Resources))
			}
			for _, resource := range list.Resources {
				read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: resource.URI})
				if err != nil {
					t.Fatal(err)
				}
				text := read.Contents[0].Text
				if !strings.Contains(text, "get_thing") || strings.Contains(text, "delete_thing") != deletes {
					t.Errorf("protocol %q, %s reads in %s: %s", version, token, resource.URI, text)
				}
				if resource.MIMEType == "application/json" && !json.Valid([]byte(text)) {
					t.Errorf("the manifest is no JSON: %s", text)
				}
			}
		}
	}
}
