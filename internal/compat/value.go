package compat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// value compares a parameter, a field or an element.
func (c *comparison) value(at place, before, after *value) {
	if r := c.kinds(at, before, after); r == other {
		return // nothing else can be compared
	}
	c.enums(at, before, after)
	c.bound(at, "range", "minimum", before.Minimum, after.Minimum, false)
	c.bound(at, "range", "maximum", before.Maximum, after.Maximum, true)
	c.bound(at, "length", "minimum length", least(before.MinLength), least(after.MinLength), false)
	c.bound(at, "length", "maximum length", most(before.MaxLength), most(after.MaxLength), true)
	c.bound(at, "items", "minimum number of items", least(before.MinItems), least(after.MinItems), false)
	c.bound(at, "items", "maximum number of items", most(before.MaxItems), most(after.MaxItems), true)
	c.rule(at, "pattern", before.Pattern, after.Pattern, Notable)
	c.rule(at, "format", before.Format, after.Format, Breaking)
	c.namesIn(at, before.notes.names, after.notes.names)
	c.null(at, before, after)
	c.flags(at, before, after)
	c.items(at, before, after)
}

// kinds compares the types. Two object types go into the queue instead, so that they are compared once.
func (c *comparison) kinds(at place, before, after *value) relation {
	oldType, newType := c.before.types[before.Type], c.after.types[after.Type]
	if oldType != nil && newType != nil && oldType.Kind == "object" && newType.Kind == "object" {
		if oldType.Name != newType.Name {
			c.report(at, Compatible, "type-renamed", oldType.Name, newType.Name,
				fmt.Sprintf("the type of %s is called %s instead of %s", at.label, newType.Name, oldType.Name))
		}
		c.enqueue(at, oldType.Name, newType.Name)
		return same
	}
	r := c.relation(before.Type, after.Type)
	if r != same {
		c.report(at, at.class(r, Breaking), "type-changed", before.Type, after.Type,
			fmt.Sprintf("the type of %s changed from %s to %s", at.label, before.Type, after.Type))
		return r
	}
	for _, alternative := range c.before.alternatives(before.Type) {
		if t := c.after.types[alternative.name]; alternative.kind() == "object" && t != nil && t.Kind == "object" {
			c.enqueue(at, t.Name, t.Name)
		}
	}
	return r
}

// enumOf returns the values that a definition allows; nil: it does not list them.
func (s *Snapshot) enumOf(v *value) []json.RawMessage {
	if len(v.Enum) > 0 {
		return v.Enum
	}
	if t := s.types[v.Type]; t != nil && t.Kind == "enum" {
		return t.Values
	}
	return nil
}

// enumerated reports whether a definition allows all values of an enum type and no others.
func (s *Snapshot) enumerated(v *value) bool {
	t := s.types[v.Type]
	return t != nil && t.Kind == "enum" && sameValues(s.enumOf(v), t.Values)
}

// enums compares the values that are allowed. Two enum types of one name go into the queue instead.
func (c *comparison) enums(at place, before, after *value) {
	if before.Type == after.Type && c.before.enumerated(before) && c.after.enumerated(after) {
		c.enqueue(at, before.Type, after.Type)
		return
	}
	c.values(at, c.before.enumOf(before), c.after.enumOf(after))
}

func (c *comparison) values(at place, before, after []json.RawMessage) {
	removed, added := valuesWithout(before, after), valuesWithout(after, before)
	switch {
	case before == nil && after == nil:
	case before == nil:
		c.report(at, at.class(narrower, Notable),
			"enum-added", nil, after, fmt.Sprintf("%s is limited to %s", at.label, list(after)))
	case after == nil:
		c.report(at, at.class(wider, Notable),
			"enum-removed", before, nil, fmt.Sprintf("%s is no longer limited to %s", at.label, list(before)))
	default:
		if len(removed) > 0 {
			c.report(at, at.class(narrower, Notable),
				"enum-narrowed", before, after, fmt.Sprintf("%s can no longer be %s", at.label, list(removed)))
		}
		if len(added) > 0 {
			c.report(at, at.class(wider, Notable),
				"enum-widened", before, after, fmt.Sprintf("%s can also be %s", at.label, list(added)))
		}
	}
}

func valuesWithout(values, others []json.RawMessage) []json.RawMessage {
	var rest []json.RawMessage
	for _, v := range values {
		if !slices.ContainsFunc(others, func(o json.RawMessage) bool { return string(o) == string(v) }) {
			rest = append(rest, v)
		}
	}
	return rest
}

func sameValues(a, b []json.RawMessage) bool {
	return len(valuesWithout(a, b)) == 0 && len(valuesWithout(b, a)) == 0
}

func list(values []json.RawMessage) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, string(v))
	}
	return strings.Join(texts, ", ")
}

// least returns a lower bound; nil: there is none, or it is 0.
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

// bound compares a lower or an upper bound.
func (c *comparison) bound(at place, kind, what string, before, after json.RawMessage, upper bool) {
	var r relation
	var message string
	switch {
	case before == nil && after == nil:
		return
	case before == nil:
		r, message = narrower, fmt.Sprintf("%s has a %s: %s", at.label, what, after)
	case after == nil:
		r, message = wider, fmt.Sprintf("%s no longer has a %s; it was %s", at.label, what, before)
	default:
		order := compareNumbers(after, before)
		if order == 0 {
			return
		}
		r, message = wider, fmt.Sprintf("the %s of %s changed from %s to %s", what, at.label, before, after)
		if (order < 0) == upper {
			r = narrower
		}
	}
	verb := "-narrowed"
	if r == wider {
		verb = "-widened"
	}
	c.report(at, at.class(r, Notable), kind+verb, before, after, message)
}

// rule compares a pattern or a format. changed is the class of a different one in results.
func (c *comparison) rule(at place, kind, before, after string, changed Class) {
	switch {
	case before == after:
	case before == "":
		c.report(at, at.class(narrower, Notable), kind+"-added", nil, after,
			fmt.Sprintf("%s has the %s %q", at.label, kind, after))
	case after == "":
		c.report(at, at.class(wider, Notable), kind+"-removed", before, nil,
			fmt.Sprintf("%s no longer has the %s %q", at.label, kind, before))
	default:
		class := Breaking
		if at.result {
			class = changed
		}
		c.report(at, class, kind+"-changed", before, after,
			fmt.Sprintf("the %s of %s changed from %q to %q", kind, at.label, before, after))
	}
}

// namesIn compares which names the entries of a map have.
func (c *comparison) namesIn(at place, before, after *value) {
	if before == nil && after == nil {
		return
	}
	anything := &value{Type: "string"}
	if before == nil {
		before = anything
	}
	if after == nil {
		after = anything
	}
	c.value(at.below("{name}", "every name in "+at.label), before, after)
}

// null compares whether a value may be null. Null for a required one is refused in requests, whatever results hold.
func (c *comparison) null(at place, before, after *value) {
	accepts := func(v *value) bool { return v.notes.nullable && (at.result || !v.Required) }
	switch was, is := accepts(before), accepts(after); {
	case is && !was:
		c.report(at, at.class(wider, Notable), "null-added", false, true, at.label+" may be null")
	case was && !is:
		c.report(at, at.class(narrower, Notable), "null-removed", true, false, at.label+" can no longer be null")
	}
}

// flags compares the flags of a value, its presets and its texts.
func (c *comparison) flags(at place, before, after *value) {
	protected, withheld := Breaking, Compatible
	if at.result {
		protected, withheld = Compatible, Breaking // results leave out what is sensitive
	}
	c.flag(at, "sensitive", before.Sensitive, after.Sensitive, withheld, Notable)
	c.flag(at, "dry-run", before.notes.dryRun, after.notes.dryRun, Notable, Breaking)
	c.flag(at, "read-only", before.notes.readOnly, after.notes.readOnly, protected, Compatible)
	c.flag(at, "append-only", before.notes.appendOnly, after.notes.appendOnly, protected, Compatible)
	if at.result {
		for _, preset := range namesWithout(before.notes.presets, after.notes.presets) {
			c.report(at, Breaking, "preset-removed", preset, nil, fmt.Sprintf("preset %s no longer has %s", preset, at.label))
		}
		for _, preset := range namesWithout(after.notes.presets, before.notes.presets) {
			c.report(at, Compatible, "preset-added", nil, preset, fmt.Sprintf("preset %s has %s", preset, at.label))
		}
	}
	c.texts(at, before.notes.deprecated, after.notes.deprecated, before.notes.text, after.notes.text)
}

// namesWithout returns the names that are not among others.
func namesWithout(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return slices.Contains(others, s) })
}

func (c *comparison) flag(at place, kind string, before, after bool, added, removed Class) {
	switch {
	case after && !before:
		c.report(at, added, kind+"-added", false, true, fmt.Sprintf("%s is %s", at.label, kind))
	case before && !after:
		c.report(at, removed, kind+"-removed", true, false, fmt.Sprintf("%s is no longer %s", at.label, kind))
	}
}

// texts compares deprecation and description.
func (c *comparison) texts(at place, oldNotice, newNotice, oldText, newText string) {
	switch {
	case oldNotice == newNotice:
	case oldNotice == "":
		c.report(at, Compatible, "deprecated", nil, newNotice, fmt.Sprintf("%s is deprecated: %s", at.label, newNotice))
	case newNotice == "":
		c.report(at, Compatible, "undeprecated", oldNotice, nil, at.label+" is no longer deprecated")
	default:
		c.report(at, Compatible,
			"deprecation-changed", oldNotice, newNotice, "the deprecation of "+at.label+" is worded otherwise")
	}
	if oldText != newText {
		c.report(at, Compatible, "description-changed", oldText, newText, "the description of "+at.label+" changed")
	}
}

// items compares the elements of lists and of maps.
func (c *comparison) items(at place, oldValue, newValue *value) {
	before, after := oldValue.Items, newValue.Items
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
	if newValue.Type == "object" {
		mark = "{}"
	}
	c.value(at.below(mark, "every element of "+at.label), before, after)
}
