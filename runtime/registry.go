// Package aql is the run time of adapters made with aql-tag: it takes the bytes of an MCP-AQL request, validates them
// against the definitions that the generator found in Go source, asks before anything destructive, calls the handler and
// answers in bytes. Generated code and main functions are its callers; the MCP binding only pipes.
package aql

import (
	"context"
	"fmt"
	"reflect"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/wire"
)

// Operation ties the definition of an operation to the generated code that decodes its requests and calls its handler.
type Operation struct {
	Definition model.Operation
	NewCall    func() Call
}

// Call is one request to one operation. Generated code implements it; a Call is used once, by one goroutine.
type Call interface {
	// Member decodes the value of the member at which r stands into the request. It returns false, with the value not
	// read, when the operation has no parameter of that name.
	Member(r *wire.Reader) bool
	// Complete reports the required parameters that are absent and fills in the defaults of the others.
	Complete(r *wire.Reader)
	// Invoke calls the handler and writes what it returns. When it returns an error, w is discarded.
	Invoke(ctx context.Context, w *wire.Writer) error
}

// Registry is a set of operations and the types they mention. Generated NewRegistry functions make it.
type Registry struct {
	operations []Operation
	types      []model.Type
	faults     []error
}

// NewRegistry makes a registry. Faults, such as two operations of one name, surface in New.
func NewRegistry(operations []Operation, types []model.Type) *Registry {
	return Merge(&Registry{operations: operations, types: types})
}

// Merge makes one registry of several, in their order. Two operations of one name, or two different types of one name,
// are faults that surface in New with both positions (requirements REQ-NM-07).
func Merge(registries ...*Registry) *Registry {
	merged := &Registry{}
	sources := make(map[string]string)
	types := make(map[string]model.Type)
	for _, registry := range registries {
		merged.faults = append(merged.faults, registry.faults...)
		for _, operation := range registry.operations {
			name, source := operation.Definition.Name, operation.Definition.Source
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
func (r *Registry) Definitions() model.Adapter {
	adapter := model.Adapter{Types: r.types}
	for _, operation := range r.operations {
		adapter.Operations = append(adapter.Operations, operation.Definition)
	}
	return adapter
}

// sameType reports whether two definitions of one name are the same, as when two packages share a type.
func sameType(a, b model.Type) bool { return reflect.DeepEqual(a, b) }
