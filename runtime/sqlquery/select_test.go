package sqlquery

import (
	"strings"
	"testing"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// An order by a field that the table has not found among those of its type runs no statement: it would read all rows
// for each page, and nobody would know. The error, which the log has, names the field.
func TestOrdersByUnknownFieldsAreRefused(t *testing.T) {
	type row struct {
		RowID string `json:"rowId" db:"row_id"`
		Size  int    `json:"size" aql:"sort"`
		Color string `aql:"sort"`
	}
	table := Must(New[row](PostgreSQL, "rows", Columns{"size": {InMemory: true}, "color": {Name: "color"}}))
	computed := []collection.Step{{Kind: collection.Computed}}
	for _, tt := range []struct {
		what   string
		fields []collection.Field // of the order
		want   string             // the field that is refused; empty: none is
	}{
		{"what identifies elements", []collection.Field{{Name: "row_id"}}, ""},
		{"a column", []collection.Field{{Name: "color"}, {Name: "row_id"}}, ""},
		{"a name that a package keeps", []collection.Field{{Name: "Color"}, {Name: "rowId"}}, ""},
		{"a field in memory", []collection.Field{{Name: "size"}, {Name: "row_id"}}, ""},
		{"a computed field", []collection.Field{{Name: "_computed.hue", Steps: computed}, {Name: "row_id"}}, ""},
		{"an unknown field", []collection.Field{{Name: "weight"}, {Name: "row_id"}}, "weight"},
		{"an unknown identifier", []collection.Field{{Name: "size"}, {Name: "key"}}, "key"},
	} {
		bound := &collection.Bound{Size: 2}
		for i := range tt.fields {
			bound.Order = append(bound.Order, collection.Key{Field: &tt.fields[i]})
		}
		var q aql.Query[row]
		(*collection.Query[row])(unsafe.Pointer(&q)).Bound = bound
		s := table.Take(&q)
		if tt.want == "" {
			if bound.Refused != nil {
				t.Errorf("%s: %v", tt.what, bound.Refused)
			}
			continue
		}
		_, err := Query(t.Context(), nil, s, nil) // which has no database to ask
		if err == nil || !strings.Contains(err.Error(), "rows cannot do: the order by "+tt.want+",") {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
}
