package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// leaveOutOfQueries leaves the fields out of what the queries of collections may name: who filters or sorts by a field
// learns its values.
func (h hiddenFields) leaveOutOfQueries(definitions *gen.Definitions) {
	sorts := make(map[string]string) // the types of parameters sort to those of the elements
	definitions.Operations = slices.Clone(definitions.Operations)
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		element := elementOf(definitions, o)
		if len(h[element]) == 0 || !codec.Queries(o) {
			continue
		}
		o.Params = slices.Clone(o.Params)
		for k := range o.Params {
			switch p := &o.Params[k]; p.Name {
			case "filter":
				p.Description = "What to list"
			case "query":
				p.Description = "Words, of which a text contains one"
			case "sort":
				sorts[p.Type] = element
				p.Description = `{"field":f,"order":"asc"|"desc"}`
				if slices.ContainsFunc(h[element], func(name string) bool { return strings.Contains(p.Default, `"`+name+`"`) }) {
					p.Default = ""
				}
			}
		}
	}
	definitions.Types = slices.Clone(definitions.Types)
	for i := range definitions.Types {
		t := &definitions.Types[i]
		if t.Filters != "" {
			t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(p gen.Param) bool { return h.has(t.Filters, p.Name) })
		}
		element, isSort := sorts[t.Name]
		if !isSort {
			continue
		}
		t.Fields = slices.Clone(t.Fields)
		for k := range t.Fields {
			if f := &t.Fields[k]; f.Name == "field" {
				f.Enum = slices.DeleteFunc(slices.Clone(f.Enum), func(name string) bool { return h.has(element, name) })
			}
		}
	}
}

// elementOf returns the type of the items that an operation returns; empty: it returns none.
func elementOf(definitions *gen.Definitions, o *gen.Operation) string {
	page, ok := definitions.Type(o.Returns.Name)
	if !ok {
		return ""
	}
	for i := range page.Fields {
		if f := &page.Fields[i]; f.Name == "items" && f.Items != nil {
			return f.Items.Type
		}
	}
	return ""
}
