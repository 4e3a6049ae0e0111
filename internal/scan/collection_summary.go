package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// summarises reports whether agents may want to know more of a collection than how many elements there are.
func (c *collection) summarises() bool {
	return c.groupable != nil || c.summable != nil || c.stored() != nil
}

// addSummaries adds a field that is tagged to those by which agents may group, and to those that they may add up.
func (b *builder) addSummaries(c *collection, m member) {
	if item, ok := m.Tag.Item("group"); ok && b.checkGroupable(m.Field, item) {
		c.groupable = append(c.groupable, m)
	}
	if item, ok := m.Tag.Item("sum"); ok && b.checkSummable(m.Field, item) {
		c.summable = append(c.summable, m)
	}
}

// addStandardSummaries adds a field of a resource that says of no field what agents may do with it. Numbers that
// identify elements amount to nothing.
func (c *collection) addStandardSummaries(m member, identifies bool) {
	switch shape := shapes.Indirect(m.Shape); shape.Kind {
	case shapes.Bool:
		c.groupable = append(c.groupable, m)
	case shapes.String:
		if len(shape.Enum) > 0 || len(m.Param.Enum) > 0 {
			c.groupable = append(c.groupable, m)
		}
	case shapes.Int, shapes.Uint, shapes.Float:
		if !identifies {
			c.summable = append(c.summable, m)
		}
	}
}

// checkGroupable reports a field whose values make no groups, and that is tagged so.
func (b *builder) checkGroupable(f *shapes.Field, item tags.Item) bool {
	kinds := []shapes.Kind{shapes.String, shapes.Text, shapes.Bool, shapes.Int, shapes.Uint}
	if isComparable(f) && slices.Contains(kinds, shapes.Element(f.Shape).Kind) && !f.Param.Sensitive {
		return true
	}
	return b.reportSummary(f, item, "texts, enums, booleans, integers, and lists of those")
}

// checkSummable reports a field whose values cannot be added up, and that is tagged so.
func (b *builder) checkSummable(f *shapes.Field, item tags.Item) bool {
	kinds := []shapes.Kind{shapes.Int, shapes.Uint, shapes.Float}
	if isComparable(f) && slices.Contains(kinds, shapes.Indirect(f.Shape).Kind) && !f.Param.Sensitive {
		return true
	}
	return b.reportSummary(f, item, "numbers")
}

// reportSummary reports a field that cannot be summarised as its tag says. It returns false.
func (b *builder) reportSummary(f *shapes.Field, item tags.Item, values string) bool {
	d := diag.Diagnostic{
		Code: diag.CodeType, FieldPath: f.Path, Suggestion: "remove it",
		Message: fmt.Sprintf("%s does not apply to type %s; it is for %s", item.Key, b.text(f.Var.Type()), values),
	}
	if f.Param.Sensitive {
		d.Message = fmt.Sprintf("%s would tell agents the values of %s, which is sensitive", item.Key, f.Path)
	}
	b.Report(item.At, d)
	return false
}

// stored returns the fields that agents may sort by and that nothing computes: summaries would compute them for all
// elements.
func (c *collection) stored() (stored []member) {
	for _, m := range c.sortable {
		if !strings.HasPrefix(m.name, gen.ComputedPrefix) {
			stored = append(stored, m)
		}
	}
	return stored
}

// describeSummaries fills in the parameter aggregate of aql.Query.
func (c *collection) describeSummaries(f *shapes.Field) {
	f.Param.Description = gen.SummaryDescription(c.exampleSummary())
	expression := f.Shape.Elem
	stored := c.stored()
	named := map[string][]member{
		gen.GroupBy: c.groupable, "sum": c.summable, "avg": c.summable, "min": stored, "max": stored,
	}
	expression.Fields = slices.DeleteFunc(expression.Fields, func(f shapes.Field) bool {
		members, names := named[f.Param.Name]
		return names && members == nil
	})
	for i := range expression.Fields {
		p := &expression.Fields[i].Param
		p.Enum = names(named[p.Name])
	}
}

// exampleSummary returns one summary with a label.
func (c *collection) exampleSummary() string {
	switch {
	case c.groupable != nil:
		return fmt.Sprintf(`{"a":{"group_by":%q,"count":true}}`, c.groupable[0].name)
	case c.summable != nil:
		return fmt.Sprintf(`{"a":{"count":true,"sum":%q}}`, c.summable[0].name)
	default:
		return fmt.Sprintf(`{"a":{"count":true,"max":%q}}`, c.stored()[0].name)
	}
}

// describePage completes the page of a collection: with summaries, they may be all that an answer has, and without, the
// items are always there.
func (c *collection) describePage(page *shapes.Shape) {
	if !c.summarises() {
		page.Fields = slices.DeleteFunc(page.Fields, func(f shapes.Field) bool { return f.Param.Name == "aggregations" })
	}
	for i := range page.Fields {
		if p := &page.Fields[i].Param; p.Name != "aggregations" {
			if p.OmitZero = c.summarises(); !p.OmitZero {
				p.Description = ""
			}
		}
	}
}
