package aql

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// leaveOutOfRelations leaves out the relations that are hidden themselves or would show a hidden field: those whose key
// it is, with those that lead back and show it from the other end, and those of types whose resources it identifies.
func (h hiddenFields) leaveOutOfRelations(definitions *gen.Definitions) {
	if len(h) == 0 {
		return
	}
	identified := func(typ string) bool {
		t, known := definitions.Type(typ)
		return known && !slices.ContainsFunc(gen.Identifiers(t.Fields), func(i int) bool {
			return h.has(typ, t.Fields[i].Name)
		})
	}
	keyHidden := func(r *gen.Relation) bool {
		return h.has(r.Of, r.By) || slices.ContainsFunc(definitions.Relations, func(other gen.Relation) bool {
			return h.has(other.Of, other.By) && (other.LeadsBack(r) || r.LeadsBack(&other))
		})
	}
	var left []gen.Relation
	for _, r := range definitions.Relations {
		if !h.has(r.Of, r.Name) && !keyHidden(&r) && identified(r.Of) && identified(r.Target) {
			left = append(left, r)
		}
	}
	definitions.Relations = left
}

// addRelations adds the relations that requests cannot select since definitions do not have them.
func (h hiddenFields) addRelations(all, definitions *gen.Definitions) {
	for i := range all.Relations {
		r := &all.Relations[i]
		if !h.has(r.Of, r.Name) && !slices.ContainsFunc(definitions.Relations, func(left gen.Relation) bool {
			return left.Of == r.Of && left.Name == r.Name
		}) {
			h[r.Of] = append(h[r.Of], r.Name)
		}
	}
}
