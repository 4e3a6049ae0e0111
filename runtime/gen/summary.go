package gen

import (
	"slices"
	"strings"
)

// Bounds of summaries.
const (
	MaxSummaries = 10   // labels of a request
	MaxGroups    = 1000 // of a label, where the options of an adapter say no other number
)

// SummaryFunctions returns the functions of summaries in the order in which answers have them (MCP-AQL aggregations
// §2).
func SummaryFunctions() []string { return []string{"count", "sum", "avg", "min", "max"} }

// GroupBy is the member of a summary that names the field whose values make groups.
const GroupBy = "group_by"

// Expression returns the type of the summaries that requests of an operation can want; false: they can want none.
// typeOf finds a type by its name.
func Expression(o *Operation, typeOf func(name string) *Type) (*Type, bool) {
	p, ok := o.Param("aggregate")
	if !ok || !p.Aggregates() {
		return nil, false
	}
	t := typeOf(p.Items.Type)
	return t, t != nil
}

// Aggregates reports whether a parameter says which summaries a request wants, by labels.
func (p *Param) Aggregates() bool {
	return p.Items != nil && strings.HasSuffix(p.Go, ".body.Aggregate")
}

// Summaries is what agents may summarise of what an operation lists (MCP-AQL aggregations §5).
type Summaries struct {
	Functions []string // among them group_by
	Groupable []string
	Numeric   []string
}

// Summaries returns what agents may summarise of what an operation lists; false: nothing.
func (a *Definitions) Summaries(o *Operation) (s Summaries, ok bool) {
	t, ok := Expression(o, func(name string) *Type { t, _ := a.Type(name); return t })
	if !ok {
		return s, false
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		s.Functions = append(s.Functions, f.Name)
		switch f.Name {
		case GroupBy:
			s.Groupable = f.Enum
		case "sum":
			s.Numeric = f.Enum
		}
	}
	return s, true
}

// Aggregates reports whether an operation summarises what it lists.
func (a *Definitions) Aggregates() bool {
	return slices.ContainsFunc(a.Operations, func(o Operation) bool { _, ok := a.Summaries(&o); return ok })
}

// SummaryDescription returns the description of the parameter aggregate with an example of a summary.
func SummaryDescription(example string) string {
	return "Summaries, in place of items: " + example
}
