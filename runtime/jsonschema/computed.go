package jsonschema

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// computed returns the property of a resource in results that holds its computed fields: those that a request asks for
// (MCP-AQL computed fields §2).
func (s *Set) computed(t *gen.Type) Property {
	fields := slices.Clone(t.Computed)
	for i := range fields {
		fields[i].Required = false
	}
	schema := s.object(fields, s.outputParam)
	schema.Description = "Computed fields that the request selects"
	return Property{gen.ComputedMember, schema}
}

// computedPaths returns an expression for the paths of the computed fields of a type; empty: it has none.
func computedPaths(t *gen.Type) string {
	if t == nil || t.Computed == nil {
		return ""
	}
	names := make([]string, len(t.Computed))
	for i := range t.Computed {
		names[i] = t.Computed[i].Name
	}
	return gen.ComputedMember + `\.` + "(?:" + strings.Join(names, "|") + ")"
}
