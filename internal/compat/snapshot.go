package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Snapshot holds what an agent learns from introspect. Package introspection describes the document.
type Snapshot struct {
	protocol metadata
	sequence []*operation
	byName   map[string]*operation
	types    map[string]*typ
}

// metadata is the _protocol object, without the members that are not compared.
type metadata struct {
	Version       string                     `json:"version"`
	Conformance   string                     `json:"conformance"`
	Mode          string                     `json:"mode"`
	Profile       string                     `json:"profile"`
	Capabilities  map[string]json.RawMessage `json:"capabilities"`
	Limits        map[string]json.RawMessage `json:"limits"`
	Concurrency   string                     `json:"concurrency"`
	SupportsETag  bool                       `json:"supports_etag"`
	MaxConcurrent int                        `json:"max_concurrent_requests"`
	DangerLevels  map[string]string          `json:"danger_levels"`
}

// operation is an operation in full, with the notes in its description.
type operation struct {
	Name        string          `json:"name"`
	Category    string          `json:"semantic_category"`
	Endpoint    string          `json:"endpoint"`
	Tool        string          `json:"mcpTool"`
	Description string          `json:"description"`
	Parameters  []*value        `json:"parameters"`
	Examples    json.RawMessage `json:"examples"`
	Permissions struct {
		ReadOnly    bool `json:"readOnly"`
		Destructive bool `json:"destructive"`
	} `json:"permissions"`
	Returns struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"returns"`
	Computed []*value `json:"computed_fields"`
	notes    operationNotes
}

// typ is a type in full.
type typ struct {
	Name        string            `json:"name"`
	Kind        string            `json:"kind"`
	Description string            `json:"description"`
	Values      []json.RawMessage `json:"values"`
	Fields      []*value          `json:"fields"`
	Members     []string          `json:"members"`
}

// value is a parameter, a field, or an element of a list or map.
type value struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"`
	Required    bool              `json:"required"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	Minimum     json.RawMessage   `json:"minimum"`
	Maximum     json.RawMessage   `json:"maximum"`
	MinLength   *int              `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
	MinItems    *int              `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	Pattern     string            `json:"pattern"`
	Format      string            `json:"format"`
	Items       *value            `json:"items"`
	Sensitive   bool              `json:"sensitive"`
	notes       valueNotes
}

// maxDepth bounds the levels of elements in elements. It is more than the protocol allows a request.
const maxDepth = 100

// Parse reads a snapshot. It fails if the document is not JSON or not a snapshot, and on two operations or two types of
// one name.
func Parse(document []byte) (*Snapshot, error) {
	var read struct {
		Protocol   metadata     `json:"_protocol"`
		Operations []*operation `json:"operations"`
		Types      []*typ       `json:"types"`
	}
	if err := json.Unmarshal(document, &read); err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	if len(read.Operations) == 0 {
		return nil, errors.New(`the snapshot has no operations; "aql-tag export -format snapshot" makes one that has`)
	}
	s := &Snapshot{protocol: read.Protocol, byName: make(map[string]*operation), types: make(map[string]*typ)}
	var faults []error
	for i, o := range read.Operations {
		switch {
		case o == nil || o.Name == "":
			faults = append(faults, fmt.Errorf("operation %d of the snapshot has no name", i+1))
			continue
		case s.byName[o.Name] != nil:
			faults = append(faults, fmt.Errorf("the snapshot has two operations %q", o.Name))
			continue
		}
		faults = append(faults, prepare(o.Parameters, fmt.Sprintf("operation %q", o.Name)))
		spellOut(o.Computed)
		faults = append(faults, prepare(o.Computed, fmt.Sprintf("computed fields of operation %q", o.Name)))
		o.Examples = compact(o.Examples)
		o.readNotes(&s.protocol)
		s.byName[o.Name] = o
		s.sequence = append(s.sequence, o)
	}
	for i, t := range read.Types {
		switch {
		case t == nil || t.Name == "":
			faults = append(faults, fmt.Errorf("type %d of the snapshot has no name", i+1))
			continue
		case s.types[t.Name] != nil:
			faults = append(faults, fmt.Errorf("the snapshot has two types %q", t.Name))
			continue
		}
		faults = append(faults, prepare(t.Fields, fmt.Sprintf("type %q", t.Name)))
		cutOriginals(&t.Description, t.Fields)
		for i := range t.Values {
			t.Values[i] = compact(t.Values[i])
		}
		s.types[t.Name] = t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare checks parameters or fields and reads the notes in their descriptions.
func prepare(values []*value, of string) error {
	var faults []error
	names := make(map[string]bool)
	for i, v := range values {
		switch {
		case v == nil || v.Name == "":
			faults = append(faults, fmt.Errorf("parameter or field %d of %s has no name", i+1, of))
			continue
		case names[v.Name]:
			faults = append(faults, fmt.Errorf("%s has two parameters or fields %q", of, v.Name))
		}
		names[v.Name] = true
		if !v.prepare(0) {
			faults = append(faults, fmt.Errorf("%q of %s has elements in elements, more than %d deep", v.Name, of, maxDepth))
		}
	}
	return errors.Join(faults...)
}

func (v *value) prepare(depth int) bool {
	if depth > maxDepth {
		return false
	}
	v.normalize()
	v.Default, v.Minimum, v.Maximum = compact(v.Default), compact(v.Minimum), compact(v.Maximum)
	for i := range v.Enum {
		v.Enum[i] = compact(v.Enum[i])
	}
	v.readNotes()
	return v.Items == nil || v.Items.prepare(depth+1)
}

// compact returns JSON without white space; nil: it is null.
func compact(text json.RawMessage) json.RawMessage {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return text
	}
	return out.Bytes()
}
