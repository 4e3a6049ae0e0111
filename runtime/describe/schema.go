package describe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// schema is a JSON Schema (draft 2020-12), as far as definitions need it.
type schema struct {
	Ref                  string            `json:"$ref,omitempty"`
	Type                 string            `json:"type,omitempty"`
	Description          string            `json:"description,omitempty"`
	Properties           *members          `json:"properties,omitempty"`
	Required             []string          `json:"required,omitempty"`
	AdditionalProperties any               `json:"additionalProperties,omitempty"` // false or *schema
	Items                *schema           `json:"items,omitempty"`
	AnyOf                []*schema         `json:"anyOf,omitempty"`
	Enum                 []string          `json:"enum,omitempty"`
	Default              json.RawMessage   `json:"default,omitempty"`
	Minimum              json.RawMessage   `json:"minimum,omitempty"`
	Maximum              json.RawMessage   `json:"maximum,omitempty"`
	MinLength            int               `json:"minLength,omitempty"`
	MaxLength            int               `json:"maxLength,omitempty"`
	MinItems             int               `json:"minItems,omitempty"`
	MaxItems             int               `json:"maxItems,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	Format               string            `json:"format,omitempty"`
	ReadOnly             bool              `json:"readOnly,omitempty"`
	Defs                 map[string]schema `json:"$defs,omitempty"`
}

// members are properties in definition order.
type members []member

type member struct {
	name  string
	value schema
}

// MarshalJSON writes the members as an object.
func (m members) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, member := range m {
		name, err := render(member.name)
		if err != nil {
			return nil, err
		}
		value, err := render(member.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// schemaWriter makes schemas of parameters. Types are written where they are used; only one that contains itself goes to
// $defs.
type schemaWriter struct {
	adapter *gen.Adapter
	open    []string // types being written, outermost first
	defs    map[string]schema
}

func (w *schemaWriter) object(fields []gen.Param) schema {
	properties := make(members, 0, len(fields))
	object := schema{Type: "object", Properties: &properties, AdditionalProperties: false}
	for i := range fields {
		field := &fields[i]
		properties = append(properties, member{field.Name, w.param(field)})
		if field.Required {
			object.Required = append(object.Required, field.Name)
		}
	}
	return object
}

func (w *schemaWriter) param(p *gen.Param) schema {
	s := w.named(p.Type)
	if p.Type == gen.TypeSelection {
		s = selectionSchema(p.Presets)
	}
	if p.Description != "" {
		s.Description = p.Description
	}
	if p.Deprecated != "" {
		var n notes
		n.add(s.Description)
		n.add("Deprecated: " + p.Deprecated)
		s.Description = n.String()
	}
	if len(p.Enum) > 0 {
		s.Enum = p.Enum
	}
	s.Default, s.Minimum, s.Maximum = json.RawMessage(p.Default), json.RawMessage(p.Minimum), json.RawMessage(p.Maximum)
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems = p.MinLength, p.MaxLength, p.MinItems, p.MaxItems
	s.Pattern, s.Format, s.ReadOnly = p.Pattern, p.Format, p.ReadOnly
	if p.Items != nil {
		items := w.param(p.Items)
		if p.Type == "object" {
			s.AdditionalProperties = &items
		} else {
			s.Items = &items
		}
	}
	return s
}

// selectionSchema is what agents may say about the fields of a result: a preset, or paths (field-selection schema). Which
// paths there are, the type of the result tells.
func selectionSchema(presets []string) schema {
	const path = `^([a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*|_computed\.[a-z][a-z0-9_]*)$`
	return schema{AnyOf: []*schema{
		{Type: "string", Enum: presets},
		{Type: "array", MinItems: 1, Items: &schema{Type: "string", Pattern: path}},
	}}
}

// named is the schema of a type given by name: built in, registered, or a union such as "string | string[]".
func (w *schemaWriter) named(name string) schema {
	if alternatives := strings.Split(name, " | "); len(alternatives) > 1 {
		var union schema
		for _, alternative := range alternatives {
			s := w.named(alternative)
			union.AnyOf = append(union.AnyOf, &s)
		}
		return union
	}
	if element, list := strings.CutSuffix(name, "[]"); list {
		items := w.named(element)
		return schema{Type: "array", Items: &items}
	}
	switch name {
	case "any":
		return schema{}
	case "string", "integer", "number", "boolean", "object", "array", "null":
		return schema{Type: name}
	}
	t, ok := w.adapter.Type(name)
	if !ok {
		return schema{}
	}
	if slices.Contains(w.open, name) {
		w.defs[name] = schema{}
		return schema{Ref: "#/$defs/" + name}
	}
	w.open = append(w.open, name)
	s := w.typed(t)
	w.open = w.open[:len(w.open)-1]
	if _, recursive := w.defs[name]; recursive {
		w.defs[name] = s
		return schema{Ref: "#/$defs/" + name}
	}
	return s
}

func (w *schemaWriter) typed(t *gen.Type) schema {
	switch t.Kind {
	case gen.KindEnum:
		s := schema{Type: "string", Description: t.Description}
		for _, value := range t.Values {
			s.Enum = append(s.Enum, value.Value)
		}
		return s
	case gen.KindObject:
		s := w.object(t.Fields)
		s.Description = t.Description
		return s
	case gen.KindUnion:
		s := schema{Description: t.Description}
		for _, name := range t.Members {
			alternative := w.named(name)
			s.AnyOf = append(s.AnyOf, &alternative)
		}
		return s
	default:
		return schema{Description: t.Description}
	}
}

// paramsSchema renders the JSON Schema of an operation's parameters, which refuses what introspection does not list.
func paramsSchema(a *gen.Adapter, o *gen.Operation) (json.RawMessage, error) {
	w := schemaWriter{adapter: a, defs: make(map[string]schema)}
	s := w.object(o.Params)
	s.Defs = w.defs
	text, err := render(s)
	if err != nil {
		return nil, fmt.Errorf("schema of operation %q: %w", o.Name, err)
	}
	return text, nil
}
