package aql

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// leaveOutOfRelations leaves out the relations that would show a hidden field: those whose key it is, and those of
// types whose resources it identifies.
func (h hiddenFields) leaveOutOfRelations(definitions *gen.Definitions) {
	identified := func(typ string) bool {
		t, known := definitions.Type(typ)
		return known && !slices.ContainsFunc(gen.Identifiers(t.Fields), func(i int) bool {
			return h.has(typ, t.Fields[i].Name)
		})
	}
	var left []gen.Relation
	for _, r := range definitions.Relations {
		if !h.has(r.Of, r.By) && identified(r.Of) && identified(r.Target) {
			left = append(left, r)
		}
	}
	definitions.Relations = left
}
