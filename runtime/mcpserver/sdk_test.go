package mcpserver

import (
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// D1: what is answered in front of the SDK has to be looked at again when the SDK speaks a new version of the protocol:
// the metadata of a call, its headers over HTTP, and what is in an answer.
func TestVersionsOfTheProtocol(t *testing.T) {
	want := []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	if got := mcp.SupportedProtocolVersions(); !slices.Equal(got, want) {
		t.Errorf("the SDK speaks %v; compare with it how client.go, direct.go and webrequest.go read a call", got)
	}
}

// D1: middleware is seen, so that calls are not answered in front of it, whenever it is added before serving. A new
// form of the SDK in which it could not be seen leaves all calls to the SDK, and fails here.
func TestMiddlewareIsSeen(t *testing.T) {
	nothing := func(*mcp.Server) {}
	if newDirect(newServer(t, Options{Setup: nothing}, nil)) == nil {
		t.Error("calls go to the SDK, although there is no middleware")
	}
	if newDirect(newServer(t, Options{Setup: throughMiddleware}, nil)) != nil {
		t.Error("calls are answered in front of middleware of Setup")
	}
	later := newServer(t, Options{}, nil)
	throughMiddleware(later.mcp)
	if newDirect(later) != nil {
		t.Error("calls are answered in front of middleware that was added after New")
	}
}
