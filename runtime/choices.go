package aql

import (
	"cmp"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

const codeIntrospection Code = "INTROSPECTION_ERROR"

// choiceNames are the parameters of introspect that choose what it shows.
var choiceNames = [...]string{"names", "search", "category", "danger", "prefix", "first", "after"}

// The positions of choiceNames.
const (
	choiceNamesAt = iota
	choiceSearch
	choiceCategory
	choiceDanger
	choicePrefix
	choiceFirst
	choiceAfter
)

// introspectChoices are the values of choiceNames in a request.
type introspectChoices struct {
	params [len(choiceNames)]introspectParam
	names  []string
	first  int64
}

// readChoice reads one of choiceNames.
func (c *introspectCall) readChoice(r *wire.Reader, name string) (known bool) {
	at := slices.Index(choiceNames[:], name)
	if at < 0 {
		return false
	}
	if c.selection == nil {
		c.selection = new(introspectChoices)
	}
	if p := &c.selection.params[at]; p.begins(r) {
		c.selection.read(r, at, p)
	}
	return true
}

// read reads a value, with the rules that introspection tells of it.
func (s *introspectChoices) read(r *wire.Reader, at int, p *introspectParam) {
	var ok bool
	switch at {
	case choiceNamesAt:
		if s.names, ok = r.Strings(); ok {
			_ = r.MinItems(len(s.names), 1) && r.MaxItems(len(s.names), describe.MostNames)
		}
		return
	case choiceFirst:
		if s.first, ok = r.Int(64); ok {
			_ = wire.Min(r, s.first, 1) && wire.Max(r, s.first, describe.MostListed)
		}
		return
	}
	if p.value, ok = r.String(); !ok {
		return
	}
	switch at {
	case choiceSearch:
		_ = r.MinLength(p.value, 1) && r.MaxLength(p.value, describe.LongestSearch)
	case choicePrefix:
		_ = r.MinLength(p.value, 1) && r.MaxLength(p.value, describe.LongestPrefix)
	case choiceCategory:
		_ = slices.Contains(gen.Categories(), gen.Category(p.value)) || r.Enum(p.value, describe.CategoryNames())
	case choiceDanger:
		_ = slices.Contains(gen.Dangers(), gen.Danger(p.value)) || r.Enum(p.value, describe.DangerNames())
	}
}

// selection returns what a list is narrowed to.
func (s *introspectChoices) selection() describe.Selection {
	return describe.Selection{
		Search: s.params[choiceSearch].value, Category: gen.Category(s.params[choiceCategory].value),
		Danger: gen.Danger(s.params[choiceDanger].value), Prefix: s.params[choicePrefix].value,
		Names: s.names, First: int(s.first), After: s.params[choiceAfter].value,
	}
}

// given returns the first parameter of a list of positions that the request has; empty: it has none.
func (c *introspectCall) given(positions ...int) string {
	if c.selection == nil {
		return ""
	}
	for _, at := range positions {
		if c.selection.params[at].present {
			return choiceNames[at]
		}
	}
	return ""
}

// selects reports whether the request narrows a list.
func (c *introspectCall) selects() bool {
	return c.given(choiceNamesAt, choiceSearch, choiceCategory, choiceDanger, choicePrefix, choiceFirst, choiceAfter) != ""
}

// misplaced is the failure of a parameter that does not go with the query, or with another parameter; nil: there is
// none.
func (c *introspectCall) misplaced() *Error {
	query := c.query.value
	lists := query == queryOperations || query == queryTypes
	narrowing := c.given(choiceSearch, choiceCategory, choiceDanger, choicePrefix, choiceFirst, choiceAfter)
	if query != describe.DetailsQuery {
		narrowing = cmp.Or(narrowing, c.given(choiceNamesAt))
	}
	ofOperations := c.given(choiceSearch, choiceCategory, choiceDanger)
	asksFields := query == describe.FieldsQuery
	var message string
	switch {
	case asksFields && !c.name.present:
		message = "Query 'fields' needs 'name', the name of an operation"
	case c.field.present && !asksFields:
		message = "Parameter 'field' goes with query 'fields' only"
	case query == describe.DetailsQuery && c.given(choiceNamesAt) == "":
		message = "Query 'details' needs 'names', a list of names of operations"
	case query == describe.DetailsQuery && c.name.present:
		message = "Parameter 'name' does not go with query 'details'; put it into 'names'"
	case narrowing != "" && !lists:
		message = "Parameter '" + narrowing + "' goes with queries 'operations' and 'types' only"
	case ofOperations != "" && query == queryTypes:
		message = "Parameter '" + ofOperations + "' goes with query 'operations' only"
	case narrowing != "" && c.name.present:
		message = "Parameter 'name' shows one in full, and '" + narrowing + "' narrows a list; leave one of them out"
	default:
		return nil
	}
	return failure(codeIntrospection, message)
}

// found returns the page of a list, or the failure of one that begins after nothing.
func found(page []byte, known bool) ([]byte, *Error) {
	if !known {
		return nil, failure(codeIntrospection, "Parameter 'after' names nothing in this selection. "+
			"Send the name of the last entry that you have, or leave it out to begin again")
	}
	return page, nil
}
