package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Render returns a document as JSON for people: indented by two spaces, with short lists on one line and the most
// important members of a schema first. The same document gives the same bytes.
func Render(schema json.Marshaler) ([]byte, error) {
	text, err := Text(schema)
	if err != nil {
		return nil, err
	}
	return Indent(text)
}

// Text returns a schema as compact JSON with its members in the order of Render. The order of the document's own
// encoding is not kept, because it writes lists of types last.
func Text(schema json.Marshaler) (json.RawMessage, error) {
	raw, err := schema.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing a schema: %w", err)
	}
	text, err := ordered(raw, isSchema)
	if err != nil {
		return nil, fmt.Errorf("ordering a schema: %w", err)
	}
	return json.RawMessage(text), nil
}

// meaning is the meaning of a JSON value in a schema.
type meaning int

const (
	isSchema  meaning = iota // or a list of schemas
	isSchemas                // schemas by name
	isData
)

// inside returns the meaning of a member of a schema.
func inside(name string) meaning {
	switch name {
	case "properties", "patternProperties", "$defs", "dependentSchemas":
		return isSchemas
	case "items", "prefixItems", "contains", "additionalProperties", "propertyNames", "not", "anyOf", "allOf", "oneOf",
		"if", "then", "else":
		return isSchema
	default:
		return isData
	}
}

// first lists the members at the beginning of a schema. $defs is at the end.
var first = []string{
	"$schema", "title", "description", "deprecated", "$ref", "type", "enum", "const", "format", "properties",
	"patternProperties", "additionalProperties", "required",
}

func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	if name == "$defs" {
		return len(first) + 1
	}
	return len(first)
}

// member is a member of an object.
type member struct {
	name  string
	value jsontext.Value
}

// ordered returns a value with the members of all schemas in it sorted.
func ordered(value jsontext.Value, what meaning) (jsontext.Value, error) {
	if what == isData {
		return value, nil
	}
	members, elements, err := parts(value)
	switch {
	case err != nil:
		return nil, err
	case value.Kind() == '[':
		var b bytes.Buffer
		for i, element := range elements {
			if element, err = ordered(element, what); err != nil {
				return nil, err
			}
			b.WriteByte("[,"[min(i, 1)])
			b.Write(element)
		}
		b.WriteByte(']')
		return b.Bytes(), nil
	case value.Kind() != '{':
		return value, nil
	}
	if what == isSchema {
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(rank(a.name), rank(b.name)) })
	}
	text := jsontext.Value("{")
	for i, m := range members {
		of := isSchema
		if what == isSchema {
			of = inside(m.name)
		}
		if m.value, err = ordered(m.value, of); err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = jsontext.AppendQuote(text, m.name); err != nil {
			return nil, err
		}
		text = append(append(text, ':'), m.value...)
	}
	return append(text, '}'), nil
}

// parts returns the members of an object, or the elements of an array.
func parts(value jsontext.Value) (members []member, elements []jsontext.Value, err error) {
	if kind := value.Kind(); kind != '{' && kind != '[' {
		return nil, nil, nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	open, err := decoder.ReadToken()
	for err == nil && decoder.PeekKind() != '}' && decoder.PeekKind() != ']' {
		var m member
		if open.Kind() == '{' {
			var name jsontext.Token
			if name, err = decoder.ReadToken(); err != nil {
				break
			}
			m.name = name.String()
		}
		if m.value, err = decoder.ReadValue(); err != nil {
			break
		}
		m.value = m.value.Clone()
		members, elements = append(members, m), append(elements, m.value)
	}
	return members, elements, err
}
