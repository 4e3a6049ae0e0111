package jsonschema

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	document "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/runtime/gen"
)

// element returns the schema of an element of a list or a map.
func (s *Set) element(p *gen.Param, as use) *document.Schema {
	value := s.param(p, as)
	if p.Nullable {
		return orNull(value)
	}
	return value
}

// param returns the schema of a parameter, a field or an element, which accepts null only if it accepts anything.
func (s *Set) param(p *gen.Param, as use) *document.Schema {
	schema := s.valueOf(p, as)
	if p.Description != "" {
		schema.Description = strings.TrimSpace(p.Description)
	}
	if p.DryRun {
		schema.Description = sentence(schema.Description, "A dry run if true: nothing changes")
	}
	if p.Deprecated != "" {
		schema.Deprecated = true
		schema.Description = sentence(schema.Description, "Deprecated: "+p.Deprecated)
	}
	if p.Default != "" && as != output {
		schema.Default = json.RawMessage(p.Default)
	}
	schema.ReadOnly = p.ReadOnly
	schema.WriteOnly = p.Sensitive && as != output
	return schema
}

func (s *Set) valueOf(p *gen.Param, as use) *document.Schema {
	switch p.Type {
	case gen.TypeSelection:
		return s.selection(p.Presets, s.returns)
	case "any":
		return &document.Schema{}
	case "string":
		return text(p, as)
	case "integer", "number":
		return number(p, as)
	case "boolean":
		return &document.Schema{Type: "boolean"}
	case "array":
		schema := &document.Schema{Type: "array"}
		if as != output {
			schema.MinItems, schema.MaxItems = count(p.MinItems), count(p.MaxItems)
		}
		if p.Items != nil {
			schema.Items = s.element(p.Items, as)
		}
		return schema
	case "object":
		schema := &document.Schema{Type: "object"}
		if as != output {
			schema.MinProperties, schema.MaxProperties = count(p.MinItems), count(p.MaxItems)
		}
		if p.Items != nil {
			schema.AdditionalProperties = s.element(p.Items, as)
		}
		if p.Keys != nil {
			schema.PropertyNames = propertyName(p.Keys, as)
		}
		return schema
	}
	t, ok := s.adapter.Type(p.Type)
	if !ok {
		return &document.Schema{}
	}
	schema := s.ref(p.Type, as)
	if t.Kind == gen.KindEnum && as != output && len(p.Enum) > 0 && !slices.Equal(p.Enum, valuesOf(t)) {
		schema.Enum = enum(p.Enum)
	}
	return schema
}

func valuesOf(t *gen.Type) []string {
	var values []string
	for _, v := range t.Values {
		values = append(values, v.Value)
	}
	return values
}

// base64 matches the binary data that adapters accept: with padding, and without unused bits in the last group.
const base64 = `^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$`

// quotedText matches a string as JSON writes it.
const quotedText = `^"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:[0-9A-CEFa-cef][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|` +
	`[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})))*"$`

// quoted returns the schema of a value in a string. Of its rules, those on integers and the values of enums are told:
// the others apply to what is in the string.
func quoted(p *gen.Param, as use) *document.Schema {
	schema := &document.Schema{Type: "string"}
	switch p.Pattern {
	case gen.PatternInteger, gen.PatternNatural, gen.PatternNumber:
	default:
		for _, v := range p.Enum {
			if v != "true" && v != "false" { // a text, which has quotation marks of its own
				v = strconv.Quote(v)
			}
			schema.Enum = append(schema.Enum, v)
		}
	}
	if as == output {
		return schema
	}
	switch {
	case p.Pattern == gen.PatternInteger:
		schema.Pattern = integerPattern(p.Minimum, p.Maximum)
	case p.Pattern == gen.PatternNatural:
		schema.Pattern = integerPattern(cmp.Or(p.Minimum, "0"), cmp.Or(p.Maximum, "18446744073709551615"))
	case p.Pattern == gen.PatternNumber:
		schema.Pattern = p.Pattern
	case len(p.Enum) == 0:
		schema.Pattern = quotedText
	}
	return schema
}

func text(p *gen.Param, as use) *document.Schema {
	schema := &document.Schema{Type: "string", Enum: enum(p.Enum)}
	if p.Quoted {
		return quoted(p, as)
	}
	if schema.Format = p.Format; p.Format == "byte" {
		schema.Format, schema.ContentEncoding = "", "base64"
	}
	if as == output {
		schema.Enum = nil // a rule for requests
		if p.FormatRule {
			schema.Format = ""
		}
		return schema
	}
	schema.MinLength, schema.MaxLength = count(p.MinLength), count(p.MaxLength)
	if p.Format == "byte" {
		schema.Pattern = base64
	}
	if p.Pattern != "" {
		pattern, ok := ecma(p.Pattern)
		if schema.Pattern = pattern; !ok {
			schema.Pattern = ""
			schema.Comments = "Go reads the pattern " + p.Pattern + " otherwise than JSON Schema, so it is not checked here."
		}
	}
	return schema
}

func number(p *gen.Param, as use) *document.Schema {
	schema := &document.Schema{Type: p.Type}
	if p.Format == gen.FormatFloat {
		schema.Format = p.Format
	}
	if as == output {
		return schema
	}
	schema.Minimum, schema.Maximum = json.Number(p.Minimum), json.Number(p.Maximum)
	if p.Format == gen.FormatFloat {
		largest := strconv.FormatFloat(math.MaxFloat32, 'g', -1, 32)
		schema.Minimum = cmp.Or(schema.Minimum, json.Number("-"+largest))
		schema.Maximum = cmp.Or(schema.Maximum, json.Number(largest))
	}
	if p.Type == "integer" && p.Format != gen.FormatBigInt {
		if p.Minimum == "" {
			schema.Minimum = json.Number(strconv.FormatInt(math.MinInt64, 10))
		}
		if p.Maximum == "" {
			schema.Maximum = json.Number(strconv.FormatInt(math.MaxInt64, 10))
		}
	}
	return schema
}

func enum(values []string) []any {
	var list []any
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

func count(n int) *uint64 {
	if n <= 0 {
		return nil
	}
	c := uint64(n)
	return &c
}

// orNull returns a schema that also accepts null.
func orNull(schema *document.Schema) *document.Schema {
	switch {
	case schema.Ref != "" || len(schema.AnyOf) > 0:
		outer := &document.Schema{
			Description: schema.Description, Default: schema.Default, Deprecated: schema.Deprecated, ReadOnly: schema.ReadOnly,
			WriteOnly: schema.WriteOnly,
		}
		inner := *schema
		inner.Description, inner.Default, inner.Deprecated, inner.ReadOnly, inner.WriteOnly = "", nil, false, false, false
		alternatives := inner.AnyOf
		if inner.Ref != "" {
			alternatives = []*document.Schema{&inner}
		}
		outer.AnyOf = append(slices.Clip(alternatives), &document.Schema{Type: "null"})
		return outer
	case schema.Type == "":
		return schema // anything
	}
	schema.Extras = map[string]any{"type": []string{schema.Type, "null"}}
	schema.Type = ""
	if len(schema.Enum) > 0 {
		schema.Enum = append(slices.Clip(schema.Enum), nil)
	}
	return schema
}

// notNull returns a schema that does not accept null.
func notNull(schema *document.Schema) *document.Schema {
	if schema.Type == "" && schema.Ref == "" && len(schema.AnyOf) == 0 {
		schema.Not = &document.Schema{Type: "null"}
	}
	return schema
}
