package describe

import (
	"slices"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/search"
)

// Selection selects the operations or types that introspect lists (MCP-AQL introspection §8.3). Its zero value selects
// all.
type Selection struct {
	Search   string       // words; operations that they mean, the best first
	Category gen.Category // of the operations
	Danger   gen.Danger   // of the operations
	Prefix   string       // of the names
	Names    []string     // nil: any
	First    int          // how many of them; zero: as many as is usual
	After    string       // the name after which the page begins
}

func (s *Selection) hasName(name string) bool {
	return strings.HasPrefix(name, s.Prefix) && (s.Names == nil || slices.Contains(s.Names, name))
}

// pageInfo is the _protocol object of a page.
type pageInfo struct {
	Version string `json:"version"`
	Total   int    `json:"total"` // selected
	More    int    `json:"more"`  // after this page
}

// operationsPage is a page of the operations list.
type operationsPage struct {
	Protocol   pageInfo        `json:"_protocol"`
	Operations []operationInfo `json:"operations"`
}

// selector selects operations and types.
type selector struct {
	operations []*gen.Operation
	types      []gen.Type
	surface    Surface
	protocol   Protocol
	index      func() *search.Index // of the operations; made when it is searched first
}

func newSelector(operations []*gen.Operation, types []gen.Type, surface Surface, protocol Protocol) selector {
	return selector{
		operations: operations, types: types, surface: surface, protocol: protocol,
		index: sync.OnceValue(func() *search.Index { return newIndex(operations, types) }),
	}
}

// Select returns the answer to the query "operations" with a selection. It reports whether Selection.After is among
// what is selected.
func (i *Introspection) Select(selection Selection) (answer []byte, known bool) {
	found := i.selector.find(selection)
	page, more, known := pageOf(found, selection, func(o *gen.Operation) string { return o.Name })
	if !known {
		return nil, false
	}
	data := operationsPage{
		Protocol:   pageInfo{Version: Version, Total: len(found), More: more},
		Operations: infosOf(page, i.selector.surface, i.selector.protocol),
	}
	return render(success{Success: true, Data: data}), true
}

// SelectTypes returns the answer to the query "types" with a selection, of which it reads Prefix, Names, First and
// After. It reports whether Selection.After is among what is selected.
func (i *Introspection) SelectTypes(selection Selection) (answer []byte, known bool) {
	var found []gen.Type
	for _, t := range i.selector.types {
		if selection.hasName(t.Name) {
			found = append(found, t)
		}
	}
	page, _, known := pageOf(found, selection, func(t gen.Type) string { return t.Name })
	if !known {
		return nil, false
	}
	return render(success{Success: true, Data: map[string]any{"types": typeInfos(page)}}), true
}

// find returns the operations of a selection, whatever the page.
func (s *selector) find(selection Selection) []*gen.Operation {
	matches := func(o *gen.Operation) bool {
		return (selection.Category == "" || o.Category == selection.Category) &&
			(selection.Danger == "" || o.Danger == selection.Danger) && selection.hasName(o.Name)
	}
	var found []*gen.Operation
	if selection.Search == "" {
		for _, o := range s.operations {
			if matches(o) {
				found = append(found, o)
			}
		}
		return found
	}
	for _, at := range s.index().Find(selection.Search, func(at int) bool { return matches(s.operations[at]) }) {
		found = append(found, s.operations[at])
	}
	return found
}

// pageOf returns the entries of a page, and how many come after it.
func pageOf[E any](found []E, selection Selection, name func(E) string) (page []E, more int, known bool) {
	if selection.After != "" {
		at := slices.IndexFunc(found, func(one E) bool { return name(one) == selection.After })
		if at < 0 {
			return nil, 0, false
		}
		found = found[at+1:]
	}
	first := selection.First
	switch {
	case first > 0:
	case selection.Search != "":
		first = firstOfSearch
	default:
		first = firstOfSelection
	}
	first = min(first, len(found))
	return found[:first], len(found) - first, true
}

// newIndex returns the index of operations: their names, descriptions and parameters, and the types of these with the
// names of their fields.
func newIndex(operations []*gen.Operation, types []gen.Type) *search.Index {
	b := search.NewBuilder()
	byName := make(map[string]*gen.Type, len(types))
	for i := range types {
		byName[types[i].Name] = &types[i]
	}
	for _, o := range operations {
		b.Begin(o.Name)
		b.Add(o.Description, search.Summary)
		b.Add(o.Returns.Name, search.Type)
		for i := range o.Params {
			p := &o.Params[i]
			b.Add(p.Name, search.Param)
			b.Add(p.Description, search.Explanation)
			addType(b, p, byName)
		}
	}
	return b.Index()
}

// addType adds what the values of a parameter can be: the name of its type, with its fields or values.
func addType(b *search.Builder, p *gen.Param, types map[string]*gen.Type) {
	for p.Items != nil {
		p = p.Items
	}
	for _, value := range p.Enum {
		b.Add(value, search.Explanation)
	}
	t := types[p.Type]
	if t == nil {
		return
	}
	b.Add(t.Name, search.Type)
	for i := range t.Fields {
		b.Add(t.Fields[i].Name, search.Type)
	}
	for _, value := range t.Values {
		b.Add(value.Value, search.Explanation)
	}
}
