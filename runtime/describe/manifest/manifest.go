// Package manifest renders definitions as the answer of get_manifest: a declaration of what a service can do. It
// contains nothing about how operations are reached or gated, so it is the same for every mode, profile, prefix and
// trust level (MCP-AQL get_manifest, Stability Guarantees).
//
//	text, err := manifest.Render(definitions)
//	// {"service":{"name":"todo"},"operations":[{"name":"create_todo","description":…
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
)

// document is a manifest (MCP-AQL get_manifest, Output Structure). Its members have the order of the document's
// example.
type document struct {
	Service    service     `json:"service"`
	Operations []operation `json:"operations"`
}

type service struct {
	Name string `json:"name"`
}

type operation struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Parameters  []parameter `json:"parameters"`
}

type parameter struct {
	Name        string          `json:"name"`
	Kind        kind            `json:"kind"`
	Datatype    datatype        `json:"datatype"`
	Required    bool            `json:"required"`
	Multiple    bool            `json:"multiple"`
	Default     json.RawMessage `json:"default,omitempty"`
	Constraints *constraints    `json:"constraints,omitempty"`
}

// constraints say only that a parameter has constraints (MCP-AQL get_manifest, Constraints).
type constraints struct {
	Opaque bool `json:"opaque"`
}

// kind is the kind of a parameter (MCP-AQL get_manifest, Output Structure).
type kind string

const (
	argument kind = "argument" // required
	property kind = "property" // optional
	toggle   kind = "switch"   // a boolean
)

// Render returns the manifest of a service as one line of JSON: its name, and its operations with their parameters in
// the order of the definitions. Built-in operations such as introspect are not part of it. The error lists everything
// that is wrong: a service without a name, and defaults that are not JSON or that a manifest could not distinguish from
// an empty one.
func Render(a *gen.Definitions) ([]byte, error) {
	d := document{Service: service{a.Name}, Operations: make([]operation, 0, len(a.Operations))}
	var faults []error
	if a.Name == "" {
		faults = append(faults, errors.New("the service has no name, which a manifest begins with"))
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		rendered := operation{Name: o.Name, Description: o.Description, Parameters: make([]parameter, 0, len(o.Params))}
		for j := range o.Params {
			p := &o.Params[j]
			value, err := defaultOf(p.Default)
			if err != nil {
				faults = append(faults, fmt.Errorf("operation %q, parameter %q: %w", o.Name, p.Name, err))
				continue
			}
			named, multiple := datatypeOf(a, p)
			rendered.Parameters = append(rendered.Parameters, parameter{
				Name: p.Name, Kind: kindOf(p, named, multiple), Datatype: named, Required: p.Required, Multiple: multiple,
				Default: value, Constraints: constraintsOf(p, named),
			})
		}
		d.Operations = append(d.Operations, rendered)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("rendering the manifest: %w", err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("rendering the manifest: %w", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// kindOf returns the kind of a parameter. A single boolean is a switch, also if it is required.
func kindOf(p *gen.Param, named datatype, multiple bool) kind {
	switch {
	case named == boolean && !multiple:
		return toggle
	case p.Required:
		return argument
	default:
		return property
	}
}

// empty is how a manifest writes an empty default.
const empty = `{"kind":"empty"}`

// defaultOf returns a default as a manifest writes it (MCP-AQL get_manifest, Default Handling); nil: there is none.
// Null and lists and objects without members are empty defaults, an empty string is not.
func defaultOf(literal string) (json.RawMessage, error) {
	if literal == "" {
		return nil, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(literal)); err != nil {
		return nil, fmt.Errorf("the default is not JSON: %w", err)
	}
	switch text := compact.String(); text {
	case "[]", "{}", "null":
		return json.RawMessage(empty), nil
	case empty:
		return nil, fmt.Errorf("the default %s means an empty default in a manifest; use another value", literal)
	default:
		return json.RawMessage(text), nil
	}
}

// constraintsOf returns constraints if values have more of them than their datatype implies; else nil.
func constraintsOf(p *gen.Param, named datatype) *constraints {
	bounds := p.Minimum != "" && named.minimum() != p.Minimum || p.Maximum != ""
	lengths := p.MinLength != 0 || p.MaxLength != 0 || p.MinItems != 0 || p.MaxItems != 0
	presets := p.Type == gen.TypeSelection && len(p.Presets) > 0
	if bounds || lengths || presets || p.Pattern != "" || len(p.Enum) > 0 {
		return &constraints{Opaque: true}
	}
	if p.Items == nil {
		return nil
	}
	return constraintsOf(p.Items, named)
}
