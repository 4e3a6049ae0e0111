package jsonschema

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Dialect is the dialect of the schemas, which documents name as $schema.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a JSON Schema. The zero Schema accepts everything. Its members are in the order in which they matter to a
// reader, and are written so.
type Schema struct {
	Dialect              string             `json:"$schema,omitempty"`
	Title                string             `json:"title,omitempty"`
	Description          string             `json:"description,omitempty"`
	Deprecated           bool               `json:"deprecated,omitzero"`
	Ref                  string             `json:"$ref,omitempty"`
	Type                 Types              `json:"type,omitempty"`
	Enum                 []any              `json:"enum,omitempty"` // strings, true and nil
	Format               string             `json:"format,omitempty"`
	Properties           Properties         `json:"properties,omitzero"`
	PatternProperties    map[string]bool    `json:"patternProperties,omitempty"`
	AdditionalProperties Additional         `json:"additionalProperties,omitzero"`
	Required             []string           `json:"required,omitempty"`
	Comment              string             `json:"$comment,omitempty"`
	AllOf                []*Schema          `json:"allOf,omitempty"`
	AnyOf                []*Schema          `json:"anyOf,omitempty"`
	OneOf                []*Schema          `json:"oneOf,omitempty"`
	Not                  *Schema            `json:"not,omitzero"`
	Items                *Schema            `json:"items,omitzero"`
	PropertyNames        *Schema            `json:"propertyNames,omitzero"`
	Maximum              jsontext.Value     `json:"maximum,omitzero"`
	Minimum              jsontext.Value     `json:"minimum,omitzero"`
	MaxLength            int                `json:"maxLength,omitzero"`
	MinLength            int                `json:"minLength,omitzero"`
	Pattern              string             `json:"pattern,omitempty"`
	MaxItems             int                `json:"maxItems,omitzero"`
	MinItems             int                `json:"minItems,omitzero"`
	MaxProperties        int                `json:"maxProperties,omitzero"`
	MinProperties        int                `json:"minProperties,omitzero"`
	ContentEncoding      string             `json:"contentEncoding,omitempty"`
	Default              jsontext.Value     `json:"default,omitzero"`
	ReadOnly             bool               `json:"readOnly,omitzero"`
	WriteOnly            bool               `json:"writeOnly,omitzero"`
	Examples             []jsontext.Value   `json:"examples,omitempty"`
	Definitions          map[string]*Schema `json:"$defs,omitempty"`
}

// Text returns the schema as compact JSON. The same schema gives the same bytes. It fails on a default, an example or a
// bound that is not JSON.
func (s *Schema) Text() ([]byte, error) {
	var text bytes.Buffer
	if err := json.MarshalWrite(&text, s, json.Deterministic(true)); err != nil {
		return nil, fmt.Errorf("writing a JSON Schema: %w", err)
	}
	return text.Bytes(), nil
}

// Types are the JSON types that a schema accepts; none: any.
type Types []string

// MarshalJSONTo writes a single type as a string.
func (t Types) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(t) == 1 {
		return e.WriteToken(jsontext.String(t[0]))
	}
	return json.MarshalEncode(e, []string(t))
}

// Properties are the properties of an object, in order.
type Properties []Property

// Property is a property of an object.
type Property struct {
	Name   string
	Schema *Schema
}

// Get returns the schema of a property; nil: there is none of that name.
func (p Properties) Get(name string) *Schema {
	for i := range p {
		if p[i].Name == name {
			return p[i].Schema
		}
	}
	return nil
}

// MarshalJSONTo writes an object.
func (p Properties) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range p {
		if err := e.WriteToken(jsontext.String(p[i].Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, p[i].Schema); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// Additional is what an object accepts besides its properties. The zero Additional accepts everything.
type Additional struct {
	None   bool
	Schema *Schema // of the values; nil: any
}

// MarshalJSONTo writes false or a schema.
func (a Additional) MarshalJSONTo(e *jsontext.Encoder) error {
	if a.None {
		return e.WriteToken(jsontext.False)
	}
	return json.MarshalEncode(e, a.Schema)
}
