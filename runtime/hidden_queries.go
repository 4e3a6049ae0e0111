package aql

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// leaveOutOfQueries leaves the fields out of what the queries of collections may name: who filters or sorts by a field
// learns its values.
func (h hiddenFields) leaveOutOfQueries(definitions *gen.Definitions) {
	sorts := make(map[string]string) // the types of parameters sort to those of the elements
	summaries := make(map[string]string)
	definitions.Operations = slices.Clone(definitions.Operations)
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		element := elementOf(definitions, o)
		if !codec.Queries(o) || !h.touches(definitions, element, make(map[string]bool)) {
			continue
		}
		o.Params = slices.DeleteFunc(slices.Clone(o.Params), func(p gen.Param) bool {
			return p.Name == "sort" && !h.leavesOrder(definitions, element, p.Type)
		})
		for k := range o.Params {
			switch p := &o.Params[k]; p.Name {
			case "filter":
				p.Description = "What to list"
			case "query":
				p.Description = "Words, of which a text contains one"
			case "aggregate":
				if p.Items != nil {
					summaries[p.Items.Type] = element
				}
				p.Description = gen.SummaryDescription(`{"a":{"count":true}}`)
			case "sort":
				sorts[p.Type] = element
				p.Description = `{"field":f,"order":"asc"|"desc"}`
				var standard struct{ Field string }
				if json.Unmarshal([]byte(p.Default), &standard) == nil && h.hasPath(definitions, element, standard.Field) {
					p.Default = ""
				}
			}
		}
	}
	definitions.Types = slices.Clone(definitions.Types)
	for i := range definitions.Types {
		t := &definitions.Types[i]
		if t.Filters != "" {
			t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(p gen.Param) bool {
				return h.hasPath(definitions, t.Filters, p.Name)
			})
		}
		if element, ok := summaries[t.Name]; ok {
			t.Fields = h.leaveOutOfSummaries(definitions, element, t.Fields)
		}
		element, isSort := sorts[t.Name]
		if !isSort {
			continue
		}
		t.Fields = slices.Clone(t.Fields)
		for k := range t.Fields {
			if f := &t.Fields[k]; f.Name == "field" {
				f.Enum = slices.DeleteFunc(slices.Clone(f.Enum), func(name string) bool {
					return h.hasPath(definitions, element, name)
				})
			}
		}
	}
}

// leavesOrder reports whether there is a field left by which requests can sort. sort is the type of the parameter.
func (h hiddenFields) leavesOrder(definitions *gen.Definitions, element, sort string) bool {
	t, known := definitions.Type(sort)
	return known && slices.ContainsFunc(t.Fields, func(f gen.Param) bool {
		return f.Name == "field" && slices.ContainsFunc(f.Enum, func(name string) bool {
			return !h.hasPath(definitions, element, name)
		})
	})
}

// leaveOutOfSummaries returns the functions of summaries with the fields of the elements that they may name, and
// without the functions that may name none.
func (h hiddenFields) leaveOutOfSummaries(definitions *gen.Definitions, element string, all []gen.Param) []gen.Param {
	functions := make([]gen.Param, 0, len(all))
	for _, f := range all {
		if f.Enum != nil {
			f.Enum = slices.DeleteFunc(slices.Clone(f.Enum), func(name string) bool {
				return h.hasPath(definitions, element, name)
			})
			if len(f.Enum) == 0 {
				continue
			}
		}
		functions = append(functions, f)
	}
	return functions
}

// hasPath reports whether a field of a type is hidden, or one that leads to it: path is its name, or its path.
func (h hiddenFields) hasPath(definitions *gen.Definitions, typ, path string) bool {
	if strings.HasPrefix(path, gen.ComputedPrefix) {
		return h.has(typ, path)
	}
	for deeper := true; deeper; {
		var name string
		if name, path, deeper = strings.Cut(path, "."); h.has(typ, name) {
			return true
		}
		t, _ := definitions.Type(typ)
		if typ = ""; t == nil {
			continue
		}
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Name == name {
				typ = f.Type
			}
		}
	}
	return false
}

// touches reports whether a field of a type, or of one that its fields have, is hidden.
func (h hiddenFields) touches(definitions *gen.Definitions, typ string, visited map[string]bool) bool {
	t, ok := definitions.Type(typ)
	if !ok || visited[typ] {
		return false
	}
	visited[typ] = true
	return len(h[typ]) > 0 || slices.ContainsFunc(t.Fields, func(f gen.Param) bool {
		return h.touches(definitions, f.Type, visited)
	})
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
