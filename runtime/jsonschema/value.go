package jsonschema

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aqltag/aqltag/runtime/gen"
)

// element returns the schema of an element of a list or a map.
func (s *Set) element(p *gen.Param, as use) *Schema {
	value := s.param(p, as)
	if p.Nullable {
		return orNull(value)
	}
	return value
}

// param returns the schema of a parameter, a field or an element, which accepts null only if it accepts anything.
func (s *Set) param(p *gen.Param, as use) *Schema {
	schema := s.valueOf(p, as)
	if p.Description != "" {
		schema.Description = strings.TrimSpace(p.Description)
	}
	if p.Type == gen.TypeSelection {
		if note := s.types[s.resource(s.returns)].RelatedNote(); note != "" {
			schema.Description = sentence(schema.Description, note)
		}
	}
	if p.DryRun {
		schema.Description = sentence(schema.Description, "A dry run if true: nothing changes")
	}
	if p.Deprecated != "" {
		schema.Deprecated = true
		schema.Description = sentence(schema.Description, "Deprecated: "+p.Deprecated)
	}
	if as != output {
		schema.Default = literal(p.Default)
	}
	switch {
	case !s.asTool:
		schema.ReadOnly = p.ReadOnly
		schema.WriteOnly = p.Sensitive && as != output
	case len(p.Excludes) > 0:
		schema.Description = sentence(schema.Description, "Not together with "+strings.Join(p.Excludes, ", "))
	}
	return schema
}

func (s *Set) valueOf(p *gen.Param, as use) *Schema {
	switch p.Type {
	case gen.TypeSelection:
		return s.selection(p.Presets, s.returns)
	case "any":
		return &Schema{}
	case "string":
		return text(p, as)
	case "integer", "number":
		return s.number(p, as)
	case "boolean":
		return &Schema{Type: Types{"boolean"}}
	case "array":
		schema := &Schema{Type: Types{"array"}}
		if as != output {
			schema.MinItems, schema.MaxItems = p.MinItems, p.MaxItems
		}
		if p.Items != nil {
			schema.Items = s.element(p.Items, as)
		}
		return schema
	case "object":
		schema := &Schema{Type: Types{"object"}}
		if as != output {
			schema.MinProperties, schema.MaxProperties = p.MinItems, p.MaxItems
		}
		if p.Items != nil {
			schema.AdditionalProperties.Schema = s.element(p.Items, as)
		}
		if p.Keys != nil {
			schema.PropertyNames = propertyName(p.Keys, as)
		}
		return schema
	}
	t := s.types[p.Type]
	if t == nil {
		return &Schema{}
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
func quoted(p *gen.Param, as use) *Schema {
	schema := &Schema{Type: Types{"string"}}
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

func text(p *gen.Param, as use) *Schema {
	schema := &Schema{Type: Types{"string"}, Enum: enum(p.Enum)}
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
	schema.MinLength, schema.MaxLength = p.MinLength, p.MaxLength
	if p.Format == "byte" {
		schema.Pattern = base64
	}
	if p.Pattern != "" {
		pattern, ok := ecma(p.Pattern)
		if schema.Pattern = pattern; !ok {
			schema.Pattern = ""
			schema.Comment = "Go reads the pattern " + p.Pattern + " otherwise than JSON Schema, so it is not checked here."
		}
	}
	return schema
}

func (s *Set) number(p *gen.Param, as use) *Schema {
	schema := &Schema{Type: Types{p.Type}}
	if p.Format == gen.FormatFloat {
		schema.Format = p.Format
	}
	if as == output {
		return schema
	}
	low, high := p.Minimum, p.Maximum
	if p.Format == gen.FormatFloat {
		largest := strconv.FormatFloat(math.MaxFloat32, 'g', -1, 32)
		low, high = cmp.Or(low, "-"+largest), cmp.Or(high, largest)
	}
	if p.Type == "integer" && p.Format != gen.FormatBigInt && !s.asTool {
		low = cmp.Or(low, strconv.FormatInt(math.MinInt64, 10))
		high = cmp.Or(high, strconv.FormatInt(math.MaxInt64, 10))
	}
	schema.Minimum, schema.Maximum = literal(low), literal(high)
	return schema
}

// literal returns a JSON text; nil: there is none.
func literal(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}

func enum(values []string) []any {
	var list []any
	for _, v := range values {
		list = append(list, v)
	}
	return list
}

// orNull returns a schema that also accepts null.
func orNull(schema *Schema) *Schema {
	switch {
	case schema.Ref != "" || len(schema.AnyOf) > 0:
		outer := &Schema{
			Description: schema.Description, Default: schema.Default, Deprecated: schema.Deprecated, ReadOnly: schema.ReadOnly,
			WriteOnly: schema.WriteOnly,
		}
		inner := *schema
		inner.Description, inner.Default, inner.Deprecated, inner.ReadOnly, inner.WriteOnly = "", nil, false, false, false
		alternatives := inner.AnyOf
		if inner.Ref != "" {
			alternatives = []*Schema{&inner}
		}
		outer.AnyOf = append(slices.Clip(alternatives), &Schema{Type: Types{"null"}})
		return outer
	case len(schema.Type) == 0:
		return schema // anything
	}
	schema.Type = append(schema.Type, "null")
	if len(schema.Enum) > 0 {
		schema.Enum = append(slices.Clip(schema.Enum), nil)
	}
	return schema
}

// notNull returns a schema that does not accept null.
func notNull(schema *Schema) *Schema {
	if len(schema.Type) == 0 && schema.Ref == "" && len(schema.AnyOf) == 0 {
		schema.Not = &Schema{Type: Types{"null"}}
	}
	return schema
}
