package aql

import "github.com/aqltag/aqltag/runtime/gen"

// Registry is a set of operations and the types they mention. Generated NewRegistry functions make it.
type Registry = gen.Registry

// Merge makes one registry of several, in their order. Two operations of one name, or two different types of one name,
// are faults that surface in New with both positions.
func Merge(registries ...*Registry) *Registry { return gen.Merge(registries...) }
