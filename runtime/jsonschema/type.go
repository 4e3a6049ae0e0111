package jsonschema

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// typed returns the schema of a type in one of its uses.
func (s *Set) typed(t *gen.Type, as use) *Schema {
	schema := &Schema{}
	switch t.Kind {
	case gen.KindEnum:
		schema.Type = Types{"string"}
		for _, v := range t.Values {
			schema.Enum = append(schema.Enum, v.Value)
		}
		if as == output && !slices.Contains(valuesOf(t), "") {
			schema.Enum = append(schema.Enum, "") // the zero value, which a handler may return
		}
	case gen.KindObject:
		schema = s.objectType(t, as)
	case gen.KindUnion:
		for _, member := range t.Members {
			schema.AnyOf = append(schema.AnyOf, s.ref(member, as))
		}
	case gen.KindScalar:
		if t.Name == nothing {
			schema.Type = Types{"null"}
		}
	}
	if schema.Description = describeType(t); s.asTool && t.Filters != "" {
		schema.Description = filterOfTool
	}
	return schema
}

// describeType returns the description of a type and of its values.
func describeType(t *gen.Type) string {
	text := strings.TrimSpace(t.Description)
	for _, v := range t.Values {
		if v.Description != "" {
			text = sentence(text, v.Value+": "+v.Description)
		}
	}
	return text
}

// sentence appends a sentence to a text.
func sentence(text, next string) string {
	switch {
	case text == "":
		return next
	case strings.ContainsAny(text[len(text)-1:], ".!?:"):
		return text + " " + next
	default:
		return text + ". " + next
	}
}

func (s *Set) objectType(t *gen.Type, as use) *Schema {
	if t.Items != nil {
		return &Schema{Type: Types{"object"}, AdditionalProperties: Additional{Schema: s.element(t.Items, as)}}
	}
	if as == output {
		return s.outputType(t)
	}
	schema := s.object(s.accepted(t, as), func(p *gen.Param) *Schema {
		if p.Filter != nil && t.Filters != "" {
			return s.condition(p)
		}
		value := s.param(p, as)
		if t.Filters != "" { // in which null is no absence
			return value
		}
		absent := as == input && t.Changes == "" && !s.asTool // null is absence
		if !p.Required && (p.Nullable || absent) {
			return orNull(value)
		}
		return notNull(value)
	})
	if s.summary[t.Name] && !s.asTool {
		schema.AllOf = append(schema.AllOf, &Schema{AnyOf: functions(t)})
	}
	return schema
}

// functions returns the rule that a summary of a collection has one function or more.
func functions(t *gen.Type) (rules []*Schema) {
	for i := range t.Fields {
		switch f := &t.Fields[i]; f.Name {
		case gen.GroupBy:
		case "count":
			rules = append(rules, &Schema{
				Required: []string{f.Name}, Properties: Properties{{f.Name, &Schema{Enum: []any{true}}}},
			})
		default:
			rules = append(rules, given(f))
		}
	}
	return rules
}

// accepted returns the fields that a request may contain. An update must not contain those that it cannot change.
func (s *Set) accepted(t *gen.Type, as use) []gen.Param {
	if as != changes {
		return t.Fields
	}
	return slices.DeleteFunc(slices.Clone(t.Fields), func(p gen.Param) bool { return p.ReadOnly || p.AppendOnly })
}

// outputType returns the schema of an object in results, which have no sensitive fields. A field is required if it is
// always written. It is not if it has omitempty or omitzero, if it belongs to an embedded struct, which may be nil, or
// if requests can select the fields.
func (s *Set) outputType(t *gen.Type) *Schema {
	fields := slices.DeleteFunc(slices.Clone(t.Fields), func(p gen.Param) bool { return p.Sensitive })
	for i := range fields {
		f := &fields[i]
		f.Required = !f.OmitEmpty && !f.OmitZero && !strings.Contains(f.Go, ".") && !s.partial[t.Name]
		f.Aliases = nil
	}
	schema := s.object(fields, s.outputParam)
	for i := range t.Related {
		schema.Properties = append(schema.Properties, Property{t.Related[i].Name, s.outputParam(&t.Related[i])})
	}
	if t.Computed != nil {
		schema.Properties = append(schema.Properties, s.computed(t))
	}
	return schema
}

// outputParam returns the schema of a field in results.
func (s *Set) outputParam(p *gen.Param) *Schema {
	value := s.param(p, output)
	if p.Nullable {
		return orNull(value)
	}
	return value
}

// object returns the schema of an object with these fields and no others.
func (s *Set) object(fields []gen.Param, value func(p *gen.Param) *Schema) *Schema {
	schema := &Schema{
		Type: Types{"object"}, Properties: Properties{}, AdditionalProperties: Additional{None: true},
	}
	for i := range fields {
		p := &fields[i]
		if s.asTool && p.Aliases != nil {
			one := *p
			one.Aliases = nil
			p = &one
		}
		schema.Properties = append(schema.Properties, Property{p.Name, value(p)})
		for _, alias := range p.Aliases {
			other := value(p)
			other.Description, other.Default = "Another name of "+p.Name, nil
			schema.Properties = append(schema.Properties, Property{alias, other})
		}
		named := append([]string{p.Name}, p.Aliases...)
		switch {
		case len(named) > 1:
			schema.AllOf = append(schema.AllOf, oneName(named, p.Required))
		case p.Required:
			schema.Required = append(schema.Required, p.Name)
		}
		if !s.asTool { // whose schemas have no combinations; descriptions say it
			schema.AllOf = append(schema.AllOf, exclusions(fields[:i], p)...)
		}
	}
	return schema
}

// oneName returns the rule that an object has exactly one of the names of a value, or at most one if it is optional.
func oneName(names []string, required bool) *Schema {
	rule := &Schema{}
	for _, name := range names {
		rule.OneOf = append(rule.OneOf, &Schema{Required: []string{name}})
	}
	if !required {
		none := &Schema{Not: &Schema{AnyOf: rule.OneOf}}
		rule.OneOf = append(slices.Clip(rule.OneOf), none)
	}
	return rule
}

// exclusions returns the rules that an object does not have a field together with one that it excludes, of those before
// it. null is the absence of both.
func exclusions(before []gen.Param, p *gen.Param) []*Schema {
	var rules []*Schema
	for i := range before {
		if slices.Contains(p.Excludes, before[i].Name) {
			rules = append(rules, &Schema{Not: &Schema{AllOf: []*Schema{given(&before[i]), given(p)}}})
		}
	}
	return rules
}

// given returns the rule that an object has a field under one of its names.
func given(p *gen.Param) *Schema {
	rule := &Schema{}
	for _, name := range append([]string{p.Name}, p.Aliases...) {
		value := Properties{{name, &Schema{Not: &Schema{Type: Types{"null"}}}}}
		rule.AnyOf = append(rule.AnyOf, &Schema{Required: []string{name}, Properties: value})
	}
	if len(rule.AnyOf) == 1 {
		return rule.AnyOf[0]
	}
	return rule
}
