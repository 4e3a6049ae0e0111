package compat

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// isFilter reports whether a type is that of the parameter filter of a collection.
func (t *typ) isFilter() bool {
	return slices.ContainsFunc(t.Fields, func(v *value) bool { return v.Name == gen.FilterNot && v.Type == t.Name })
}

// operators compares the operators of the fields of a filter.
func (c *comparison) operators(at place, before, after *typ) {
	for _, field := range before.Fields {
		now := partner(field, after.Fields)
		if now == nil || field.Name == gen.FilterOr || field.Name == gen.FilterNot {
			continue
		}
		at := at.member(field.Name, "field", after.Name)
		was, is := field.operators(), now.operators()
		for _, operator := range namesWithout(was, is) {
			c.report(at, Breaking, "operator-removed", operator, nil,
				fmt.Sprintf("%s has no operator %s any more", at.label, operator))
		}
		for _, operator := range namesWithout(is, was) {
			c.report(at, Compatible, "operator-added", nil, operator, fmt.Sprintf("%s has the operator %s", at.label, operator))
		}
	}
}

// operators returns the operators of a field of a filter.
func (v *value) operators() []string {
	if v.notes.only != nil {
		return v.notes.only
	}
	usual := gen.Param{Type: v.Type, Format: v.Format}
	if len(v.Enum) > 0 {
		usual.Enum = []string{"any"}
	}
	operators := gen.Operators(&usual)
	if v.notes.orNull {
		operators = append(operators, gen.OpNull)
	}
	return operators
}
