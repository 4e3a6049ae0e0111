package jsonschema

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// condition returns the schema of a field of a filter: a value, or an object of operators.
func (s *Set) condition(p *gen.Param) *Schema {
	value := func() *Schema {
		plain := *p
		plain.Description = ""
		return s.param(&plain, input)
	}
	operators := &Schema{
		Type: Types{"object"}, Properties: Properties{}, AdditionalProperties: Additional{None: true}, MinProperties: 1,
	}
	equal, contains := slices.Contains(p.Filter, gen.OpEq), slices.Contains(p.Filter, gen.OpContains)
	for _, operator := range p.Filter {
		operand := value()
		switch {
		case operator == gen.OpNull:
			operand = &Schema{Type: Types{"boolean"}}
		case operator == gen.OpIn, operator == gen.OpAll:
			operand = &Schema{Type: Types{"array"}, Items: operand, MaxItems: gen.MaxFilterValues}
		case operator == gen.OpStarts, operator == gen.OpContains && equal: // of a text, and not of a list
			operand = &Schema{Type: Types{"string"}}
		}
		operators.Properties = append(operators.Properties, Property{operator, operand})
	}
	schema := &Schema{Description: p.Description, AnyOf: []*Schema{operators}}
	if equal || contains {
		schema.AnyOf = []*Schema{value(), operators}
	}
	return schema
}
