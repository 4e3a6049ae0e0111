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

const tree = `{"tree_state":"ACTIVE","tree_type":"LOG","display_name":"certificates","max_root_duration":"3600s"}`

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
		"tree_id": "string", "tree_state": "TreeState", "tree_type": "TreeType", "display_name": "string",
		"description": "string", "storage_settings": "object", "max_root_duration": "string", "create_time": "string",
		"update_time": "string", "deleted": "boolean", "delete_time": "string",
	}
	if diff := cmp.Diff(fields, a.Fields("Tree")); diff != "" {
		t.Errorf("fields of a tree (-want +got):\n%s", diff)
	}
}

func TestTreesAreCreatedReadAndChanged(t *testing.T) {
	a := agent.New(t, registry())
	created, _ := a.Data("create", "create_tree", `{"tree":`+tree+`}`).(map[string]any)
	id, _ := created["tree_id"].(string) // 63 random bits
	a.Check("duration", created["max_root_duration"], `"3600s"`)
	changes := `"display_name":"old certificates","max_root_duration":"60s"}`
	changed, _ := a.Data("execute", "change_tree", `{"tree":{"tree_id":"`+id+`",`+changes+
		`,"update_mask":"displayName,maxRootDuration"}`).(map[string]any)
	a.Check("name", changed["display_name"], `"old certificates"`)
	a.Check("duration", changed["max_root_duration"], `"60s"`)
	a.Check("type", changed["tree_type"], `"LOG"`)
	if diff := cmp.Diff(changed, a.Data("read", "get_tree", `{"tree_id":"`+id+`"}`)); diff != "" {
		t.Errorf("a read shows something else than the update (-update +read):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"tree": []any{changed}}, a.Data("read", "list_trees", `{}`)); diff != "" {
		t.Errorf("trees (-want +got):\n%s", diff)
	}
	a.Refused("execute", "change_tree", `{"tree":{"tree_id":"`+id+`"},"update_mask":"createTime"}`,
		"VALIDATION_INVALID_TYPE")
}

func TestRefusals(t *testing.T) {
	a := agent.New(t, registry())
	details := a.Refused("create", "create_tree", `{"tree":{"tree_state":"ACTIVE","displayname":"certificates"}}`,
		"VALIDATION_UNKNOWN_FIELD")
	if text, _ := json.Marshal(details); !strings.Contains(string(text), "display_name") {
		t.Errorf("nothing suggests display_name: %s", text)
	}
	a.Refused("create", "create_tree", `{}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create_tree", `{"tree":{"tree_state":"9"}}`, "VALIDATION_INVALID_ENUM")
	// the service's own check
	a.Refused("create", "create_tree", `{"tree":{"tree_state":"ACTIVE"}}`, "VALIDATION_INVALID_TYPE")
	a.Refused("read", "get_tree", `{"tree_id":"one"}`, "VALIDATION_INVALID_TYPE")
	a.Refused("delete", "delete_tree", `{"tree_id":1}`, "CONFIRMATION_REQUIRED")
}
