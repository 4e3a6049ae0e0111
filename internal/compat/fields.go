package compat

import "fmt"

// fields compares the parameters of an operation or the fields of a type. of is how messages call what has them.
func (c *comparison) fields(at place, of, noun string, old, new []*value) {
	matched := make(map[*value]bool)
	for _, before := range old {
		after := partner(before, new)
		at := at.under(before.Name, noun, of)
		if after == nil {
			c.report(at, Breaking, noun+"-removed", before.Name, nil, fmt.Sprintf("%s is gone", at.what))
			continue
		}
		matched[after] = true
		c.names(at, noun, before, after)
		c.presence(at, before, after)
		c.value(at, before, after)
	}
	for _, after := range new {
		if matched[after] {
			continue
		}
		at := at.under(after.Name, noun, of)
		switch {
		case at.result || !after.Required:
			c.report(at, Compatible, noun+"-added", nil, after.Name, fmt.Sprintf("%s is new", at.what))
		default:
			c.report(at, Breaking, noun+"-added", nil, after.Name, fmt.Sprintf("%s is new and required", at.what))
		}
	}
}

// under is the place of a parameter or field.
func (p place) under(name, noun, of string) place {
	dot := "."
	if p.path == "" {
		dot = ""
	}
	return p.at(dot+name, fmt.Sprintf("%s %s of %s", noun, name, of))
}

// partner finds the new version of a parameter: the one of its name, else one that has its name for an alias, or whose name
// was an alias of it.
func partner(old *value, among []*value) *value {
	for _, v := range among {
		if v.Name == old.Name {
			return v
		}
	}
	for _, v := range among {
		if contains(v.notes.aliases, old.Name) || contains(old.notes.aliases, v.Name) {
			return v
		}
	}
	return nil
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// names compares under which names a parameter is known.
func (c *comparison) names(at place, noun string, old, new *value) {
	if old.Name != new.Name {
		class, message := Breaking, fmt.Sprintf("%s is called %s", at.what, new.Name)
		if !at.result && contains(new.notes.aliases, old.Name) {
			class, message = Compatible, message+"; the old name is still accepted"
		}
		c.report(at, class, noun+"-renamed", old.Name, new.Name, message)
	}
	for _, alias := range missing(old.notes.aliases, new.notes.aliases) {
		if alias != new.Name {
			c.report(at, Breaking, "alias-removed", alias, nil, fmt.Sprintf("%s is no longer accepted as %s", at.what, alias))
		}
	}
	for _, alias := range missing(new.notes.aliases, old.notes.aliases) {
		if alias != old.Name {
			c.report(at, Compatible, "alias-added", nil, alias, fmt.Sprintf("%s is also accepted as %s", at.what, alias))
		}
	}
}

// presence compares whether a value must be there, and what stands for one that is not.
func (c *comparison) presence(at place, old, new *value) {
	switch {
	case new.Required && !old.Required:
		class := Breaking
		if at.result {
			class = Compatible
		}
		c.report(at, class, "became-required", false, true, fmt.Sprintf("%s is required", at.what))
		return
	case old.Required && !new.Required:
		class := Compatible
		if at.result {
			class = Notable
		}
		c.report(at, class, "became-optional", true, false, fmt.Sprintf("%s is no longer required", at.what))
		return
	case string(old.Default) == string(new.Default):
		return
	}
	changed, added := Breaking, Notable
	if at.result {
		changed, added = Compatible, Compatible
	}
	switch {
	case old.Default == nil:
		c.report(at, added, "default-added", nil, new.Default, fmt.Sprintf("%s has the default %s", at.what, new.Default))
	case new.Default == nil:
		c.report(at, changed, "default-removed", old.Default, nil, fmt.Sprintf("%s no longer has the default %s", at.what, old.Default))
	default:
		c.report(at, changed, "default-changed", old.Default, new.Default, fmt.Sprintf("the default of %s changed from %s to %s", at.what, old.Default, new.Default))
	}
}
