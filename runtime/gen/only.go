package gen

import "slices"

// Only returns the definitions of the operations that keep reports, with the types that they mention and the relations
// that lead to them. An operation that names one of the others as its replacement is deprecated without one.
func (a *Definitions) Only(keep func(*Operation) bool) Definitions {
	only := Definitions{Name: a.Name, Version: a.Version, Description: a.Description}
	removed := make(map[string]bool)
	for i := range a.Operations {
		if o := &a.Operations[i]; keep(o) {
			only.Operations = append(only.Operations, *o)
		} else {
			removed[o.Name] = true
		}
	}
	for i := range only.Operations {
		if o := &only.Operations[i]; removed[o.Replacement] {
			o.Replacement = ""
			if o.Deprecated == "" {
				o.Deprecated = "it has no replacement here"
			}
		}
	}
	for i := range a.Relations {
		if _, kept := only.Operation(a.Relations[i].To); kept {
			only.Relations = append(only.Relations, a.Relations[i])
		}
	}
	only.narrowRelationships()
	types := only.keepRelated(a.Types)
	reached := only.reached(types)
	for i := range types {
		if reached[types[i].Name] {
			only.Types = append(only.Types, types[i])
		}
	}
	only.NameRoots()
	return only
}

// keepRelated returns types with those relations that a has.
func (a *Definitions) keepRelated(types []Type) []Type {
	if !slices.ContainsFunc(types, func(t Type) bool { return t.Related != nil }) {
		return types
	}
	types = slices.Clone(types)
	for i := range types {
		t := &types[i]
		t.Related = slices.DeleteFunc(slices.Clone(t.Related), func(p Param) bool {
			return !slices.ContainsFunc(a.Relations, func(r Relation) bool { return r.Of == t.Name && r.Name == p.Name })
		})
		if len(t.Related) == 0 {
			t.Related = nil
		}
	}
	return types
}

// reached returns the names of the types that the operations mention, directly or in other types.
func (a *Definitions) reached(types []Type) map[string]bool {
	byName := make(map[string]*Type, len(types))
	for i := range types {
		byName[types[i].Name] = &types[i]
	}
	reached := make(map[string]bool)
	for i := range a.Operations {
		mentionParams(byName, a.Operations[i].Params, reached)
		Mention(byName, a.Operations[i].Returns.Name, reached)
	}
	return reached
}

// Mention adds to names that of a type and those of the types that it mentions, of types by their names.
func Mention(types map[string]*Type, name string, names map[string]bool) {
	t := types[name]
	if t == nil || names[name] {
		return
	}
	names[name] = true
	mentionParams(types, t.Fields, names)
	mentionParams(types, t.Computed, names)
	mentionParams(types, t.Related, names)
	if t.Items != nil {
		mentionParam(types, t.Items, names)
	}
	for _, member := range t.Members {
		Mention(types, member, names)
	}
	Mention(types, t.Changes, names)
}

func mentionParams(types map[string]*Type, params []Param, names map[string]bool) {
	for i := range params {
		mentionParam(types, &params[i], names)
	}
}

func mentionParam(types map[string]*Type, p *Param, names map[string]bool) {
	for ; p != nil; p = p.Items {
		Mention(types, p.Type, names)
	}
}
