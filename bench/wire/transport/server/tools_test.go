package main

import (
	"context"
	"maps"
	"slices"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// D2: the SDK's server has the tools of our discrete mode, but for introspect, with the same parameters.
func TestDiscreteToolsAreThoseOfThePeer(t *testing.T) {
	ours, err := newServer(aql.ModeDiscrete)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ours.Close)
	sdk := newSDK()
	got := parameters(t, func(ctx context.Context, peer mcp.Transport) error { return sdk.Run(ctx, peer) })
	want := parameters(t, ours.Run)
	delete(want, "introspect")
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
		t.Errorf("(-aql-tag +SDK):\n%s", diff)
	}
}

// parameters returns the names of the parameters of a server's tools.
func parameters(t *testing.T, serve func(context.Context, mcp.Transport) error) map[string][]string {
	t.Helper()
	serverSide, clientSide := mcp.NewInMemoryTransports()
	go serve(t.Context(), serverSide) //nolint:errcheck // it ends with the test
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench"}, nil).Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // all is read
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for _, tool := range list.Tools {
		schema, _ := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		all[tool.Name] = slices.Sorted(maps.Keys(properties))
	}
	return all
}
