package collections_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/test/collections/merged/north"
	"github.com/aqltag/aqltag/test/collections/merged/south"
)

// Packages that share a Go type and are merged compute its fields each with their own functions and receivers.
func TestMergedPackagesComputeFieldsOfASharedTypeEachOnItsOwn(t *testing.T) {
	registry := aql.Merge(north.NewRegistry(&north.Store{Owner: "nora"}), south.NewRegistry(&south.Depot{Owner: "sue"}))
	hide := &policy.Policy{Rules: []policy.Rule{{Name: "phones", Hide: []string{"Owner.phone"}}}}
	for _, test := range []struct {
		operation string
		policy    *policy.Policy
		want      string
	}{
		{"list_north", nil, `[{"_computed":{"owner":{"name":"nora","phone":"555"}},"good_id":"n"}]`},
		{"list_south", nil, `[{"_computed":{"owner":{"name":"sue","phone":"555"}},"good_id":"s"}]`},
		{"list_north", hide, `[{"_computed":{"owner":{"name":"nora"}},"good_id":"n"}]`},
		{"list_south", hide, `[{"_computed":{"owner":{"name":"sue"}},"good_id":"s"}]`},
	} {
		adapter, err := aql.New(registry, aql.Options{Name: "goods", Version: "1", Policy: test.policy})
		if err != nil {
			t.Fatal(err)
		}
		answer := send(t, adapter.NewSession(), test.operation, `{"fields":["good_id","_computed.owner"]}`)
		data, _ := answer["data"].(map[string]any)
		items, err := json.Marshal(data["items"])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(items)); diff != "" {
			t.Errorf("%s: %v: (-want +got):\n%s", test.operation, answer, diff)
		}
	}
}
