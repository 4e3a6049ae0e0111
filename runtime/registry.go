package aql

import "github.com/aqltag/aqltag/runtime/gen"

// Registry is a set of operations and the types they mention. Generated NewRegistry functions make it.
type Registry = gen.Registry

// Merge makes one registry of several, in their order. Two operations of one name are a fault that surfaces in New with
// both positions. Two different types of one name get the names of their packages in front: BillingInvoice and
// ShopInvoice, in whatever order the registries are. Equal types are one.
func Merge(registries ...*Registry) *Registry { return gen.Merge(registries...) }
