package collections_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
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

// A request for nothing but the root loads no relations, unless it asks for a page of them.
func TestTheRootAloneLoadsNoRelations(t *testing.T) {
	for params, loads := range map[string]int{
		`"include":["root"]`: 0, `"include":["root"],"first":1`: 1, `"include":["root","graph.nodes"]`: 1, `"depth":1`: 1,
	} {
		o := office()
		session := officeAdapter(t, o, aql.Options{}).NewSession()
		answer := follow(t, session, `{"root":{"element_type":"task","element_name":"t1"},"direction":"outgoing",`+params+`}`)
		want := map[string]any{"element_type": "task", "element_name": "t1"}
		if diff := cmp.Diff(want, at(answer, "data", "root")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
		if len(o.Loads) != loads {
			t.Errorf("%s: %d loads instead of %d: %v", params, len(o.Loads), loads, o.Loads)
		}
	}
}

// A package without relations may have a type with the name of one that query_relationships has. Merged with a package
// that has relations, the error says which type to rename.
func TestATypeOfTheNameOfOneOfRelationshipsIsToBeRenamed(t *testing.T) {
	other := gen.NewRegistry(nil, []gen.WireType{{Name: "RelationshipNode", Kind: gen.KindObject}})
	_, err := aql.New(aql.Merge(links.NewRegistry(&links.Graph{}), other), aql.Options{Name: "links", Version: "1"})
	const want = `query_relationships has a type "RelationshipNode", and so has a package; rename that of the package`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say: %s", err, want)
	}
}
