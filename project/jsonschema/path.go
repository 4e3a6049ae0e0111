package jsonschema

import (
	"strings"

	document "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/model"
)

// Paths to fields (field-selection schema, FieldPath).
const (
	segment = `[a-z][a-z0-9_]*`
	anyPath = `^` + segment + `(?:\.` + segment + `)*$`
	// longestPattern is how long an expression may be that lists all paths.
	longestPattern = 4000
)

// selection is what may be said about the fields of the results of a type: a preset, or paths that lead to something.
func (s *Set) selection(presets []string, result string) *document.Schema {
	pattern := anyPath
	if t, ok := s.adapter.Type(resource(s.adapter, result)); ok {
		if paths := s.pathsOf(t, nil); paths != "" && len(paths) <= longestPattern {
			pattern = "^" + paths + "$"
		}
	}
	return &document.Schema{AnyOf: []*document.Schema{
		{Type: "string", Enum: enum(presets)},
		{Type: "array", MinItems: count(1), Items: &document.Schema{Type: "string", Pattern: pattern}},
	}}
}

// pathsOf is an expression for the paths that lead to something in an object; empty if none do. What is inside of a type that
// contains itself is not listed.
func (s *Set) pathsOf(t *model.Type, open []string) string {
	if t.Items != nil {
		return segment + s.pathsBelow(t.Items, append(open, t.Name))
	}
	var names []string
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Name != "" && f.Name[0] >= 'a' && f.Name[0] <= 'z' {
			names = append(names, f.Name+s.pathsBelow(f, append(open, t.Name)))
		}
	}
	if names == nil {
		return ""
	}
	return "(?:" + strings.Join(names, "|") + ")"
}

// pathsBelow is an expression for the rest of a path behind the name of a field: that rest may always be missing.
func (s *Set) pathsBelow(p *model.Param, open []string) string {
	for p.Type == "array" && p.Items != nil {
		p = p.Items
	}
	inner := ""
	if t, ok := s.adapter.Type(p.Type); ok && t.Kind == model.KindObject {
		for _, name := range open {
			if name == t.Name {
				return ""
			}
		}
		inner = s.pathsOf(t, open)
	} else if p.Type == "object" && p.Items != nil {
		inner = segment + s.pathsBelow(p.Items, open)
	}
	if inner == "" {
		return ""
	}
	return `(?:\.` + inner + `)?`
}
