package gen

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Registry is a set of operations, the functions that carry them out and the types they mention. Generated NewRegistry
// functions make it, aql.New makes an adapter of it.
type Registry struct {
	operations []Bound
	types      []Type
	faults     []error
}

// Bound is an operation of a Registry, bound to the values whose methods it calls.
type Bound struct {
	Operation
	handler   *Handler
	receivers []any
}

// Request returns the type of the request struct.
func (b *Bound) Request() reflect.Type { return reflect.TypeOf(b.handler.Request).Elem() }

// Result returns the type of what the operation returns; nil if that is nothing.
func (b *Bound) Result() reflect.Type {
	if b.handler.Result == nil {
		return nil
	}
	return reflect.TypeOf(b.handler.Result).Elem()
}

// Call carries the operation out. The request is a pointer to a request struct. The result has the type that Result
// returns.
func (b *Bound) Call(ctx context.Context, request any) (result any, err error) {
	return b.handler.Call(ctx, b.receivers, request)
}

// NewRegistry makes a registry of the handlers and types that a generated file declares. receivers are the values whose
// methods the handlers call. Registry.Err reports what is wrong with them.
func NewRegistry(handlers []Handler, types []WireType, receivers ...any) *Registry {
	r := &Registry{operations: make([]Bound, len(handlers))}
	e := newExpansion(types)
	if err := e.expand(); err != nil {
		r.faults = append(r.faults, err)
	}
	r.types = e.types
	for i := range handlers {
		definition, err := e.operation(&handlers[i])
		if err != nil {
			r.faults = append(r.faults, err)
		}
		r.operations[i] = Bound{definition, &handlers[i], receivers}
	}
	return Merge(r)
}

// Merge makes one registry of several, in their order. Two operations of one name, and two different types of one name,
// are faults that Registry.Err reports.
func Merge(registries ...*Registry) *Registry {
	merged := &Registry{}
	operations, types := make(map[string]int), make(map[string]int) // name to place
	for _, registry := range registries {
		merged.faults = append(merged.faults, registry.faults...)
		merged.operations = slices.Grow(merged.operations, len(registry.operations))
		for _, o := range registry.operations {
			if i, taken := operations[o.Name]; taken {
				merged.fault("operation %q is defined twice: %s and %s", o.Name, merged.operations[i].Source, o.Source)
				continue
			}
			operations[o.Name] = len(merged.operations)
			merged.operations = append(merged.operations, o)
		}
		merged.types = slices.Grow(merged.types, len(registry.types))
		for _, t := range registry.types {
			if i, taken := types[t.Name]; taken {
				if !reflect.DeepEqual(merged.types[i], t) { // two packages may share a type
					merged.fault("two different types are called %q; rename one of them", t.Name)
				}
				continue
			}
			types[t.Name] = len(merged.types)
			merged.types = append(merged.types, t)
		}
	}
	return merged
}

func (r *Registry) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// Err returns everything that is wrong with the registry, nil if nothing is. aql.New fails with it.
func (r *Registry) Err() error { return errors.Join(r.faults...) }

// Operations returns the operations in their order. The slice is the registry's own.
func (r *Registry) Operations() []Bound { return r.operations }

// Definitions returns the definitions of the operations and types.
func (r *Registry) Definitions() Definitions {
	definitions := Definitions{Types: r.types, Operations: slices.Grow([]Operation(nil), len(r.operations))}
	for i := range r.operations {
		definitions.Operations = append(definitions.Operations, r.operations[i].Operation)
	}
	return definitions
}
