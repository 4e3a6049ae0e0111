// Package orderstest tests adapters of the service orders, which are the same to agents whatever the service speaks.
package orderstest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/adopted/agent"
)

// Test calls the adapter of a new server, and counts the lines that a person wrote in the folder of the test.
func Test(t *testing.T, registry *aql.Registry) {
	t.Helper()
	a := agent.Connect(t, registry)
	got := a.Operations()
	want := map[string]string{
		"create_order": "CREATE customer lines invoice_to",
		"get_order":    "READ order_id",
		"cancel_order": "EXECUTE order_id reason",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))

	a.Want("create", "create_order", `{"customer":"Pat","lines":[{"article":"lamp","count":2}]}`,
		`{"order_id":"o1","customer":"Pat","lines":[{"article":"lamp","count":2}],"state":"STATE_OPEN"}`)
	a.Want("execute", "cancel_order", `{"order_id":"o1","reason":"too late"}`,
		`{"order_id":"o1","customer":"Pat","lines":[{"article":"lamp","count":2}],"state":"STATE_CANCELLED"}`)
	a.Refused("execute", "cancel_order", `{"order_id":"o1"}`, "CONFLICT_INVALID_STATE")
	a.Refused("read", "get_order", `{"order_id":"o7"}`, "NOT_FOUND_RESOURCE")
	a.Refused("create", "create_order", `{"customer":"Pat"}`, "VALIDATION_INVALID_TYPE")
	a.Refused("create", "create_order", `{"customer":"Pat","lines":[{"article":"lamp","count":"two"}]}`,
		"VALIDATION_INVALID_TYPE")
}
