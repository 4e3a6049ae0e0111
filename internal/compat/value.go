package compat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// value compares what a parameter, a field or an element allows and says.
func (c *comparison) value(at place, old, new *value) {
	if r := c.kinds(at, old, new); r == other {
		return // nothing else can be compared
	}
	c.enums(at, old, new)
	c.bound(at, "range", "minimum", old.Minimum, new.Minimum, false)
	c.bound(at, "range", "maximum", old.Maximum, new.Maximum, true)
	c.bound(at, "length", "minimum length", least(old.MinLength), least(new.MinLength), false)
	c.bound(at, "length", "maximum length", most(old.MaxLength), most(new.MaxLength), true)
	c.bound(at, "items", "minimum number of items", least(old.MinItems), least(new.MinItems), false)
	c.bound(at, "items", "maximum number of items", most(old.MaxItems), most(new.MaxItems), true)
	c.rule(at, "pattern", old.Pattern, new.Pattern, Notable)
	c.rule(at, "format", old.Format, new.Format, Breaking)
	c.flags(at, old, new)
	c.items(at, old, new)
}

// kinds compares the types. Where both are object types, those are compared elsewhere, once.
func (c *comparison) kinds(at place, old, new *value) relation {
	before, after := c.old.types[old.Type], c.new.types[new.Type]
	if before != nil && after != nil && before.Kind == "object" && after.Kind == "object" {
		if before.Name != after.Name {
			c.report(at, Compatible, "type-renamed", before.Name, after.Name, fmt.Sprintf("the type of %s is called %s instead of %s", at.what, after.Name, before.Name))
		}
		c.reach(at, before.Name, after.Name)
		return same
	}
	r := c.related(old.Type, new.Type)
	if r != same {
		c.report(at, at.grade(r, Breaking), "type-changed", old.Type, new.Type, fmt.Sprintf("the type of %s changed from %s to %s", at.what, old.Type, new.Type))
		return r
	}
	for _, alternative := range c.old.alternatives(old.Type) {
		if t := c.new.types[alternative.name]; alternative.kind() == "object" && t != nil && t.Kind == "object" {
			c.reach(at, t.Name, t.Name)
		}
	}
	return r
}

// enumOf are the values that a definition is limited to; nil: it is not.
func (s *Snapshot) enumOf(v *value) []json.RawMessage {
	if len(v.Enum) > 0 {
		return v.Enum
	}
	if t := s.types[v.Type]; t != nil && t.Kind == "enum" {
		return t.Values
	}
	return nil
}

// enumerated reports whether a definition is limited to all values of an enum type.
func (s *Snapshot) enumerated(v *value) bool {
	t := s.types[v.Type]
	return t != nil && t.Kind == "enum" && sameValues(s.enumOf(v), t.Values)
}

// enums compares the values that are allowed. Those of an enum type of one name are compared elsewhere, once.
func (c *comparison) enums(at place, old, new *value) {
	if old.Type == new.Type && c.old.enumerated(old) && c.new.enumerated(new) {
		c.reach(at, old.Type, new.Type)
		return
	}
	c.values(at, c.old.enumOf(old), c.new.enumOf(new))
}

func (c *comparison) values(at place, old, new []json.RawMessage) {
	gone, come := without(old, new), without(new, old)
	switch {
	case old == nil && new == nil:
	case old == nil:
		c.report(at, at.grade(narrower, Notable), "enum-added", nil, new, fmt.Sprintf("%s is limited to %s", at.what, list(new)))
	case new == nil:
		c.report(at, at.grade(wider, Notable), "enum-removed", old, nil, fmt.Sprintf("%s is no longer limited to %s", at.what, list(old)))
	default:
		if len(gone) > 0 {
			c.report(at, at.grade(narrower, Notable), "enum-narrowed", old, new, fmt.Sprintf("%s can no longer be %s", at.what, list(gone)))
		}
		if len(come) > 0 {
			c.report(at, at.grade(wider, Notable), "enum-widened", old, new, fmt.Sprintf("%s can also be %s", at.what, list(come)))
		}
	}
}

func without(values, others []json.RawMessage) []json.RawMessage {
	var rest []json.RawMessage
	for _, v := range values {
		if !slices.ContainsFunc(others, func(o json.RawMessage) bool { return string(o) == string(v) }) {
			rest = append(rest, v)
		}
	}
	return rest
}

func sameValues(a, b []json.RawMessage) bool {
	return len(without(a, b)) == 0 && len(without(b, a)) == 0
}

func list(values []json.RawMessage) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, string(v))
	}
	return strings.Join(texts, ", ")
}

// least is a lower bound; zero is none.
func least(n *int) json.RawMessage {
	if n == nil || *n == 0 {
		return nil
	}
	return literal(*n)
}

func most(n *int) json.RawMessage {
	if n == nil {
		return nil
	}
	return literal(*n)
}

// bound compares a bound; upper: values may be up to it.
func (c *comparison) bound(at place, kind, what string, old, new json.RawMessage, upper bool) {
	var r relation
	var message string
	switch {
	case old == nil && new == nil:
		return
	case old == nil:
		r, message = narrower, fmt.Sprintf("%s has a %s: %s", at.what, what, new)
	case new == nil:
		r, message = wider, fmt.Sprintf("%s no longer has a %s; it was %s", at.what, what, old)
	default:
		order := compareNumbers(new, old)
		if order == 0 {
			return
		}
		r, message = wider, fmt.Sprintf("the %s of %s changed from %s to %s", what, at.what, old, new)
		if (order < 0) == upper {
			r = narrower
		}
	}
	verb := "-narrowed"
	if r == wider {
		verb = "-widened"
	}
	c.report(at, at.grade(r, Notable), kind+verb, old, new, message)
}

// rule compares a pattern or a format. changed is the class of another one in results.
func (c *comparison) rule(at place, kind, old, new string, changed Class) {
	switch {
	case old == new:
	case old == "":
		c.report(at, at.grade(narrower, Notable), kind+"-added", nil, new, fmt.Sprintf("%s has the %s %q", at.what, kind, new))
	case new == "":
		c.report(at, at.grade(wider, Notable), kind+"-removed", old, nil, fmt.Sprintf("%s no longer has the %s %q", at.what, kind, old))
	default:
		class := Breaking
		if at.result {
			class = changed
		}
		c.report(at, class, kind+"-changed", old, new, fmt.Sprintf("the %s of %s changed from %q to %q", kind, at.what, old, new))
	}
}

// flags compares what can be switched, and the texts.
func (c *comparison) flags(at place, old, new *value) {
	protected := Breaking
	if at.result {
		protected = Compatible
	}
	c.flag(at, "sensitive", old.Sensitive, new.Sensitive, Compatible, Notable)
	c.flag(at, "read-only", old.notes.readOnly, new.notes.readOnly, protected, Compatible)
	c.flag(at, "append-only", old.notes.appendOnly, new.notes.appendOnly, protected, Compatible)
	if at.result {
		for _, preset := range missing(old.notes.presets, new.notes.presets) {
			c.report(at, Breaking, "preset-removed", preset, nil, fmt.Sprintf("preset %s no longer has %s", preset, at.what))
		}
		for _, preset := range missing(new.notes.presets, old.notes.presets) {
			c.report(at, Compatible, "preset-added", nil, preset, fmt.Sprintf("preset %s has %s", preset, at.what))
		}
	}
	c.words(at, old.notes.deprecated, new.notes.deprecated, old.notes.text, new.notes.text)
}

// missing lists what is among the first and not among the second.
func missing(of, among []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(s string) bool { return slices.Contains(among, s) })
}

func (c *comparison) flag(at place, kind string, old, new bool, added, removed Class) {
	switch {
	case new && !old:
		c.report(at, added, kind+"-added", false, true, fmt.Sprintf("%s is %s", at.what, kind))
	case old && !new:
		c.report(at, removed, kind+"-removed", true, false, fmt.Sprintf("%s is no longer %s", at.what, kind))
	}
}

// words compares deprecation and description.
func (c *comparison) words(at place, oldNotice, newNotice, oldText, newText string) {
	switch {
	case oldNotice == newNotice:
	case oldNotice == "":
		c.report(at, Compatible, "deprecated", nil, newNotice, fmt.Sprintf("%s is deprecated: %s", at.what, newNotice))
	case newNotice == "":
		c.report(at, Compatible, "undeprecated", oldNotice, nil, at.what+" is no longer deprecated")
	default:
		c.report(at, Compatible, "deprecation-changed", oldNotice, newNotice, "the deprecation of "+at.what+" is worded otherwise")
	}
	if oldText != newText {
		c.report(at, Compatible, "description-changed", oldText, newText, "the description of "+at.what+" changed")
	}
}

// items compares the elements of lists and of maps.
func (c *comparison) items(at place, old, new *value) {
	before, after := old.Items, new.Items
	if before == nil && after == nil {
		return
	}
	anything := &value{Type: "any"}
	if before == nil {
		before = anything
	}
	if after == nil {
		after = anything
	}
	mark := "[]"
	if new.Type == "object" {
		mark = "{}"
	}
	c.value(at.at(mark, "every element of "+at.what), before, after)
}
