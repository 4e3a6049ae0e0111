package scan

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// runtimePath is the import path of the aql package.
const runtimePath = "github.com/aqltag/aqltag/runtime"

// collection is a type of which operations list elements.
type collection struct {
	resource   *shapes.Shape
	filter     *shapes.Shape // of the parameter; nil: there is none
	filterable []member
	sortable   []member
	searchable []member
	groupable  []member
	summable   []member
}

// member is a field of the elements of a collection, or of a struct in them.
type member struct {
	*shapes.Field
	name    string // its path, where it is in a struct
	missing bool   // the struct may be missing
}

// isNested reports whether a field is in a struct of the elements.
func (m member) isNested() bool { return m.name != m.Param.Name }

// checkCollection checks the parameters of aql.Query in a request, and fills in what they may name (MCP-AQL operations
// §4.4, collection querying §2).
func (b *builder) checkCollection(o operation, h *handled) {
	defaultSort, sorted := tags.Find(o.items, "sort")
	found := slices.IndexFunc(h.request.Fields, isQueryField)
	if found < 0 {
		b.checkNotQueried(o)
		return
	}
	at := source.Span{}
	if field := &h.request.Fields[found]; field.Through != nil {
		at = field.Through.Tag.At
	}
	if item, _ := tags.Find(o.items, "query"); o.query != nil {
		at = item.At
		if !b.checkAdded(o, h, item) {
			return
		}
	}
	if !b.checkQuery(o, h, at, found) {
		return
	}
	elem := shapes.Indirect(h.result).Go.Args[0]
	c := b.collectionOf(elem)
	h.result = b.paged(h.result, pagingOf(o))
	h.request = h.request.Clone()
	searches := c.searchable != nil && strings.HasPrefix(h.Operation.Name, "search_")
	h.request.Fields = slices.DeleteFunc(h.request.Fields, func(f shapes.Field) bool {
		return isQueryField(f) && (f.Param.Name == "filter" && c.filterable == nil ||
			f.Param.Name == "sort" && c.sortable == nil || f.Param.Name == "query" && !searches ||
			isOfOtherPaging(f, pagingOf(o)) ||
			(f.Param.Name == "aggregate" || f.Param.Name == "include_items") && !c.summarises())
	})
	c.describePage(shapes.Indirect(h.result))
	for i := range h.request.Fields {
		if shape := h.request.Fields[i].Shape; shape.Kind == shapes.Filter && c.filter == nil {
			c.filter, shape.Nested = shape, c.nested()
		}
	}
	standard := ""
	if sorted {
		standard = b.defaultSort(o, c, defaultSort)
	}
	for i := range h.request.Fields {
		if f := &h.request.Fields[i]; isQueryField(*f) {
			c.describe(f, standard)
		}
	}
}

// checkNotQueried reports the keys of collections on an operation that is none.
func (b *builder) checkNotQueried(o operation) {
	if _, queried := tags.Find(o.items, "query"); queried {
		return // which is reported
	}
	for _, key := range []string{"sort", "paging"} {
		item, found := tags.Find(o.items, key)
		if !found {
			continue
		}
		suggestion := "embed aql.Query[T] in the request, or remove " + key
		if !o.tagged {
			suggestion = "embed aql.Query[T] in the request, add query to the directive, or remove " + key
		}
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Suggestion: suggestion,
			Message: fmt.Sprintf("%s has no meaning in %s, whose request does not embed aql.Query", key, o.name()),
		})
	}
}

// isQueryField reports whether a parameter is one of aql.Query.
func isQueryField(f shapes.Field) bool {
	return f.Var != nil && f.Var.Pkg() != nil && f.Var.Pkg().Path() == runtimePath+"/internal/collection"
}

// checkQuery reports a query that has no meaning in its operation. at is the field that embeds it, and first the index
// of its first parameter.
func (b *builder) checkQuery(o operation, h *handled, at source.Span, first int) bool {
	report := func(at source.Span, message, suggestion string) bool {
		b.Report(at, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Message: message, Suggestion: suggestion,
		})
		return false
	}
	if h.Operation.Category == "" { // which is reported
		return false
	}
	if h.Operation.Category != gen.Read {
		what := "aql.Query"
		if o.query != nil {
			what = "query"
		}
		return report(at, fmt.Sprintf("%s has no meaning in %s operation %s: READ operations list collections", what,
			h.Operation.Category, h.Operation.Name), "remove it")
	}
	for _, f := range h.request.Fields {
		if _, pointer := throughType(&f).(*types.Pointer); isQueryField(f) && pointer {
			return report(at, fmt.Sprintf("the request of %s embeds a pointer to aql.Query", o.name()), "embed aql.Query itself")
		}
	}
	if t, ok := throughType(&h.request.Fields[first]).(*types.Named); ok && t.TypeArgs().Len() == 1 {
		if _, isStruct := t.TypeArgs().At(0).Underlying().(*types.Struct); !isStruct {
			return report(at, "aql.Query needs a struct type", "use aql.Query[T] with a named struct T")
		}
	}
	queried := map[string]bool{}
	for _, f := range h.request.Fields {
		queried[f.Param.Name] = queried[f.Param.Name] || isQueryField(f)
	}
	for _, name := range queryParams(o) {
		if !queried[name] {
			own := at
			for _, f := range h.request.Fields {
				if f.Param.Name == name {
					own = f.Tag.NameAt
				}
			}
			return report(own,
				fmt.Sprintf("aql.Query has the parameter %q, and %s has another one of this name", name, o.name()), "rename it")
		}
	}
	var of *shapes.Shape
	for _, f := range h.request.Fields {
		if f.Shape.Kind == shapes.Filter {
			of = f.Shape.Elem
		}
	}
	wanted := "*aql.Page[" + b.text(of.Type) + "]"
	if named, ok := pageType(o.result); !ok || !types.Identical(named.TypeArgs().At(0), of.Type) {
		resultAt := at
		if o.result != nil {
			resultAt = o.resultSpan()
		}
		return report(resultAt,
			fmt.Sprintf("%s takes aql.Query[%s], so it has to return %s", o.name(), b.text(of.Type), wanted),
			"return "+wanted+", which the methods of aql.Query make")
	}
	return b.checkIdentified(of, at)
}

// throughType returns the type that the user's field has through which a request has a field; nil: there is none.
func throughType(f *shapes.Field) types.Type {
	if f.Through == nil {
		return nil
	}
	return types.Unalias(f.Through.Var.Type())
}

// pageType returns the type aql.Page[T] to which a result points.
func pageType(result types.Type) (*types.Named, bool) {
	if result == nil {
		return nil, false
	}
	pointer, ok := types.Unalias(result).(*types.Pointer)
	if !ok {
		return nil, false
	}
	named, ok := types.Unalias(pointer.Elem()).(*types.Named)
	return named, ok && gotype.Is(named, runtimePath, "Page") && named.TypeArgs().Len() == 1
}

// checkIdentified reports a resource that nothing identifies: ties in an order could not be broken.
func (b *builder) checkIdentified(resource *shapes.Shape, at source.Span) bool {
	name := b.text(resource.Type)
	found := gen.Identifiers(paramsOf(resource))
	for _, i := range found {
		f := &resource.Fields[i]
		if !isComparable(f) || f.Shape.Kind == shapes.Slice {
			b.Report(f.Tag.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: f.Path,
				Message:    fmt.Sprintf("%s identifies elements of aql.Query[%s], and its values have no order", f.Path, name),
				Suggestion: "identify them by a text, an integer or a time",
			})
			return false
		}
	}
	if isIdentified(resource, found) {
		return true
	}
	suggestion := "tag the field that identifies a " + name + " with id"
	if named, ok := types.Unalias(resource.Type).(*types.Named); ok && !b.Editable(named.Obj().Pkg()) {
		suggestion = "list elements of a struct of your own, and tag the field that identifies one with id"
	}
	b.Report(at, diag.Diagnostic{
		Code: diag.CodeMissing, FieldPath: name, Suggestion: suggestion,
		Message: fmt.Sprintf("nothing tells two elements of aql.Query[%s] apart, so they have no stable order", name),
	})
	return false
}

// isIdentified reports whether the fields with the indexes found identify elements. One that ends in _id may be that of
// another resource.
func isIdentified(resource *shapes.Shape, found []int) bool {
	if len(found) == 0 {
		return false
	}
	f := &resource.Fields[found[0]].Param
	return f.ID || f.Name == "id" || f.Name == naming.SnakeCase(resource.Go.Name)+"_id"
}

func paramsOf(shape *shapes.Shape) []gen.Param {
	params := make([]gen.Param, len(shape.Fields))
	for i := range shape.Fields {
		params[i] = shape.Fields[i].Param
	}
	return params
}

// defaultSort returns the default of the parameter sort that the key sort of an operation stands for, as JSON.
func (b *builder) defaultSort(o operation, c *collection, item tags.Item) string {
	name, descending := strings.CutPrefix(item.Value, "-")
	var names []string
	for _, m := range c.sortable {
		names = append(names, m.name)
	}
	if !slices.Contains(names, name) {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeUnresolved, FieldPath: o.name(), Actual: name, Expected: "one of " + strings.Join(names, ", "),
			Message:    fmt.Sprintf("%s cannot be sorted by %q", b.text(c.resource.Type), name),
			Suggestion: diag.DidYouMean(name, names),
		})
		return ""
	}
	order := "asc"
	if descending {
		order = "desc"
	}
	return fmt.Sprintf(`{"field":%q,"order":%q}`, name, order)
}

// describe fills in a parameter of aql.Query.
func (c *collection) describe(f *shapes.Field, standard string) {
	switch f.Param.Name {
	case "filter":
		f.Param.Description = "By " + strings.Join(names(c.filterable), ", ") + ": " + c.example()
	case "query":
		f.Param.Description = "Words, of which " + strings.Join(names(c.searchable), " or ") +
			` contains one; "…" is one with blanks`
	case "sort":
		f.Param.Default = standard
		fields := strings.Join(names(c.sortable), ", ")
		f.Param.Description = "field: " + fields + "; order: asc, desc"
		if standard == "" { // which shows what an order looks like
			f.Param.Description = `{"field":f,"order":"asc"|"desc"}; f: ` + fields
		}
		for i := range f.Shape.Fields {
			if by := &f.Shape.Fields[i]; by.Param.Name == "field" {
				by.Param.Enum = names(c.sortable)
			}
		}
	case "aggregate":
		c.describeSummaries(f)
	case "include_items":
		f.Param.Description = "Items too"
	default:
		f.Param.Description = gen.PageDescription(f.Param.Name, gen.PageSize, gen.MaxPageSize)
	}
}

func names(members []member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return names
}

// nested returns the fields of filters that are in structs of the elements.
func (c *collection) nested() []shapes.Field {
	var fields []shapes.Field
	for _, m := range c.filterable {
		if m.isNested() {
			f := *m.Field
			f.Param.Name, f.Param.Filter = m.name, []string{}
			fields = append(fields, f)
		}
	}
	return fields
}

// example returns a filter of up to two fields.
func (c *collection) example() string {
	var members []string
	for _, m := range c.filterable {
		value := `"a"`
		switch shape := shapes.Element(m.Shape); shape.Kind {
		case shapes.Bool:
			value = "true"
		case shapes.Int, shapes.Uint, shapes.Float:
			value = `{"gte":1}`
		case shapes.Time:
			value = `{"lt":"2026-01-02T00:00:00Z"}`
		case shapes.String:
			if len(shape.Enum) > 0 {
				value = fmt.Sprintf("%q", shape.Enum[0].Value)
			}
		}
		if len(members) == 0 || len(members) == 1 && strings.Contains(value, "{") != strings.Contains(members[0], "{") {
			members = append(members, fmt.Sprintf("%q:%s", m.name, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}
