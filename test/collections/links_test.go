package collections_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/links"
)

// A resource whose key is behind an embedded pointer that is nil leads nowhere.
func TestAKeyBehindANilPointerLeadsNowhere(t *testing.T) {
	graph := &links.Graph{Nodes: map[string]*links.Node{
		"a": {NodeID: "a", Way: &links.Way{Link: &links.Link{NextID: "b"}}},
		"b": {NodeID: "b", Way: &links.Way{Link: &links.Link{NextID: "c"}}},
		"c": {NodeID: "c", Way: &links.Way{}},
		"d": {NodeID: "d"},
	}}
	adapter, err := aql.New(links.NewRegistry(graph), aql.Options{Name: "links", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string][]string{
		"a": {"1 outgoing extends node:b (node:a extends node:b)", "2 outgoing extends node:c (node:b extends node:c)"},
		"c": {}, "d": {},
	} {
		params := `{"root":{"element_type":"node","element_name":"` + root + `"},"direction":"outgoing","depth":3}`
		if diff := cmp.Diff(want, found(t, follow(t, adapter.NewSession(), params))); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", root, diff)
		}
	}
}
