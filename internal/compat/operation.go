package compat

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// operations compares the operations of the two versions.
func (c *comparison) operations() {
	for _, before := range c.before.sequence {
		at := place{operation: before.Name, label: "operation " + before.Name}
		after := c.after.byName[before.Name]
		if after == nil {
			message := at.label + " is gone"
			var renamed any
			if successor := c.successor(before); successor != nil {
				renamed, message = successor.Name, message+"; "+successor.Name+" looks like its new name"
			}
			c.report(at, Breaking, "operation-removed", before.Name, renamed, message)
			continue
		}
		c.operation(at, before, after)
	}
	for _, after := range c.after.sequence {
		if c.before.byName[after.Name] == nil {
			c.report(place{operation: after.Name}, Compatible,
				"operation-added", nil, after.Name, "operation "+after.Name+" is new")
		}
	}
}

// successor returns the new operation that has the category, the parameters and the result of a removed one; nil: there
// is none, or more than one.
func (c *comparison) successor(removed *operation) *operation {
	signature := func(o *operation) string {
		return string(literal([]any{o.Category, o.Parameters, o.Returns}))
	}
	var found *operation
	for _, o := range c.after.sequence {
		if c.before.byName[o.Name] != nil || signature(o) != signature(removed) {
			continue
		}
		if found != nil {
			return nil
		}
		found = o
	}
	return found
}

func (c *comparison) operation(at place, before, after *operation) {
	if before.Category != after.Category {
		c.report(at.below("semantic_category", at.label), Breaking, "category-changed", before.Category, after.Category,
			fmt.Sprintf("%s moved from category %s to %s", at.label, before.Category, after.Category))
	} else {
		c.family(at, before, after)
		c.permissions(at, before, after)
	}
	c.danger(at, before.notes.danger, after.notes.danger)
	c.gating(at, before.notes.gating, after.notes.gating)
	c.typing(at, before.notes.typed, after.notes.typed)
	c.texts(at, before.notes.deprecated, after.notes.deprecated, before.notes.text, after.notes.text)

	if string(before.Examples) != string(after.Examples) {
		c.report(at.below("examples", at.label), Compatible, "examples-changed", before.Examples, after.Examples,
			"the examples of "+before.Name+" changed")
	}

	params := at.below("params", at.label)
	c.fields(params, before.Name, "parameter", before.Parameters, after.Parameters)
	result := at.below("result", "the result of "+before.Name)
	result.result = true
	c.value(result, resultOf(before), resultOf(after))
	computed := at.below("computed", at.label)
	computed.result = true
	c.fields(computed, "_computed of "+before.Name, "field", before.Computed, after.Computed)
}

func resultOf(o *operation) *value {
	v := &value{Type: o.Returns.Name}
	v.normalize()
	return v
}

// family compares the endpoint families and the tools of an operation. A change of mode, profile or prefix concerns all
// operations and is reported with the metadata.
func (c *comparison) family(at place, before, after *operation) {
	oldTool, newTool := strings.TrimPrefix(before.Tool, c.before.prefix()),
		strings.TrimPrefix(after.Tool, c.after.prefix())
	oldProtocol, newProtocol := &c.before.protocol, &c.after.protocol
	switch {
	case oldProtocol.Mode != newProtocol.Mode, oldProtocol.Profile != newProtocol.Profile:
	case before.Endpoint != after.Endpoint && oldTool != newTool:
		c.report(at.below("endpoint", at.label), Breaking, "family-changed", before.Endpoint, after.Endpoint,
			fmt.Sprintf("%s moved from endpoint family %s to %s, and so to the tool %s", at.label, before.Endpoint,
				after.Endpoint, after.Tool))
	case before.Endpoint != after.Endpoint:
		c.report(at.below("endpoint", at.label), Notable, "family-changed", before.Endpoint, after.Endpoint,
			fmt.Sprintf("%s moved from endpoint family %s to %s; its tool is the same", at.label, before.Endpoint,
				after.Endpoint))
	case oldTool != newTool:
		c.report(at.below("mcpTool", at.label), Breaking, "tool-changed", before.Tool, after.Tool,
			fmt.Sprintf("%s is called through the tool %s instead of %s", at.label, after.Tool, before.Tool))
	}
}

// permissions compares the permissions of an operation whose category is the same.
func (c *comparison) permissions(at place, before, after *operation) {
	at = at.below("permissions", at.label)
	was, is := before.Permissions, after.Permissions
	switch {
	case was == is:
	case is.Destructive && !was.Destructive, was.ReadOnly && !is.ReadOnly:
		c.report(at, Breaking, "permissions-raised", was, is, at.label+" may have effects that it did not have")
	default:
		c.report(at, Compatible, "permissions-lowered", was, is, at.label+" has fewer effects than before")
	}
}

// typing compares what a person types before an operation runs. Where nothing was typed, tokens may have confirmed.
func (c *comparison) typing(at place, before, after string) {
	at = at.below("typed", at.label)
	switch {
	case before == after:
	case before == "":
		c.report(at, Breaking, "typing-added", nil, after,
			fmt.Sprintf("%s runs after a person has typed the value of %s, and no token confirms it", at.label, after))
	case after == "":
		c.report(at, Compatible, "typing-removed", before, nil,
			fmt.Sprintf("%s runs without a person who types the value of %s", at.label, before))
	default:
		c.report(at, Compatible, "typing-changed", before, after,
			fmt.Sprintf("%s runs after a person has typed the value of %s, no longer of %s", at.label, after, before))
	}
}

func (c *comparison) danger(at place, before, after string) {
	at = at.below("danger", at.label)
	oldLevel, newLevel := gen.Danger(before).Level(), gen.Danger(after).Level()
	change := fmt.Sprintf("the danger level of %s changed from %s to %s", at.label, before, after)
	switch {
	case before == after:
	case before == "":
		c.report(at, Notable,
			"danger-stated", nil, after, fmt.Sprintf("the danger level of %s is stated: %s", at.label, after))
	case after == "":
		c.report(at, Notable, "danger-unstated", before, nil,
			fmt.Sprintf("the danger level of %s is no longer stated; it was %s", at.label, before))
	case oldLevel < 0 || newLevel < 0:
		c.report(at, Notable, "danger-changed", before, after, change)
	case newLevel > oldLevel:
		c.report(at, Breaking, "danger-raised", before, after, change)
	default:
		c.report(at, Compatible, "danger-lowered", before, after, change)
	}
}

func (c *comparison) gating(at place, before, after gating) {
	at = at.below("confirmation", at.label)
	says := func(g gating) any {
		if g == ungated {
			return nil
		}
		return g.String()
	}
	switch {
	case after > before:
		c.report(at, Breaking, "confirmation-added", says(before), says(after), at.label+": "+after.String())
	case after < before:
		message := at.label + " no longer asks for confirmation"
		if after != ungated {
			message = at.label + ": " + after.String() + ", no longer " + before.String()
		}
		c.report(at, Compatible, "confirmation-removed", says(before), says(after), message)
	}
}
