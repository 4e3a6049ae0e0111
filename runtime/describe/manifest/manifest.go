// Package manifest renders definitions as the answer of get_manifest: what a service can do, as a declaration. It is derived
// from the same definitions as introspection, says nothing of how operations are reached or held back, and is the same byte
// for byte whatever mode, profile, prefix or trust level an adapter runs with (get_manifest, Stability Guarantees).
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
)

// document is a manifest (get_manifest, Output Structure). The order of members is that of the source's example.
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

// constraints tell that there are some, and nothing else of them (get_manifest, Constraints).
type constraints struct {
	Opaque bool `json:"opaque"`
}

// kind is what part a parameter plays.
type kind string

// The kinds (requirements T-78): what has to be given, what may be, and what is on or off.
const (
	argument kind = "argument"
	property kind = "property"
	toggle   kind = "switch"
)

// Render returns the manifest of a service as one line of JSON: its name, and its operations with their parameters, all in
// the order of the definitions. What the protocol brings to every adapter, such as introspect, is no part of definitions and
// so none of a manifest. It fails, saying everything that is wrong, on a service without a name and on defaults that are not
// JSON or look like the manifest's word for an empty one.
func Render(a *gen.Adapter) ([]byte, error) {
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

// kindOf is the kind of a parameter. A single boolean is a switch even where it has to be given: required tells that.
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

// empty is a default that is there and holds nothing.
const empty = `{"kind":"empty"}`

// defaultOf is what a manifest says of a default (get_manifest, Default Handling): nothing where none is defined, the word for
// empty where it is a list or object without members or null, else the literal. An empty text is a value like any other.
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

// constraintsOf tells that values are bound by more than their datatype.
func constraintsOf(p *gen.Param, named datatype) *constraints {
	if p.Minimum != "" && named.minimum() != p.Minimum || p.Maximum != "" || p.Pattern != "" || len(p.Enum) > 0 ||
		p.MinLength != 0 || p.MaxLength != 0 || p.MinItems != 0 || p.MaxItems != 0 || p.Type == gen.TypeSelection && len(p.Presets) > 0 {
		return &constraints{Opaque: true}
	}
	if p.Items == nil {
		return nil
	}
	return constraintsOf(p.Items, named)
}
