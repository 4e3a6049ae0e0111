package mcpserver

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// within returns a context that tells hooks how a call came: over which network, in which version of the protocol, and
// what its message says. Baggage is not read: nobody is to decide by it.
func within(ctx context.Context, network, version string, m *rpc.Message) context.Context {
	return aql.WithTransport(ctx, observe.Transport{
		Network: network, Protocol: known(version), RequestID: strings.TrimSuffix(strings.TrimPrefix(m.Key, `"`), `"`),
		TraceParent: m.Call.Meta.TraceParent, TraceState: m.Call.Meta.TraceState,
	})
}

// withinSDK is within for a call that came through the SDK, which does not tell its id.
func withinSDK(ctx context.Context, request *mcp.CallToolRequest) context.Context {
	t := observe.Transport{Network: networkOf(ctx), Protocol: known(request.ProtocolVersion())}
	t.TraceParent, _ = request.Params.Meta["traceparent"].(string)
	t.TraceState, _ = request.Params.Meta["tracestate"].(string)
	return aql.WithTransport(ctx, t)
}

// known returns a version of the protocol if there is one: clients may name others when they begin.
func known(version string) string {
	if slices.Contains(versions, version) {
		return version
	}
	return ""
}

// networkOf returns the network of an HTTP request; empty: ctx is that of none.
func networkOf(ctx context.Context) string {
	if local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok {
		return local.Network()
	}
	return ""
}
