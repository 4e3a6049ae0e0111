// Package jsonschema says in JSON Schema 2020-12 what operations accept and return: in one document for the parameters
// of each operation, which accepts what the adapter accepts, in one for each type that operations return, which accepts
// what the adapter writes, and in one for each operation that is an MCP tool of its own, which is small.
//
// Schemas of parameters are closed, because adapters refuse unknown names. Null means that a value is absent, so it is
// accepted for every optional value. Integers have the bounds of 64 bits, because definitions do not contain the Go
// type. Formats other than date-time are hints.
//
// The runtime and the aql-tag command use it; a service does not need it.
package jsonschema

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// definitionsPrefix is in front of the names of definitions in the references of a document.
const definitionsPrefix = "#/$defs/"

// Params returns the document about the parameters of an operation.
func Params(a *gen.Definitions, o *gen.Operation) *Schema {
	set := newSet(a, definitionsPrefix)
	root := set.Params(o)
	root.Dialect, root.Title = Dialect, o.Name
	root.Definitions = set.Definitions()
	return root
}

// Result returns the document about the results of a type, which are the data of successes. A type that the adapter
// does not have is Nothing, whose value is null.
func Result(a *gen.Definitions, typeName string) *Schema {
	set := newSet(a, definitionsPrefix)
	root := set.Result(gen.Returns{Name: typeName})
	if t, ok := a.Type(typeName); ok {
		// A document begins with its type. If the type is recursive, it is in $defs too.
		root = set.typed(t, output)
		if slices.ContainsFunc(a.Operations, func(o gen.Operation) bool {
			return o.Returns.Name == typeName && o.Returns.Nullable
		}) {
			root = orNull(root)
		}
	}
	root.Dialect, root.Title = Dialect, typeName
	root.Definitions = set.Definitions()
	if own := root.Definitions[typeName]; own != nil {
		delete(root.Definitions, typeName)
		if root.references()[typeName] > 0 {
			root.Definitions[typeName] = own
		}
	}
	return root
}
