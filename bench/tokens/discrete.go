package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	document "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// discreteTools returns the tools of an MCP server without MCP-AQL: one for each operation, with the JSON Schema of its
// parameters. The comparison is fair: the schemas leave out what only an adapter accepts.
func discreteTools(adapter *gen.Definitions) ([]describe.Tool, error) {
	var tools []describe.Tool
	for i := range adapter.Operations {
		o := &adapter.Operations[i]
		schema, err := jsonschema.Text(inputSchema(adapter, o))
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", o.Name, err)
		}
		tools = append(tools, describe.Tool{
			Name: o.Name, Title: adapter.Name + ": " + o.Name, Description: o.Description, InputSchema: schema,
			ReadOnly: o.Category == gen.Read, Destructive: o.Category != gen.Read && o.Category != gen.Create,
		})
	}
	return tools, nil
}

// inputSchema returns the schema of an operation's parameters as a server without MCP-AQL would list it.
func inputSchema(adapter *gen.Definitions, o *gen.Operation) *document.Schema {
	own := *o
	own.Returns = gen.Returns{} // so that field selection does not list all paths
	own.Danger = gen.Safe       // so that there is no confirmation token
	schema := jsonschema.Params(adapter, &own)
	// The tool has a title and a description of its own; metadata parameters belong to MCP-AQL.
	schema.Version, schema.Title, schema.Description = "", "", ""
	schema.Examples, schema.PatternProperties = nil, nil
	types := schema.Definitions
	schema.Definitions = nil
	return simplified(schema, types)
}

// simplified returns a schema with types written where they are used, without null for absent values, and without the
// bounds of 64-bit integers. The types must not contain themselves.
func simplified(schema *document.Schema, types document.Definitions) *document.Schema {
	if schema == nil {
		return nil
	}
	s := *schema
	s.AnyOf = slices.DeleteFunc(slices.Clone(s.AnyOf), func(a *document.Schema) bool { return a.Type == "null" })
	switch {
	case s.Ref != "":
		s = *simplified(types[s.Ref[strings.LastIndex(s.Ref, "/")+1:]], types)
	case len(s.AnyOf) == 1:
		s = *simplified(s.AnyOf[0], types)
	}
	if schema.Description != "" {
		s.Description = schema.Description
	}
	if schema.Default != nil {
		s.Default = schema.Default
	}
	for i := range s.AnyOf {
		s.AnyOf[i] = simplified(s.AnyOf[i], types)
	}
	if alternatives, ok := s.Extras["type"].([]string); ok {
		s.Type, s.Extras = alternatives[0], nil
	}
	s.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(value any) bool { return value == nil })
	if s.Minimum == json.Number(strconv.Itoa(math.MinInt64)) {
		s.Minimum = ""
	}
	if s.Maximum == json.Number(strconv.Itoa(math.MaxInt64)) {
		s.Maximum = ""
	}
	if s.Properties != nil {
		for property := s.Properties.Oldest(); property != nil; property = property.Next() {
			property.Value = simplified(property.Value, types)
		}
	}
	s.Items = simplified(s.Items, types)
	if s.AdditionalProperties != document.FalseSchema {
		s.AdditionalProperties = simplified(s.AdditionalProperties, types)
	}
	return &s
}
