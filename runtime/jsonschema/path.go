package jsonschema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Paths to fields (field-selection schema, FieldPath).
const (
	segment = `(?:[a-z][a-z0-9_]*|_etag|_version)`
	anyPath = `^` + segment + `(?:\.` + segment + `)*$`
	// The name of an entry in a map is data. Only where a path can go on behind it, it has no dots.
	entry     = `[^.]+`
	lastEntry = `[\s\S]+`
	// longestPattern is the greatest length of an expression that lists all paths.
	longestPattern = 4000
)

// wireName matches the names that fields have unless a package keeps its own.
var wireName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + segment + "|_computed)$") })

// selection returns the schema of a field selection for results of a type: a preset, or paths of existing fields.
func (s *Set) selection(presets []string, result string) *Schema {
	t := s.types[s.resource(result)]
	pattern, computed := anyPath, computedPaths(t)
	if computed != "" {
		pattern += "|^" + computed + "$"
	}
	if s.asTool {
		pattern = ""
	} else if t != nil {
		if p, ok := s.pathsOf(t, nil, gen.MaxRelations); ok && len(p.ends) > 0 {
			if computed != "" {
				p.ends = append(p.ends, computed)
			}
			pattern = "^" + alternatives(p.ends) + "$"
		} else if !ok && s.hasOtherNames(t, nil) {
			pattern = ""
		}
	}
	return &Schema{AnyOf: []*Schema{
		{Type: Types{"string"}, Enum: enum(presets)},
		{Type: Types{"array"}, MinItems: 1, Items: &Schema{Type: Types{"string"}, Pattern: pattern}},
	}}
}

// paths are those in a value.
type paths struct {
	inner bool // the value is an object; else it has no paths
	ends  []string
	// loops are expressions that lead back to objects whose paths are being listed, by the names of their types. They end
	// with a dot.
	loops map[string][]string
}

// pathsOf returns expressions for the paths in an object. open are the types whose paths are being listed. relations is
// the number of relations that may follow each other. It returns false as soon as the expressions are too long, because
// types that share others can have very many paths.
func (s *Set) pathsOf(t *gen.Type, open []string, relations int) (paths, bool) {
	open = append(slices.Clip(open), t.Name)
	if t.Items != nil {
		return s.pathsOfEntries(t.Items, open)
	}
	p := paths{inner: true, loops: make(map[string][]string)}
	length := 0
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Sensitive || f.Name == "_computed" {
			continue
		}
		below, ok := s.pathsBelow(f, open)
		name := regexp.QuoteMeta(f.Name)
		if len(f.Aliases) > 0 {
			name = alternatives(append([]string{name}, f.Aliases...))
		}
		below = below.after(name)
		if length += below.length() + 1; !ok || length > longestPattern {
			return paths{}, false
		}
		p.ends = append(p.ends, below.ends...)
		for name, leading := range below.loops {
			p.loops[name] = append(p.loops[name], leading...)
		}
	}
	if p = p.closed(t.Name); relations == 0 {
		return p, true
	}
	for i := range t.Related { // of a type by itself: paths do not lead back through them without end
		f := &t.Related[i]
		target := f
		for target.Items != nil {
			target = target.Items
		}
		below, ok := paths{inner: true}, true
		if of := s.types[target.Type]; of != nil {
			below, ok = s.pathsOf(of, nil, relations-1)
		}
		below = below.after(f.Name)
		if length += below.length() + 1; !ok || length > longestPattern {
			return paths{}, false
		}
		p.ends = append(p.ends, below.ends...)
	}
	return p, true
}

// pathsOfEntries is pathsOf for a map, whose entries are described by items.
func (s *Set) pathsOfEntries(items *gen.Param, open []string) (paths, bool) {
	below, ok := s.pathsBelow(items, open)
	if !below.inner {
		return paths{inner: true, ends: []string{lastEntry}}, ok
	}
	return below.after(entry), ok
}

// pathsBelow returns the paths in a value.
func (s *Set) pathsBelow(p *gen.Param, open []string) (paths, bool) {
	for p.Type == "array" && p.Items != nil {
		p = p.Items
	}
	if t := s.types[p.Type]; t != nil && t.Kind == gen.KindObject {
		if slices.Contains(open, t.Name) {
			return paths{inner: true, loops: map[string][]string{t.Name: {""}}}, true
		}
		return s.pathsOf(t, open, 0)
	}
	if p.Type == "object" && p.Items != nil {
		return s.pathsOfEntries(p.Items, open)
	}
	return paths{}, true
}

// after returns the paths in an object of which a member, whose name the expression matches, has the paths p.
func (p paths) after(name string) paths {
	around := paths{inner: true, ends: []string{name}, loops: make(map[string][]string)}
	if len(p.ends) > 0 {
		around.ends[0] = name + `(?:\.` + alternatives(p.ends) + `)?`
	}
	for loop, leading := range p.loops {
		around.loops[loop] = []string{name + `\.` + alternatives(leading)}
	}
	return around
}

// closed returns the paths of an object of a type: what leads back to it may come any number of times.
func (p paths) closed(name string) paths {
	again := p.loops[name]
	if again == nil {
		return p
	}
	delete(p.loops, name)
	star := "(?:" + strings.Join(again, "|") + ")*"
	p.ends = []string{star + alternatives(p.ends)}
	for loop, leading := range p.loops {
		p.loops[loop] = []string{star + alternatives(leading)}
	}
	return p
}

// length returns the length of all expressions.
func (p paths) length() int {
	length := 0
	for _, end := range p.ends {
		length += len(end)
	}
	for _, leading := range p.loops {
		for _, expression := range leading {
			length += len(expression)
		}
	}
	return length
}

// alternatives returns an expression that matches what any of the expressions matches.
func alternatives(expressions []string) string {
	if len(expressions) == 1 && expressions[0] == "" {
		return ""
	}
	return "(?:" + strings.Join(expressions, "|") + ")"
}

// hasOtherNames reports whether paths in values of a type may have names that no wire name can be: those of entries of
// maps, aliases, and names that a package keeps. seen are the types that were looked at.
func (s *Set) hasOtherNames(t *gen.Type, seen map[string]bool) bool {
	if t.Items != nil {
		return true
	}
	if seen == nil {
		seen = make(map[string]bool)
	}
	if seen[t.Name] {
		return false
	}
	seen[t.Name] = true
	return slices.ContainsFunc(slices.Concat(t.Fields, t.Related), func(p gen.Param) bool {
		for p.Type == "array" && p.Items != nil {
			p = *p.Items
		}
		of := s.types[p.Type]
		return len(p.Aliases) > 0 || !wireName().MatchString(p.Name) || p.Type == "object" && p.Items != nil ||
			of != nil && s.hasOtherNames(of, seen)
	})
}
