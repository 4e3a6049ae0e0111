package front

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// D8, REQ-RS-07: errors of the SDK have a code of JSON-RPC, name no Go types, and do not repeat what was sent.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		name string
		sdk  error
		want jsonrpc.Error
	}{
		{
			"a request before initialize",
			&jsonrpc.Error{Message: `method "tools/list" is invalid during session initialization`},
			jsonrpc.Error{Code: -32600, Message: "the session has not begun; send 'initialize' first"},
		},
		{
			"a second initialize",
			&jsonrpc.Error{Message: `duplicate "initialize" received`},
			jsonrpc.Error{
				Code: -32600, Message: "the session has begun already; 'initialize' is its first request, and only that",
			},
		},
		{
			"an error that has no code",
			&jsonrpc.Error{Message: "the tool failed", Data: []byte(`{"a":1}`)},
			jsonrpc.Error{Code: -32603, Message: "the tool failed", Data: []byte(`{"a":1}`)},
		},
		{
			"an error of Go",
			errors.New("the tool failed"),
			jsonrpc.Error{Code: -32603, Message: "the tool failed"},
		},
		{
			"an error of Go around one of JSON-RPC",
			fmt.Errorf("no: %w", &jsonrpc.Error{Code: -32601, Message: "x"}),
			jsonrpc.Error{Code: -32601, Message: "x"},
		},
		{
			"params of another form",
			&jsonrpc.Error{Code: -32602, Message: `handling 'tools/list': invalid params: unmarshaling "5" into a *mcp.X`},
			jsonrpc.Error{Code: -32602, Message: "params of 'tools/list' are not valid"},
		},
		{
			"no params",
			&jsonrpc.Error{Code: -32600, Message: `handling 'tools/call': invalid request: missing required "params"`},
			jsonrpc.Error{Code: -32600, Message: `handling 'tools/call': invalid request: missing required "params"`},
		},
		{
			"an error that may stay",
			&jsonrpc.Error{Code: -32601, Message: `method not found: "x"`, Data: []byte(`1`)},
			jsonrpc.Error{Code: -32601, Message: `method not found: "x"`, Data: []byte(`1`)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *jsonrpc.Error
			if !errors.As(Plain(tt.sdk), &got) {
				t.Fatal("no error of JSON-RPC")
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
