package gen

import (
	"slices"
	"strings"
)

// MaxRelations is the greatest number of relations in the path of a selected field.
const MaxRelations = 3

// RelateTypes lists in each type the relations that requests can select: those of what operations with field selection
// return, and of what these lead to. It changes copies of the types.
func (a *Definitions) RelateTypes() {
	if len(a.Relations) == 0 {
		return
	}
	reached := make(map[string]bool)
	var level []string
	for i := range a.Operations {
		if o := &a.Operations[i]; o.SelectsFields() {
			if t := a.Resource(o); t != nil {
				level = append(level, t.Name)
			}
		}
	}
	for depth := 0; depth < MaxRelations; depth++ {
		var next []string
		for _, name := range level {
			if reached[name] {
				continue
			}
			reached[name] = true
			for i := range a.Relations {
				if r := &a.Relations[i]; r.Of == name && !r.Opaque {
					next = append(next, r.Target)
				}
			}
		}
		level = next
	}
	a.Types = slices.Clone(a.Types)
	for i := range a.Types {
		t := &a.Types[i]
		t.Related = nil
		if !reached[t.Name] {
			continue
		}
		for k := range a.Relations {
			if r := &a.Relations[k]; r.Of == t.Name && !r.Opaque {
				t.Related = append(t.Related, r.field())
			}
		}
	}
}

// field returns the relation as a field of a result.
func (r *Relation) field() Param {
	p := Param{Name: r.Name, Type: r.Target, Description: r.Description, Presets: r.Presets, Nullable: !r.Many}
	if r.Many {
		p.Type, p.Items = "array", &Param{Type: r.Target}
	}
	return p
}

// RelatedNote tells of the relations that requests can select in results of a type; empty: there are none.
func (t *Type) RelatedNote() string {
	if t == nil || len(t.Related) == 0 {
		return ""
	}
	var named, preset, notes []string
	for i := range t.Related {
		if r := &t.Related[i]; len(r.Presets) > 0 {
			preset = append(preset, r.Name+" ("+strings.Join(r.Presets, ", ")+")")
		} else {
			named = append(named, r.Name)
		}
	}
	if named != nil {
		notes = append(notes, "Relations, which only these name: "+strings.Join(named, ", "))
	}
	if preset != nil {
		notes = append(notes, "Relations of presets: "+strings.Join(preset, ", "))
	}
	return strings.Join(notes, ". ")
}

// Relates reports whether requests can select what something is related to.
func (a *Definitions) Relates() bool {
	return slices.ContainsFunc(a.Types, func(t Type) bool { return t.Related != nil })
}
