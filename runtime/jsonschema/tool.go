package jsonschema

import (
	"cmp"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Tools makes the schemas of operations that are MCP tools of their own. The adapter accepts what they accept, but for
// integers beyond 64 bits, selections of fields that do not exist, summaries of nothing, and values that exclude each
// other. It accepts more: null for absent values, other names of parameters, and metadata. A model needs none of that,
// and would pay for it in every conversation.
//
// A type that occurs once is written where it occurs. The roots have no alternatives, which some clients refuse.
type Tools struct{ set *Set }

// NewTools returns what makes the schemas for the operations of an adapter.
func NewTools(a *gen.Definitions) *Tools {
	set := newSet(a, definitionsPrefix)
	set.asTool = true
	return &Tools{set}
}

// Arguments returns the schema of the arguments of the tool that is an operation; confirms: it may require a
// confirmation.
func (t *Tools) Arguments(o *gen.Operation, confirms bool) *Schema {
	set := t.set
	set.names, set.defined = make(map[key]string), make(map[string]*Schema)
	root := set.paramsOf(o, confirms)
	root.Definitions = set.Definitions()
	root.inlineOnce()
	return root
}

// inlineOnce puts definitions that one place refers to into that place.
func (s *Schema) inlineOnce() {
	count := s.references()
	var visit func(at *Schema)
	visit = func(at *Schema) {
		name, ok := strings.CutPrefix(at.Ref, definitionsPrefix)
		if of := s.Definitions[name]; ok && of != nil && count[name] == 1 {
			here := *at
			*at = *of
			at.Description = cmp.Or(here.Description, of.Description)
			at.Deprecated = here.Deprecated || of.Deprecated
			at.Default = here.Default
			if here.Enum != nil {
				at.Enum = here.Enum
			}
			delete(s.Definitions, name)
		}
		at.each(visit)
	}
	s.each(visit)
}

// references counts the references to each definition in a document.
func (s *Schema) references() map[string]int {
	count := make(map[string]int)
	var visit func(at *Schema)
	visit = func(at *Schema) {
		if name, ok := strings.CutPrefix(at.Ref, definitionsPrefix); ok {
			count[name]++
		}
		at.each(visit)
	}
	visit(s)
	return count
}

// each calls visit for the schemas in a schema, without those in them.
func (s *Schema) each(visit func(*Schema)) {
	for _, p := range s.Properties {
		visit(p.Schema)
	}
	one := []*Schema{s.AdditionalProperties.Schema, s.Not, s.Items, s.PropertyNames}
	for _, list := range [][]*Schema{s.AllOf, s.AnyOf, s.OneOf, one} {
		for _, sub := range list {
			if sub != nil {
				visit(sub)
			}
		}
	}
	for _, definition := range s.Definitions {
		visit(definition)
	}
}
