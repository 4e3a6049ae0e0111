package compat

import (
	"fmt"
	"slices"
)

// fields compares the parameters of an operation or the fields of a type, which messages call owner.
func (c *comparison) fields(at place, owner, noun string, oldFields, newFields []*value) {
	matched := make(map[*value]bool)
	for _, before := range oldFields {
		after := partner(before, newFields)
		at := at.member(before.Name, noun, owner)
		if after == nil {
			c.report(at, Breaking, noun+"-removed", before.Name, nil, fmt.Sprintf("%s is gone", at.label))
			continue
		}
		matched[after] = true
		c.names(at, noun, before, after)
		c.presence(at, before, after)
		c.value(at, before, after)
	}
	for _, after := range newFields {
		if matched[after] {
			continue
		}
		at := at.member(after.Name, noun, owner)
		switch {
		case at.result || !after.Required:
			c.report(at, Compatible, noun+"-added", nil, after.Name, fmt.Sprintf("%s is new", at.label))
		default:
			c.report(at, Breaking, noun+"-added", nil, after.Name, fmt.Sprintf("%s is new and required", at.label))
		}
	}
}

// member returns the place of a parameter or field.
func (p place) member(name, noun, owner string) place {
	dot := "."
	if p.path == "" {
		dot = ""
	}
	return p.below(dot+name, fmt.Sprintf("%s %s of %s", noun, name, owner))
}

// partner finds the new version of a parameter: the one of its name, else one with that name as an alias, or one whose
// name was an alias before; nil: there is none.
func partner(before *value, among []*value) *value {
	for _, v := range among {
		if v.Name == before.Name {
			return v
		}
	}
	for _, v := range among {
		if slices.Contains(v.notes.aliases, before.Name) || slices.Contains(before.notes.aliases, v.Name) {
			return v
		}
	}
	return nil
}

// names compares the names and aliases of a parameter.
func (c *comparison) names(at place, noun string, before, after *value) {
	if before.Name != after.Name {
		class, message := Breaking, fmt.Sprintf("%s is called %s", at.label, after.Name)
		if !at.result && slices.Contains(after.notes.aliases, before.Name) {
			class, message = Compatible, message+"; the old name is still accepted"
		}
		c.report(at, class, noun+"-renamed", before.Name, after.Name, message)
	}
	for _, alias := range namesWithout(before.notes.aliases, after.notes.aliases) {
		if alias != after.Name {
			c.report(at, Breaking, "alias-removed", alias, nil, fmt.Sprintf("%s is no longer accepted as %s", at.label, alias))
		}
	}
	for _, alias := range namesWithout(after.notes.aliases, before.notes.aliases) {
		if alias != before.Name {
			c.report(at, Compatible, "alias-added", nil, alias, fmt.Sprintf("%s is also accepted as %s", at.label, alias))
		}
	}
	c.exclusions(at, before, after)
}

// exclusions compares the fields that a parameter must not stand beside.
func (c *comparison) exclusions(at place, before, after *value) {
	class := Breaking
	if at.result {
		class = Compatible
	}
	for _, other := range namesWithout(after.notes.excludes, before.notes.excludes) {
		c.report(at, class, "exclusion-added", nil, other, fmt.Sprintf("%s excludes %s", at.label, other))
	}
	class = Compatible
	if at.result {
		class = Notable
	}
	for _, other := range namesWithout(before.notes.excludes, after.notes.excludes) {
		c.report(at, class, "exclusion-removed", other, nil, fmt.Sprintf("%s no longer excludes %s", at.label, other))
	}
}

// presence compares whether a value is required, and its default.
func (c *comparison) presence(at place, before, after *value) {
	switch {
	case after.Required && !before.Required:
		class := Breaking
		if at.result {
			class = Compatible
		}
		c.report(at, class, "became-required", false, true, fmt.Sprintf("%s is required", at.label))
		return
	case before.Required && !after.Required:
		class := Compatible
		if at.result {
			class = Notable
		}
		c.report(at, class, "became-optional", true, false, fmt.Sprintf("%s is no longer required", at.label))
		return
	case string(before.Default) == string(after.Default):
		return
	}
	changed, added := Breaking, Notable
	if at.result {
		changed, added = Compatible, Compatible
	}
	switch {
	case before.Default == nil:
		c.report(at, added,
			"default-added", nil, after.Default, fmt.Sprintf("%s has the default %s", at.label, after.Default))
	case after.Default == nil:
		c.report(at, changed,
			"default-removed", before.Default, nil, fmt.Sprintf("%s no longer has the default %s", at.label, before.Default))
	default:
		c.report(at, changed, "default-changed", before.Default, after.Default,
			fmt.Sprintf("the default of %s changed from %s to %s", at.label, before.Default, after.Default))
	}
}
