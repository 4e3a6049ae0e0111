package gen

import (
	"context"
	"reflect"
	"slices"
)

// Relation leads from the values of one type to those of another. Generated code declares it for an //aql:relation
// directive.
type Relation struct {
	Of          string   // type of the values that have it
	Name        string   // in that type
	By          string   // name of the field with the key
	Target      string   // type of the values that it leads to
	Many        bool     // it leads to any number of values, and not to one at most
	To          string   // READ operation that an agent would call instead: rights to it are rights to the relation
	Param       string   // parameter of To that takes the key; empty: none does
	Type        string   // relationship type, such as references; empty: query_relationships does not follow it
	Inverse     string   // relation of Target that leads back; empty: none is declared
	Presets     []string // field-selection presets that it belongs to; none, if only paths name it
	Opaque      bool     // requests cannot select it, since the values at one of its ends are messages with a Codec
	Description string

	// Receivers are the places of the receivers that the loader uses; nil: it uses all.
	Receivers []int
	// Loader loads the values: a pointer to an aql.Loader.
	Loader any
}

// BoundRelation is a relation of a Registry, bound to the values whose method loads it.
type BoundRelation struct {
	Relation
	receivers []any
	choices   []Choice // of the receivers, for each load; nil: receivers has them
}

// LoadWith returns the receivers with which one load goes on.
func (b *BoundRelation) LoadWith(ctx context.Context) ([]any, error) {
	if b.choices != nil {
		return choose(ctx, b.choices)
	}
	return b.receivers, nil
}

// Relate adds relations between the types of a registry that NewRegistry or NewRegistryFor has made, and returns the
// registry.
func (r *Registry) Relate(relations []Relation) *Registry {
	for i := range relations {
		bound := BoundRelation{Relation: relations[i], receivers: r.receivers}
		if r.choices != nil {
			bound.choices = usedOf(r.choices, relations[i].Receivers)
		}
		r.relations = append(r.relations, bound)
	}
	return r
}

// Relations returns the relations in their order. The slice is the registry's own.
func (r *Registry) Relations() []BoundRelation { return r.relations }

// Extend returns a copy of the registry with one more operation, which handler carries out, and its types.
func (r *Registry) Extend(handler *Handler, o Operation, types []Type) *Registry {
	m := newMerger(len(r.operations)+1, len(r.types)+len(types))
	m.description, m.codecs, m.relations = r.description, r.codecs, r.relations
	m.faults = slices.Clone(r.faults)
	for i := range r.operations {
		m.addOperation(&r.operations[i])
	}
	for i := range r.types {
		m.addType(&r.types[i])
	}
	m.addOperation(&Bound{Operation: o, handler: handler})
	for i := range types {
		if at, taken := m.typeAt[types[i].Name]; taken && !reflect.DeepEqual(&m.types[at], &types[i]) {
			m.fault("%s has a type %q, and so has a package; rename that of the package", o.Name, types[i].Name)
			continue
		}
		m.addType(&types[i])
	}
	return m.Registry
}
