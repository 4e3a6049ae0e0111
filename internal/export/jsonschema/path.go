package jsonschema

import (
	"slices"
	"strings"

	document "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Paths to fields (field-selection schema, FieldPath).
const (
	segment = `[a-z][a-z0-9_]*`
	anyPath = `^` + segment + `(?:\.` + segment + `)*$`
	// longestPattern is the greatest length of an expression that lists all paths.
	longestPattern = 4000
)

// selection returns the schema of a field selection for results of a type: a preset, or paths of existing fields.
func (s *Set) selection(presets []string, result string) *document.Schema {
	pattern := anyPath
	if t, ok := s.adapter.Type(resource(s.adapter, result)); ok {
		if paths, ok := s.pathsOf(t, nil); ok && paths != "" {
			pattern = "^" + paths + "$"
		}
	}
	return &document.Schema{AnyOf: []*document.Schema{
		{Type: "string", Enum: enum(presets)},
		{Type: "array", MinItems: count(1), Items: &document.Schema{Type: "string", Pattern: pattern}},
	}}
}

// pathsOf returns an expression for the paths of fields in an object; empty: it has none. It does not list paths inside
// a type that contains itself. It returns false as soon as the expression is too long, because types that share others
// can have very many paths.
func (s *Set) pathsOf(t *gen.Type, open []string) (string, bool) {
	open = append(slices.Clip(open), t.Name)
	if t.Items != nil {
		below, ok := s.pathsBelow(t.Items, open)
		return segment + below, ok
	}
	var names []string
	length := 0
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name == "" || f.Name[0] < 'a' || f.Name[0] > 'z' {
			continue
		}
		below, ok := s.pathsBelow(f, open)
		if length += len(f.Name) + len(below) + 1; !ok || length > longestPattern {
			return "", false
		}
		names = append(names, f.Name+below)
	}
	if names == nil {
		return "", true
	}
	return "(?:" + strings.Join(names, "|") + ")", true
}

// pathsBelow returns an expression for the rest of a path after the name of a field. The rest is optional.
func (s *Set) pathsBelow(p *gen.Param, open []string) (string, bool) {
	for p.Type == "array" && p.Items != nil {
		p = p.Items
	}
	inner, ok := "", true
	if t, named := s.adapter.Type(p.Type); named && t.Kind == gen.KindObject {
		if slices.Contains(open, t.Name) {
			return "", true
		}
		inner, ok = s.pathsOf(t, open)
	} else if p.Type == "object" && p.Items != nil {
		inner, ok = s.pathsBelow(p.Items, open)
		inner = segment + inner
	}
	if inner == "" || !ok {
		return "", ok
	}
	return `(?:\.` + inner + `)?`, true
}
