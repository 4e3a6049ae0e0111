package service

import (
	"fmt"

	aql "github.com/aqltag/aqltag/runtime"
)

// Many returns a registry of n operations, each of which is create_note under another name: see Name.
func Many(n int) *aql.Registry {
	operations := make([]aql.Operation, n)
	service := new(Service)
	for i := range operations {
		definition := createNoteOperation
		definition.Name = Name(i)
		operations[i] = aql.Operation{Definition: &definition, Receiver: service}
	}
	return aql.NewRegistry(operations, wireTypes)
}

// Name is what operation i of Many is called.
func Name(i int) string { return fmt.Sprintf("create_note_%05d", i) }
