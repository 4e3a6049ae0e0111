package gen

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Registry is a set of operations, the functions that carry them out and the types they mention. Generated NewRegistry
// functions make it, aql.New makes an adapter of it.
type Registry struct {
	description string
	operations  []Bound
	types       []Type
	faults      []error
	merged      []*Registry // what Merge made it of, each of one package
	codecs      []Codec
	relations   []BoundRelation
	receivers   []any    // of NewRegistry, for Relate
	choices     []Choice // of NewRegistryFor, for Relate
}

// Bound is an operation of a Registry, bound to the values whose methods it calls.
type Bound struct {
	Operation
	handler   *Handler
	receivers []any
	choices   []Choice // of the receivers, for each call; nil: receivers has them
	every     []Choice // of all receivers, whether or not the handler uses them
	computed  []Computed
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
	receivers := b.receivers
	if b.choices != nil {
		if receivers, err = choose(ctx, b.choices); err != nil {
			return nil, err
		}
	}
	return b.handler.Call(ctx, receivers, request)
}

// NewRegistry makes a registry of the handlers and types that a generated file declares. receivers are the values whose
// methods the handlers call. Registry.Err reports what is wrong with them.
func NewRegistry(handlers []Handler, types []WireType, receivers ...any) *Registry {
	r := newRegistry(handlers, types, func(h *Handler, o Operation) Bound {
		return Bound{Operation: o, handler: h, receivers: receivers}
	})
	r.receivers = receivers
	return r
}

// newRegistry makes a registry of handlers, which bind binds to their receivers.
func newRegistry(handlers []Handler, types []WireType, bind func(*Handler, Operation) Bound) *Registry {
	e := newExpansion(types)
	fault := e.expand()
	m := newMerger(len(handlers), len(e.types))
	if fault != nil {
		m.faults = append(m.faults, fault)
	}
	for i := range e.types {
		m.addType(&e.types[i])
	}
	for i := range handlers {
		definition, err := e.operation(&handlers[i])
		if err != nil {
			m.faults = append(m.faults, err)
		}
		bound := bind(&handlers[i], definition)
		bound.computed = e.computedOf(definition.Returns.Name)
		m.addOperation(&bound)
	}
	return m.Registry
}

// About says what the service is, and returns the registry. Generated code calls it with the first sentence of the
// package comment; aql.Options.Description counts more.
func (r *Registry) About(description string) *Registry {
	r.description = description
	return r
}

// Merge makes one registry of several, in their order. Two operations of one name are a fault that Registry.Err
// reports, and so are two relations of one name of a type. Qualify renames different types of one name. The
// descriptions follow one another.
func Merge(registries ...*Registry) *Registry {
	if len(registries) == 1 {
		return registries[0]
	}
	var parts []*Registry
	for _, r := range registries {
		if r.merged == nil {
			parts = append(parts, r)
		} else {
			parts = append(parts, r.merged...)
		}
	}
	qualified, fault := qualify(parts)
	operations, types := 0, 0
	for _, r := range qualified {
		operations, types = operations+len(r.operations), types+len(r.types)
	}
	m := newMerger(operations, types)
	m.merged = parts
	for _, r := range registries {
		m.description = strings.TrimSpace(m.description + " " + r.description)
	}
	if fault != nil {
		m.faults = append(m.faults, fault)
	}
	for _, r := range qualified {
		m.faults = append(m.faults, r.faults...)
		m.With(r.codecs...)
		for i := range r.operations {
			m.addOperation(&r.operations[i])
		}
		for i := range r.types {
			m.addType(&r.types[i])
		}
		for i := range r.relations {
			m.addRelation(&r.relations[i])
		}
	}
	return m.Registry
}

// qualify returns registries in which types of one name are equal.
func qualify(registries []*Registry) ([]*Registry, error) {
	owner := make(map[string]int)
	shared := false
	for i, r := range registries {
		for k := range r.types {
			first, taken := owner[r.types[k].Name]
			if shared = shared || taken && first != i; shared {
				break
			}
			owner[r.types[k].Name] = i
		}
	}
	if !shared {
		return registries, nil
	}
	definitions := make([]Definitions, len(registries))
	for i, r := range registries {
		definitions[i] = r.Definitions()
	}
	definitions, err := Qualify(definitions)
	if err != nil {
		return registries, err
	}
	out := make([]*Registry, len(registries))
	for i, r := range registries {
		renamed := &Registry{
			operations: slices.Clone(r.operations), types: definitions[i].Types, faults: r.faults, codecs: r.codecs,
			relations: slices.Clone(r.relations),
		}
		for k := range renamed.relations {
			renamed.relations[k].Relation = definitions[i].Relations[k]
		}
		for k := range renamed.operations {
			renamed.operations[k].Operation = definitions[i].Operations[k]
		}
		out[i] = renamed
	}
	return out, nil
}

// merger fills a registry in which every name is there once.
type merger struct {
	*Registry
	operationAt, typeAt map[string]int // name to place
}

// newMerger returns a merger with room for so many operations and types.
func newMerger(operations, types int) *merger {
	return &merger{
		&Registry{operations: make([]Bound, 0, operations), types: make([]Type, 0, types)},
		make(map[string]int, operations), make(map[string]int, types),
	}
}

func (m *merger) addOperation(o *Bound) {
	if i, taken := m.operationAt[o.Name]; taken {
		m.fault("operation %q is defined twice: %s and %s", o.Name, m.operations[i].Source, o.Source)
		return
	}
	m.operationAt[o.Name] = len(m.operations)
	m.operations = append(m.operations, *o)
}

func (m *merger) addType(t *Type) {
	if i, taken := m.typeAt[t.Name]; taken {
		if m.merged == nil && !reflect.DeepEqual(&m.types[i], t) {
			m.fault("two different types are called %q; rename one of them", t.Name)
		}
		return // two packages may share a type
	}
	m.typeAt[t.Name] = len(m.types)
	m.types = append(m.types, *t)
}

// addRelation adds a relation. Its name says which operation decides about it and what loads it, so there is one.
func (m *merger) addRelation(r *BoundRelation) {
	for i := range m.relations {
		if other := &m.relations[i]; other.Of == r.Of && other.Name == r.Name {
			m.fault("relation %s.%s is defined twice: to=%s and to=%s", r.Of, r.Name, other.To, r.To)
			return
		}
	}
	m.relations = append(m.relations, *r)
}

func (m *merger) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf(format, args...))
}

// Err returns everything that is wrong with the registry, nil if nothing is. aql.New fails with it.
func (r *Registry) Err() error { return errors.Join(r.faults...) }

// Operations returns the operations in their order. The slice is the registry's own.
func (r *Registry) Operations() []Bound { return r.operations }

// Definitions returns the definitions of the operations and types, and what the service is.
func (r *Registry) Definitions() Definitions {
	definitions := Definitions{
		Description: r.description, Types: r.types, Operations: slices.Grow([]Operation(nil), len(r.operations)),
	}
	for i := range r.operations {
		definitions.Operations = append(definitions.Operations, r.operations[i].Operation)
	}
	for i := range r.relations {
		definitions.Relations = append(definitions.Relations, r.relations[i].Relation)
	}
	return definitions
}
