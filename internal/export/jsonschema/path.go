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
	// longestPattern is how long an expression may be that lists all paths.
	longestPattern = 4000
)

// selection is what may be said about the fields of the results of a type: a preset, or paths that lead to something.
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

// pathsOf is an expression for the paths that lead to something in an object; empty if none do. What is inside of a type that
// contains itself is not listed. It returns false, at once, when the expression becomes too long: types that share others
// have more paths than anyone can list.
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

// pathsBelow is an expression for the rest of a path behind the name of a field: that rest may always be missing.
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
