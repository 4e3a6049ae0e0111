package aql

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// An example that names a hidden field tells the caller of it; others stay.
func TestExamplesDoNotNameHiddenFields(t *testing.T) {
	paged := []gen.Param{
		{Name: "filter", Type: "ThingFilter"}, {Name: "sort", Type: "ThingSort"}, {Name: "aggregate", Type: "object"},
		{Name: "first", Type: "integer", Go: "Query.body.First"}, {Name: "fields", Type: gen.TypeSelection},
		{Name: "note", Type: "string"},
	}
	for _, tt := range []struct {
		params string
		stays  bool
	}{
		{`{"filter":{"price":1}}`, false}, {`{"filter":{"cost":1}}`, false}, {`{"filter":{"maker.rank":{"gt":1}}}`, false},
		{`{"filter":{"_or":[{"_not":{"price":1}}]}}`, false}, {`{"filter":{"title":"price"}}`, true},
		{`{"sort":{"field":"price"}}`, false}, {`{"sort":{"field":"title"}}`, true},
		{`{"aggregate":{"price":{"sum":"size"}}}`, true}, {`{"aggregate":{"a":{"sum":"price"}}}`, false},
		{`{"aggregate":{"a":{"count":true,"group_by":"_computed.worth"}}}`, false},
		{`{"fields":["title","price"]}`, false}, {`{"fields":["maker.rank"]}`, false}, {`{"fields":"minimal"}`, true},
		{`{"note":"price"}`, true}, {`{}`, true},
	} {
		definitions := gen.Definitions{
			Operations: []gen.Operation{
				{Name: "list", Returns: gen.Returns{Name: "Page"}, Params: paged, Examples: []gen.Example{{Params: tt.params}}},
			},
			Types: []gen.Type{
				{Name: "Page", Fields: []gen.Param{{Name: "items", Type: "array", Items: &gen.Param{Type: "Thing"}}}},
				{Name: "Thing", Fields: []gen.Param{
					{Name: "title", Type: "string"}, {Name: "price", Aliases: []string{"cost"}, Type: "integer"},
					{Name: "size", Type: "integer"}, {Name: "maker", Type: "Maker"},
				}, Computed: []gen.Param{{Name: "worth", Type: "integer"}}},
				{Name: "Maker", Fields: []gen.Param{{Name: "rank", Type: "integer"}}},
				{Name: "Other", Fields: []gen.Param{{Name: "title", Type: "string"}}},
			},
		}
		fieldsHidden("Thing.price Maker.rank Thing._computed.worth Other.title").leaveOut(&definitions)
		if diff := cmp.Diff(tt.stays, len(definitions.Operations[0].Examples) == 1); diff != "" {
			t.Errorf("%s: the example stays (-want +got):\n%s", tt.params, diff)
		}
	}
}
