package service

import (
	"fmt"
	"slices"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Many returns a registry of n operations. Each is create_note under another name: see Name.
func Many(n int) *aql.Registry {
	create := handlers[slices.IndexFunc(handlers, func(h gen.Handler) bool { return h.Name == "create_note" })]
	many := make([]gen.Handler, n)
	for i := range many {
		many[i] = create
		many[i].Name = Name(i)
	}
	return gen.NewRegistry(many, wireTypes, new(Service))
}

// Name returns the name of operation i of Many.
func Name(i int) string { return fmt.Sprintf("create_note_%05d", i) }
