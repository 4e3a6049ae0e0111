package gen

import (
	"slices"
	"strings"
)

// The operators of conditions on the fields of a collection.
const (
	OpEq       = "eq"
	OpNe       = "ne"
	OpIn       = "in"
	OpGt       = "gt"
	OpGte      = "gte"
	OpLt       = "lt"
	OpLte      = "lte"
	OpContains = "contains"
	OpStarts   = "starts"
	OpAll      = "all"
	OpNull     = "null"
)

// The members of a filter that hold filters.
const (
	FilterOr  = "_or"
	FilterNot = "_not"
)

// Bounds of a filter.
const (
	MaxFilterConditions   = 50
	MaxFilterDepth        = 4   // of filters in filters
	MaxFilterValues       = 100 // of in and all
	MaxFilterAlternatives = 20  // of _or
	MaxSearchWords        = 20  // of a query
)

// Operators returns the operators that fit the values of a field; nil: there are none.
func Operators(p *Param) []string {
	equality := []string{OpEq, OpNe, OpIn}
	var operators []string
	switch {
	case p.Quoted, p.Constant != "", p.Sensitive, p.Format == "byte":
		return nil
	case p.Type == "array" && p.Items != nil && p.Items.Type != "array" && Operators(p.Items) != nil:
		operators = []string{OpContains, OpIn, OpAll}
	case len(p.Enum) > 0, p.Type == "boolean":
		operators = equality
	case p.Type == "integer" && p.Format != FormatBigInt, p.Type == "number", p.Format == "date-time":
		operators = append(equality, OpGt, OpGte, OpLt, OpLte)
	case p.Type == "string":
		operators = append(equality, OpGt, OpGte, OpLt, OpLte, OpContains, OpStarts)
	default:
		return nil
	}
	if p.Nullable {
		operators = append(operators, OpNull)
	}
	return operators
}

// FilterFields returns the fields of the filter called name of elements with these fields. deeper are fields of structs
// in them, with paths as their names, such as "origin.country".
func FilterFields(name string, fields, deeper []Param) []Param {
	var conditions []Param
	for _, list := range [][]Param{fields, deeper} {
		for i := range list {
			if list[i].Filter != nil {
				conditions = append(conditions, list[i].condition())
			}
		}
	}
	return append(conditions,
		Param{
			Name: FilterOr, Type: "array", Items: &Param{Type: name}, MinItems: 1, MaxItems: MaxFilterAlternatives,
			Description: "One of these holds",
		},
		Param{Name: FilterNot, Type: name, Description: "This does not hold"})
}

// condition returns the field as a filter has it: the values with which it can be compared. Those of a list are its
// elements. Bounds and patterns do not apply: to look for what cannot be is no mistake.
func (p *Param) condition() Param {
	value := p
	if p.Type == "array" {
		value = p.Items
	}
	c := Param{
		Name: p.Name, Aliases: p.Aliases, Type: value.Type, Enum: value.Enum, Format: value.Format, Filter: p.Filter,
	}
	if value.Maximum == maxUint64 {
		c.Minimum, c.Maximum = "0", maxUint64
	}
	switch usual := Operators(&Param{Type: c.Type, Enum: c.Enum, Format: c.Format}); {
	case slices.Equal(p.Filter, usual):
	case slices.Equal(p.Filter, append(usual, OpNull)):
		c.Description = "Also null"
	default:
		c.Description = "Only " + strings.Join(p.Filter, ", ")
	}
	return c
}

// maxUint64 is the greatest value of an integer without sign of 64 bits, whose values other integers cannot have.
const maxUint64 = "18446744073709551615"

// FilterDescription returns the description of the filters of elements of a type.
func FilterDescription(of string) string {
	return "Which " + of + " to list: all members hold. A field has a value, or operators, such as " +
		`{"ne":1} or {"gte":1,"lt":9}` + ". Operators: eq, ne, in (a list), of numbers, times and texts gt, gte, lt, lte, " +
		"of texts contains, starts (in upper or lower case), of lists contains (as a value alone), in (any of), all, and " +
		"of what may be missing null (true or false)."
}

// Identifiers returns the indexes of the fields that identify an element: those that are tagged so, or else the one
// called id, or else the first whose name ends in _id.
func Identifiers(fields []Param) []int {
	var tagged []int
	named := -1
	for i := range fields {
		switch f := &fields[i]; {
		case f.ID:
			tagged = append(tagged, i)
		case f.Name == "id", named < 0 && strings.HasSuffix(f.Name, "_id"):
			named = i
		}
	}
	if tagged == nil && named >= 0 {
		tagged = []int{named}
	}
	return tagged
}
