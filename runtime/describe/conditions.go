package describe

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// writtenFields returns the fields of a type as requests write them. A field of a filter that no value alone fits,
// because none of its operators is for one, is an object of operators; others are of the type of the value.
func writtenFields(t *gen.Type) []gen.Param {
	if t.Filters == "" {
		return t.Fields
	}
	fields := t.Fields
	for i := range fields {
		if p := &t.Fields[i]; p.Filter != nil && !takesValue(p) {
			if &fields[0] == &t.Fields[0] {
				fields = slices.Clone(fields)
			}
			fields[i] = operatorsOf(p)
		}
	}
	return fields
}

func takesValue(p *gen.Param) bool {
	return slices.Contains(p.Filter, gen.OpEq) || slices.Contains(p.Filter, gen.OpContains)
}

// operatorsOf returns the field of a filter as an object, whose items are what the operators take, if all of them take
// the same.
func operatorsOf(p *gen.Param) gen.Param {
	object := gen.Param{
		Name: p.Name, Aliases: p.Aliases, Type: "object", Filter: p.Filter,
		Description: "Object with operators: " + strings.Join(p.Filter, ", "),
	}
	value := *p
	value.Name, value.Aliases, value.Filter, value.Description = "", nil, nil, ""
	lists, nulls := 0, 0
	for _, operator := range p.Filter {
		switch operator {
		case gen.OpIn, gen.OpAll:
			lists++
		case gen.OpNull:
			nulls++
		}
	}
	switch len(p.Filter) {
	case nulls:
		object.Items = &gen.Param{Type: "boolean"}
	case lists:
		object.Items = &gen.Param{Type: "array", Items: &value}
	default:
		if lists+nulls == 0 {
			object.Items = &value
		}
	}
	return object
}
