package scan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/runtime/gen"
)

// collectionOf finds what can be filtered, sorted and summarised of a resource: what its tags say, or all scalars if
// they say nothing.
func (b *builder) collectionOf(resource *shapes.Shape) *collection {
	if known := b.collections[resource]; known != nil {
		return known
	}
	c := &collection{resource: resource}
	b.collections[resource] = c
	tagged := slices.ContainsFunc(resource.Fields, func(f shapes.Field) bool {
		return slices.ContainsFunc(collectionKeys, func(key string) bool { _, ok := f.Tag.Item(key); return ok })
	})
	identifiers := gen.Identifiers(paramsOf(resource))
	for i := range resource.Fields {
		f := &resource.Fields[i]
		comparable := isComparable(f) && !f.Param.Sensitive && !strings.HasPrefix(f.Param.Name, "_")
		list := shapes.Indirect(f.Shape).Kind == shapes.Slice
		m := member{Field: f, name: f.Param.Name}
		if !tagged {
			if comparable && !list {
				c.filterable, c.sortable = append(c.filterable, m), append(c.sortable, m)
				f.Param.Filter = []string{}
				c.addStandardSummaries(m, slices.Contains(identifiers, i))
			}
			continue
		}
		b.addSummaries(c, m)
		if item, ok := f.Tag.Item("filter"); ok && b.checkComparable(f, item, comparable) {
			c.filterable = append(c.filterable, m)
			f.Param.Filter = []string{} // until the type of the field is known
		}
		if item, ok := f.Tag.Item("search"); ok && b.checkSearchable(f, item) {
			c.searchable = append(c.searchable, m)
			f.Param.Search = true
		}
		if item, ok := f.Tag.Item("sort"); ok && b.checkComparable(f, item, comparable && !list) {
			c.sortable = append(c.sortable, m)
		}
	}
	b.addNested(c, member{}, resource, []*shapes.Shape{resource})
	b.addComputedMembers(c)
	return c
}

// addNested adds the fields that are tagged in structs of the elements. of is such a struct, at is the field that has
// it, and above are the structs around it.
func (b *builder) addNested(c *collection, at member, of *shapes.Shape, above []*shapes.Shape) {
	for i := range of.Fields {
		f := &of.Fields[i]
		m := member{
			Field: f, name: naming.Join(at.name, f.Param.Name), missing: at.missing || wiretype.MayBeMissing(f),
		}
		if of != c.resource {
			b.addTagged(c, member{f, m.name, at.missing})
		}
		inner := shapes.Indirect(f.Shape)
		if inner.Kind == shapes.Struct && !inner.Message && !f.Param.Sensitive && !slices.Contains(above, inner) &&
			len(above) <= maxNested {
			b.addNested(c, m, inner, append(slices.Clone(above), inner))
		}
	}
}

// maxNested is how many structs a path of a filter leads through.
const maxNested = 3

// addTagged adds a field of a struct in the elements by which agents may filter, sort or group, or that they may add
// up.
func (b *builder) addTagged(c *collection, m member) {
	comparable := isComparable(m.Field) && !m.Param.Sensitive
	b.nested[m.Var] = true
	b.addSummaries(c, m)
	if item, ok := m.Tag.Item("filter"); ok && b.checkComparable(m.Field, item, comparable) {
		c.filterable = append(c.filterable, m)
	}
	list := shapes.Indirect(m.Shape).Kind == shapes.Slice
	if item, ok := m.Tag.Item("sort"); ok && b.checkComparable(m.Field, item, comparable && !list) {
		c.sortable = append(c.sortable, m)
	}
}

// isComparable reports whether the values of a field, or the elements of a list in it, can be compared.
func isComparable(f *shapes.Field) bool {
	shape := shapes.Indirect(f.Shape)
	if shape.Kind == shapes.Slice && shape.Own == nil {
		shape = shape.Elem
	}
	if f.Param.Quoted || shape.Quoted || f.Param.Constant != "" || shape.Message {
		return false
	}
	switch shape.Kind {
	case shapes.Bool, shapes.Int, shapes.Uint, shapes.Float, shapes.String, shapes.Time, shapes.Text:
		return true
	}
	return false
}

// checkComparable reports a field that can be neither filtered nor sorted by, and is tagged so.
func (b *builder) checkComparable(f *shapes.Field, item tags.Item, comparable bool) bool {
	if comparable {
		return true
	}
	d := diag.Diagnostic{
		Code: diag.CodeType, FieldPath: f.Path, Suggestion: "remove it",
		Message: fmt.Sprintf("%s does not apply to type %s, whose values have no order", item.Key, b.text(f.Var.Type())),
	}
	if f.Param.Sensitive {
		d.Message = fmt.Sprintf("%s would tell agents the values of %s, which is sensitive", item.Key, f.Path)
	}
	b.Report(item.At, d)
	return false
}

// checkSearchable reports a field in which no text can be looked for, and that is tagged so.
func (b *builder) checkSearchable(f *shapes.Field, item tags.Item) bool {
	elem := shapes.Element(f.Shape)
	text := elem.Kind == shapes.String && len(elem.Enum) == 0 && !elem.Message && !f.Param.Quoted
	if text && f.Param.Sensitive {
		return b.checkComparable(f, item, false)
	}
	if !text {
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: f.Path, Suggestion: "remove it",
			Message: fmt.Sprintf("search does not apply to type %s; it is for texts and lists of texts", b.text(f.Var.Type())),
		})
	}
	return text
}

// setOperators says of the fields of all collections by which operators they can be filtered. It comes after the types
// of the fields are known.
func (b *builder) setOperators() {
	for _, c := range b.collections {
		nested := 0
		for _, m := range c.filterable {
			if !m.isNested() {
				m.Param.Filter = b.operatorsOf(m)
				continue
			}
			if c.filter != nil {
				p := &c.filter.Nested[nested].Param
				*p = m.Param
				p.Name, p.Filter = m.name, b.operatorsOf(m)
				nested++
			}
		}
	}
}

// operatorsOf returns the operators by which requests can filter by a field.
func (b *builder) operatorsOf(m member) []string {
	known := gen.Operators(&m.Param)
	if shape := shapes.Element(m.Shape); shape.Kind == shapes.Text && m.Shape.Kind != shapes.Slice {
		known = []string{gen.OpEq, gen.OpNe, gen.OpIn}
	}
	if (m.missing || wiretype.MayBeMissing(m.Field)) && !slices.Contains(known, gen.OpNull) {
		known = append(known, gen.OpNull)
	}
	return b.operators(m.Field, known)
}

// operators returns the operators that the tag of a field allows, of those that its type knows.
func (b *builder) operators(f *shapes.Field, known []string) []string {
	item, ok := f.Tag.Item("filter")
	if !ok || item.Flag {
		return known
	}
	var allowed []string
	offset := 0
	for _, operator := range item.List {
		at := item.ValueAt
		if int(at.End-at.Start) == len(item.Value) { // without quotes
			at.Start += token.Pos(offset)
			at.End = at.Start + token.Pos(len(operator))
		}
		offset += len(operator) + 1
		if slices.Contains(known, operator) {
			allowed = append(allowed, operator)
			continue
		}
		b.Report(at, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: f.Path, Actual: operator, Expected: "one of " + strings.Join(known, ", "),
			Message:    fmt.Sprintf("type %s has no operator %q", b.text(f.Var.Type()), operator),
			Suggestion: diag.DidYouMean(operator, known),
		})
	}
	return allowed
}

// warnUnqueried warns of tags of collections on structs of which no operation lists elements, unless something is wrong
// with the operations.
func (b *builder) warnUnqueried(root *packages.Package, handlers []handled) {
	if b.HasErrors(root) {
		return
	}
	visited := make(map[*shapes.Shape]bool)
	visit := func(of *shapes.Shape, field *shapes.Field) bool {
		for _, key := range collectionKeys {
			item, ok := field.Tag.Item(key)
			if !ok || b.collections[of] != nil || b.nested[field.Var] && key != "search" || !b.isOwn(field) {
				continue
			}
			b.Report(item.At, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeUnresolved, FieldPath: field.Path,
				Message:    fmt.Sprintf("%s has no effect: no operation takes aql.Query[%s]", key, b.text(of.Type)),
				Suggestion: "embed aql.Query in the request of an operation that lists them, or remove " + key,
			})
		}
		return true
	}
	for _, h := range handlers {
		eachField(h.result, visited, visit)
	}
}

// collectionKeys are the keys of tags that say what agents may ask of a collection.
var collectionKeys = []string{"filter", "sort", "group", "sum", "search"}
