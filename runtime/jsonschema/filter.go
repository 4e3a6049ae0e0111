package jsonschema

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// filterOfTool is the description of a filter in the schema of a tool, which lists the operators of each field.
const filterOfTool = "All members hold. contains and starts find texts in upper and lower case."

// condition returns the schema of a field of a filter: a value, or an object of operators. In the schema of a tool,
// fields with the same values and operators share it.
func (s *Set) condition(p *gen.Param) *Schema {
	if !s.asTool {
		return s.operators(p)
	}
	like := *p
	like.Name, like.Aliases, like.Description = "", nil, ""
	at := slices.IndexFunc(s.conditions, func(c condition) bool { return reflect.DeepEqual(c.field, like) })
	if at < 0 {
		s.conditions = append(s.conditions, condition{like, s.free(conditionName(p))})
		at = len(s.conditions) - 1
	}
	name := s.conditions[at].name
	if s.defined[name] == nil {
		s.defined[name] = s.operators(&like)
	}
	return &Schema{Ref: s.prefix + name}
}

// condition is the name of the definition for fields of filters that differ in nothing but their names.
type condition struct {
	field gen.Param
	name  string
}

// conditionName returns a name that says what is compared, such as DateTimeCondition.
func conditionName(p *gen.Param) string {
	var name strings.Builder
	if slices.Contains(p.Filter, gen.OpNull) {
		name.WriteString("Nullable")
	}
	for word := range strings.FieldsFuncSeq(cmp.Or(p.Format, p.Type), func(r rune) bool { return r == '-' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if !slices.Contains(p.Filter, gen.OpEq) {
		name.WriteString("List")
	}
	return name.String() + "Condition"
}

// operators is condition without sharing.
func (s *Set) operators(p *gen.Param) *Schema {
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
