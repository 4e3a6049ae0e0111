package trees_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/trillian/extension"
	"github.com/google/trillian/server/admin"
	"github.com/google/trillian/storage/memory"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/trees"
)

// registry is that of a server whose trees are in memory.
func registry() *aql.Registry {
	storage := memory.NewAdminStorage(memory.NewTreeStorage())
	return trees.NewRegistry(admin.New(extension.Registry{AdminStorage: storage}, nil))
}

const tree = `{"tree_state":1,"tree_type":1,"display_name":"certificates","max_root_duration":{"seconds":3600}}`

func TestMessagesAreRequestsAndResults(t *testing.T) {
	a := agent.New(t, registry())
	want := map[string]string{
		"create_tree": "CREATE tree*",
		"list_trees":  "READ show_deleted",
		"get_tree":    "READ tree_id",
		"change_tree": "EXECUTE tree update_mask",
		"delete_tree": "DELETE tree_id confirmation_token",
	}
	got := a.Operations()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))
	fields := map[string]string{
		"tree_id": "integer", "tree_state": "integer", "tree_type": "integer", "display_name": "string",
		"description":      "string",
		"storage_settings": "Any", "max_root_duration": "Duration", "create_time": "Timestamp", "update_time": "Timestamp",
		"deleted": "boolean", "delete_time": "Timestamp",
	}
	if diff := cmp.Diff(fields, a.Fields("Tree")); diff != "" {
		t.Errorf("fields of a tree (-want +got):\n%s", diff)
	}
}

func TestTreesAreCreatedReadAndChanged(t *testing.T) {
	a := agent.New(t, registry())
	created, _ := a.Data("create", "create_tree", `{"tree":`+tree+`}`).(map[string]any)
	id, _ := created["tree_id"].(json.Number) // 63 random bits
	a.Check("duration", created["max_root_duration"], `{"seconds":3600}`)
	changes := `"display_name":"old certificates","max_root_duration":{"seconds":60}}`
	changed, _ := a.Data("execute", "change_tree", `{"tree":{"tree_id":`+id.String()+`,`+changes+
		`,"update_mask":{"paths":["display_name","max_root_duration"]}}`).(map[string]any)
	a.Check("name", changed["display_name"], `"old certificates"`)
	a.Check("duration", changed["max_root_duration"], `{"seconds":60}`)
	a.Check("type", changed["tree_type"], `1`)
	if diff := cmp.Diff(changed, a.Data("read", "get_tree", `{"tree_id":`+id.String()+`}`)); diff != "" {
		t.Errorf("a read shows something else than the update (-update +read):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"tree": []any{changed}}, a.Data("read", "list_trees", `{}`)); diff != "" {
		t.Errorf("trees (-want +got):\n%s", diff)
	}
	a.Refused("execute", "change_tree", `{"tree":{"tree_id":`+id.String()+`},"update_mask":{"paths":["create_time"]}}`,
		"VALIDATION_INVALID_TYPE")
}

func TestRefusals(t *testing.T) {
	a := agent.New(t, registry())
	details := a.Refused("create", "create_tree", `{"tree":{"tree_state":1,"displayname":"certificates"}}`,
		"VALIDATION_UNKNOWN_FIELD")
	if text, _ := json.Marshal(details); !strings.Contains(string(text), "display_name") {
		t.Errorf("nothing suggests display_name: %s", text)
	}
	a.Refused("create", "create_tree", `{}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create_tree", `{"tree":{"tree_state":9}}`, "VALIDATION_OUT_OF_RANGE")
	a.Refused("create", "create_tree", `{"tree":{"tree_state":1}}`, "VALIDATION_INVALID_TYPE") // the service's own check
	a.Refused("read", "get_tree", `{"tree_id":"one"}`, "VALIDATION_INVALID_TYPE")
	a.Refused("delete", "delete_tree", `{"tree_id":1}`, "CONFIRMATION_REQUIRED")
}
