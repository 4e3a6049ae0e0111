package collections_test

import (
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/links"
)

// A resource in a field of another one has no relations, though its type has them where a relation leads to it: they
// are not selected, a refusal does not name them, and introspection says so.
func TestResourcesInFieldsHaveNoRelations(t *testing.T) {
	graph := &links.Graph{Nodes: map[string]*links.Node{
		"a": {NodeID: "a", Way: &links.Way{Link: &links.Link{NextID: "b"}}},
		"b": {NodeID: "b", Way: &links.Way{Link: &links.Link{NextID: "a"}}},
	}}
	adapter, err := aql.New(links.NewRegistry(graph), aql.Options{Name: "links", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, request string
		want          string // is in the answer
		absent        string // is not; empty: nothing
	}{
		{
			"behind a relation", `{"operation":"get_trip","params":{"trip_id":"t","fields":["end.next.node_id"]}}`,
			`"data":{"end":{"next":{"node_id":"a"}}}`, "",
		},
		{
			"in a field", `{"operation":"get_trip","params":{"trip_id":"t","fields":["begin.next.node_id"]}}`,
			`"valid_fields":["begin.node_id","begin.next_id"]`, `"begin.next"`,
		},
		{
			"all of it", `{"operation":"get_trip","params":{"trip_id":"t","fields":["begin"]}}`,
			`"data":{"begin":{"node_id":"a","next_id":"b"}}`, "",
		},
		{
			"the parameter", `{"operation":"introspect","params":{"query":"operations","name":"get_trip"}}`,
			"Relations, which only these name: end", "next",
		},
		{
			"the resource", `{"operation":"introspect","params":{"query":"types","name":"Node"}}`,
			`{"name":"next","type":"Node"`, "",
		},
		{
			"the type of fields", `{"operation":"introspect","params":{"query":"types","name":"FieldSelection"}}`,
			"a.b is b in a, which has no relations there; relation.b is b in what it leads to", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := read(t, adapter.NewSession(), tt.request)
			if !strings.Contains(answer, tt.want) || tt.absent != "" && strings.Contains(answer, tt.absent) {
				t.Errorf("%s\nis without %s, or has %s", answer, tt.want, tt.absent)
			}
		})
	}
}
