package adapterschema

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// param is a parameter of an operation.
type param struct {
	Type        string          `json:"type"`
	Required    bool            `json:"required,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Format      string          `json:"format,omitempty"`
}

func (r *renderer) param(path string, p *gen.Param) param {
	rendered := param{
		Type: r.typeName(p.Type), Required: p.Required, Description: p.Description, Enum: p.Enum,
		Pattern: p.Pattern, Format: p.Format, Default: json.RawMessage(p.Default),
		Minimum: json.RawMessage(p.Minimum), Maximum: json.RawMessage(p.Maximum),
	}
	for _, literal := range []struct{ member, text string }{
		{"default", p.Default}, {"minimum", p.Minimum}, {"maximum", p.Maximum},
	} {
		if literal.text != "" && !json.Valid([]byte(literal.text)) {
			r.fault("parameter %s: the %s %s is not JSON", path, literal.member, literal.text)
		}
	}
	var lost losses
	lost.add(p.MinLength != 0, "minimum length %d", p.MinLength)
	lost.add(p.MaxLength != 0, "maximum length %d", p.MaxLength)
	lost.add(p.MinItems != 0, "minimum number of items %d", p.MinItems)
	lost.add(p.MaxItems != 0, "maximum number of items %d", p.MaxItems)
	lost.add(p.Nullable, "that null is a value")
	if p.Items != nil {
		lost.add(true, "elements of type %s", p.Items.Type)
	}
	lost.add(p.Keys != nil, "%s", p.Names())
	lost.add(p.Sensitive, "sensitive")
	lost.add(p.DryRun, "dry run")
	lost.add(p.ReadOnly, "read-only")
	lost.add(p.AppendOnly, "append-only")
	lost.add(len(p.Aliases) > 0, "other names %s", strings.Join(p.Aliases, " and "))
	lost.add(len(p.Excludes) > 0, "that it excludes %s", strings.Join(p.Excludes, " and "))
	lost.add(len(p.Presets) > 0, "presets %s", strings.Join(p.Presets, " and "))
	lost.add(p.Deprecated != "", "deprecated")
	r.lose(path, lost)
	return rendered
}

// pagination is how an operation returns its result page by page.
type pagination struct {
	Style        string `json:"style"`
	DefaultLimit int    `json:"default_limit,omitempty"`
	MaxLimit     int    `json:"max_limit,omitempty"`
}

// styles are the pagination styles, each with the standard parameters for the size and the place of a page (MCP-AQL
// operations §4.4.1), and with the end of the Go path that the size has in aql.Query.
var styles = []struct{ name, size, place, queried string }{
	{"cursor", "first", "after", ".body.First"}, {"page", "page_size", "page", ".body.PageSize"},
	{"offset", "limit", "offset", ".body.Limit"},
}

// paginationOf recognizes pagination by the names of parameters; nil: there is none. Pages of aql.Query have the sizes
// that hold where the options of an adapter say no others.
func paginationOf(o *gen.Operation) *pagination {
	for _, style := range styles {
		size, sized := o.Param(style.size)
		if _, placed := o.Param(style.place); !sized || !placed || size.Type != "integer" {
			continue
		}
		if strings.HasSuffix(size.Go, style.queried) {
			return &pagination{style.name, gen.PageSize, gen.MaxPageSize}
		}
		return &pagination{style.name, positive(size.Default), positive(size.Maximum)}
	}
	return nil
}

// positive returns a positive integer; 0: the literal is not one.
func positive(literal string) int {
	n, err := strconv.Atoi(literal)
	if err != nil || n < 1 {
		return 0
	}
	return n
}
