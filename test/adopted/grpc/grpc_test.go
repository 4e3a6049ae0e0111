package grpc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/grpc"
	"github.com/aqltag/aqltag/test/adopted/services/orders"
)

// A service with the generated interface of gRPC is an adapter by one line an operation (B4), and its
// statuses are codes (B3).
func TestAServiceIsAnAdapterAsItStands(t *testing.T) {
	a := agent.Connect(t, grpc.NewRegistry(new(orders.Server)))
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
		`{"order_id":"o1","customer":"Pat","lines":[{"article":"lamp","count":2}],"state":1}`)
	a.Want("execute", "cancel_order", `{"order_id":"o1","reason":"too late"}`,
		`{"order_id":"o1","customer":"Pat","lines":[{"article":"lamp","count":2}],"state":2}`)
	a.Refused("execute", "cancel_order", `{"order_id":"o1"}`, "CONFLICT_INVALID_STATE")
	a.Refused("read", "get_order", `{"order_id":"o7"}`, "NOT_FOUND_RESOURCE")
	a.Refused("create", "create_order", `{"customer":"Pat"}`, "VALIDATION_INVALID_TYPE")
	a.Refused("create", "create_order", `{"customer":"Pat","lines":[{"article":"lamp","count":"two"}]}`,
		"VALIDATION_INVALID_TYPE")
}
