package aql

import (
	"fmt"
	"reflect"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/gen/table"
)

// Registry is a set of operations and the types they mention. Generated NewRegistry functions make it.
type Registry struct {
	operations []entry
	types      []gen.Type
	faults     []error
}

// NewRegistry makes a registry of operations and the types they mention. Faults, such as two operations of one name,
// surface in New.
func NewRegistry(operations []Operation, types []Type) *Registry {
	r := &Registry{operations: make([]entry, len(operations))}
	var err error
	if r.types, err = table.Types(types); err != nil {
		r.faults = append(r.faults, err)
	}
	index := table.IndexOf(r.types)
	for i, o := range operations {
		r.operations[i].Operation = o
		if r.operations[i].definition, err = o.Definition.Definition(index); err != nil {
			r.faults = append(r.faults, err)
		}
	}
	return Merge(r)
}

// Merge makes one registry of several, in their order. Two operations of one name, or two different types of one name,
// are faults that surface in New with both positions (requirements REQ-NM-07).
func Merge(registries ...*Registry) *Registry {
	merged := &Registry{}
	sources := make(map[string]string)
	types := make(map[string]gen.Type)
	for _, registry := range registries {
		merged.faults = append(merged.faults, registry.faults...)
		for _, operation := range registry.operations {
			name, source := operation.definition.Name, operation.definition.Source
			if first, taken := sources[name]; taken {
				merged.faults = append(merged.faults, fmt.Errorf("operation %q is defined twice: %s and %s", name, first, source))
				continue
			}
			sources[name] = source
			merged.operations = append(merged.operations, operation)
		}
		for _, t := range registry.types {
			if first, taken := types[t.Name]; taken {
				if !sameType(first, t) {
					merged.faults = append(merged.faults, fmt.Errorf("two different types are called %q; rename one of them", t.Name))
				}
				continue
			}
			types[t.Name] = t
			merged.types = append(merged.types, t)
		}
	}
	return merged
}

// Definitions returns the definitions the registry holds, for exports and tests.
func (r *Registry) Definitions() gen.Adapter {
	adapter := gen.Adapter{Types: r.types}
	for _, operation := range r.operations {
		adapter.Operations = append(adapter.Operations, operation.definition)
	}
	return adapter
}

// sameType reports whether two definitions of one name are the same, as when two packages share a type.
func sameType(a, b gen.Type) bool { return reflect.DeepEqual(a, b) }
