package codec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Query finds what a request asks of a collection.
type Query struct {
	elements *elements
	orders   map[string]directions // by the fields that requests can sort by, and empty: by what identifies elements
	searched []*collection.Field   // fields of texts
	offset   uintptr               // of the collection.Query in the request
	params   []queryParam
	paging   gen.Paging
	own      []int // the parameters that say which elements there are, beside filter and sort
	goType   reflect.Type
	// summarises lists the fields that may stand behind each function of summaries; nil: there are no summaries.
	summarises map[string][]string
	functions  []string // of summaries
}

// queryParam is a parameter of a query. They are few, and names that differ in length are told apart at once: a list of
// them is searched faster than a map.
type queryParam struct {
	name  string
	index int // in the definition of the operation
}

// param returns the index of a parameter of the query; false: the operation has none of that name.
func (q *Query) param(name string) (index int, ok bool) {
	for i := range q.params {
		if p := &q.params[i]; p.name == name {
			return p.index, true
		}
	}
	return 0, false
}

// directions are the orders by a field, which all requests share.
type directions struct{ ascending, descending collection.Order }

// order adds the orders by a field; nil: by what identifies elements.
func (q *Query) order(name string, by *collection.Field) {
	q.orders[name] = directions{q.elements.order(by, false), q.elements.order(by, true)}
}

// anyQuery has the memory of every collection.Query.
type anyQuery = collection.Query[struct{}]

// Queries reports whether requests of an operation have an aql.Query.
func Queries(o *gen.Operation) bool { return PagingOf(o) != "" }

// PagingOf returns how requests of an operation name a page of its collection; empty: they have no aql.Query.
func PagingOf(o *gen.Operation) gen.Paging {
	_, paging := queryPath(o)
	return paging
}

// queryPath returns the Go path of the collection.Query in the requests of an operation, and how they name a page;
// empty: they have none. Each style has a parameter for the size of a page.
func queryPath(o *gen.Operation) (path string, paging gen.Paging) {
	const body = ".body"
	for i := range o.Params {
		p := &o.Params[i]
		for _, size := range [...]struct {
			name, field string
			paging      gen.Paging
		}{
			{"first", ".First", gen.PagingCursor}, {"page_size", ".PageSize", gen.PagingPage},
			{"limit", ".Limit", gen.PagingOffset},
		} {
			if prefix, ok := strings.CutSuffix(p.Go, body+size.field); ok && p.Name == size.name {
				return prefix + body, size.paging
			}
		}
	}
	return "", ""
}

// presetPath returns the Go path of the preset in the aql.Fields of the requests of an operation; empty: they have
// none.
func presetPath(o *gen.Operation) string {
	for i := range o.Params {
		p := &o.Params[i]
		if fields, ok := strings.CutSuffix(p.Go, ".Select"); ok && p.Type == gen.TypeSelection {
			return fields + ".Preset"
		}
	}
	return ""
}

// Query compiles what requests of type t can ask of a collection. It is called in front of Request, which knows no
// filters otherwise, so that an adapter without collections does not link how they are read.
func (s *Set) Query(t reflect.Type, o *gen.Operation) (*Query, error) {
	s.filterDecoder = s.compileFilter
	path, paging := queryPath(o)
	at, field, err := locate(t, path)
	if err != nil || len(at.steps) > 0 || field.Type.Kind() != reflect.Struct {
		return nil, fmt.Errorf("operation %s: its request has no aql.Query; the generated code is out of date", o.Name)
	}
	of, ok := field.Type.FieldByName("Filter")
	if !ok || !isFilter(of.Type) {
		return nil, fmt.Errorf("operation %s: its request has no aql.Query; the generated code is out of date", o.Name)
	}
	q := &Query{
		offset: at.offset, paging: paging, orders: make(map[string]directions), goType: field.Type,
	}
	preset := presetPath(o)
	for i := range o.Params {
		p := &o.Params[i]
		switch {
		case strings.HasPrefix(p.Go, path+"."):
			q.params = append(q.params, queryParam{p.Name, i})
		case p.Type != gen.TypeSelection && p.Go != preset:
			q.own = append(q.own, i)
		}
	}
	element, err := s.elementName(o)
	if err != nil {
		return nil, err
	}
	if q.elements, err = s.elements(of.Type.Field(0).Type.Elem().Elem(), element); err != nil {
		return nil, fmt.Errorf("operation %s: %w", o.Name, err)
	}
	if _, searches := q.param("query"); searches {
		for i := range q.elements.params {
			p := &q.elements.params[i]
			if !p.Search {
				continue
			}
			field, err := s.compared(q.elements, p.Name)
			if err != nil {
				return nil, fmt.Errorf("operation %s: %w", o.Name, err)
			}
			q.searched = append(q.searched, field.Field)
		}
	}
	if err := s.summarisable(q, o); err != nil {
		return nil, err
	}
	return q, s.sortable(q, o)
}

// elementName returns the type of the items of a result.
func (s *Set) elementName(o *gen.Operation) (string, error) {
	if page := s.types[o.Returns.Name]; page != nil {
		for i := range page.Fields {
			if f := &page.Fields[i]; f.Name == "items" && f.Items != nil {
				return f.Items.Type, nil
			}
		}
	}
	return "", fmt.Errorf("operation %s: it returns no page; the generated code is out of date", o.Name)
}

// sortable compiles how elements are compared by the fields that requests can sort by.
func (s *Set) sortable(q *Query, o *gen.Operation) error {
	q.order("", nil)
	i, ok := q.param("sort")
	if !ok {
		return nil
	}
	sort := s.types[o.Params[i].Type]
	if sort == nil {
		return fmt.Errorf("operation %s: its parameter sort has no type; the generated code is out of date", o.Name)
	}
	for k := range sort.Fields {
		if sort.Fields[k].Name != "field" {
			continue
		}
		for _, name := range sort.Fields[k].Enum {
			field, err := s.compared(q.elements, name)
			if err != nil {
				return fmt.Errorf("operation %s: %w", o.Name, err)
			}
			q.order(name, field.Field)
		}
	}
	return nil
}

// Asked is what a request asks of a collection.
type Asked struct {
	Conditions  *collection.Node // nil: there are none
	Order       collection.Order
	SortField   string // empty: none
	Descending  bool
	First, Last int
	Page        int
	PageSize    int
	Limit       int
	Offset      int
	Text        string   // empty: none
	Words       []string // of Text
	Takes       []string // Words, if the caller may know what all fields contain that are looked into
	After       string
	Before      string
	Items       bool // beside summaries
	place       *anyQuery
}

// Of returns what the request at place asks. Words are not looked for in what mask hides.
func (q *Query) Of(place unsafe.Pointer, mask *Mask) Asked {
	read := (*anyQuery)(unsafe.Add(place, q.offset))
	a := Asked{
		Conditions: read.Filter.Given.Node, SortField: read.Sort.Field, Descending: read.Sort.Order == "desc",
		First: read.First, Last: read.Last, After: read.After, Before: read.Before, Page: read.Page,
		PageSize: read.PageSize, Limit: read.Limit, Offset: read.Offset, Items: read.IncludeItems, place: read,
	}
	if q.searched != nil {
		a.Text, a.Words = read.Text, collection.Words(read.Text)
		visible := slices.DeleteFunc(slices.Clone(q.searched), func(f *collection.Field) bool {
			return q.Hides(mask, f.Name)
		})
		a.Conditions = collection.Searching(a.Conditions, visible, a.Words)
		if len(visible) == len(q.searched) {
			a.Takes = a.Words
		}
	}
	orders := q.orders[a.SortField]
	if a.Order = orders.ascending; a.Descending {
		a.Order = orders.descending
	}
	return a
}

// Filter returns the filter as the request gives it, without what Of adds; nil: there is none.
func (a *Asked) Filter() *collection.Node { return a.place.Filter.Given.Node }

// Hides reports whether mask hides a field by which requests can filter, sort or search.
func (q *Query) Hides(mask *Mask, name string) bool {
	f := q.elements.fields[name]
	return mask != nil && f != nil && f.hidden(mask)
}

// Bind makes the query of the request ready to be answered.
func (a *Asked) Bind(b *collection.Bound) { a.place.Bound = b }

// Paging returns how requests name a page.
func (q *Query) Paging() gen.Paging { return q.paging }

// Computes reports whether requests may filter or sort by computed fields.
func (q *Query) Computes() bool { return q.elements.computes }

// Gives reports whether a request gives a parameter of its query.
func (q *Query) Gives(given *Given, name string) bool {
	i, ok := q.param(name)
	return ok && given.Has(i)
}

// Own returns the indexes of the other parameters, which say what is in the collection.
func (q *Query) Own() []int { return q.own }
