package compat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// operations compares the operations.
func (c *comparison) operations() {
	for _, old := range c.old.sequence {
		at := place{operation: old.Name, what: "operation " + old.Name}
		new := c.new.byName[old.Name]
		if new == nil {
			message := at.what + " is gone"
			var renamed any
			if successor := c.successor(old); successor != nil {
				renamed, message = successor.Name, message+"; "+successor.Name+" looks like its new name"
			}
			c.report(at, Breaking, "operation-removed", old.Name, renamed, message)
			continue
		}
		c.operation(at, old, new)
	}
	for _, new := range c.new.sequence {
		if c.old.byName[new.Name] == nil {
			c.report(place{operation: new.Name}, Compatible, "operation-added", nil, new.Name, "operation "+new.Name+" is new")
		}
	}
}

// successor is the only new operation that takes and returns what a removed one did.
func (c *comparison) successor(old *operation) *operation {
	signature := func(o *operation) string {
		return string(literal([]any{o.Category, o.Parameters, o.Returns}))
	}
	var found *operation
	for _, new := range c.new.sequence {
		if c.old.byName[new.Name] != nil || signature(new) != signature(old) {
			continue
		}
		if found != nil {
			return nil
		}
		found = new
	}
	return found
}

func (c *comparison) operation(at place, old, new *operation) {
	if old.Category != new.Category {
		c.report(at.at("semantic_category", at.what), Breaking, "category-changed", old.Category, new.Category,
			fmt.Sprintf("%s moved from category %s to %s", at.what, old.Category, new.Category))
	} else {
		c.family(at, old, new)
		c.permissions(at, old, new)
	}
	c.danger(at, old.notes.danger, new.notes.danger)
	c.gating(at, old.notes.gating, new.notes.gating)
	c.words(at, old.notes.deprecated, new.notes.deprecated, old.notes.text, new.notes.text)

	if string(old.Examples) != string(new.Examples) {
		c.report(at.at("examples", at.what), Compatible, "examples-changed", old.Examples, new.Examples, "the examples of "+old.Name+" changed")
	}

	params := at.at("params", at.what)
	c.fields(params, old.Name, "parameter", old.Parameters, new.Parameters)
	result := at.at("result", "the result of "+old.Name)
	result.result = true
	c.value(result, resultOf(old), resultOf(new))
}

func resultOf(o *operation) *value {
	v := &value{Type: o.Returns.Name}
	v.normalize()
	return v
}

// family compares through which tool an operation is called. A change of the whole surface is reported once, with the
// metadata.
func (c *comparison) family(at place, old, new *operation) {
	oldTool, newTool := strings.TrimPrefix(old.Tool, c.old.prefix()), strings.TrimPrefix(new.Tool, c.new.prefix())
	before, after := &c.old.protocol, &c.new.protocol
	switch {
	case before.Mode != after.Mode, before.Profile != after.Profile:
	case old.Endpoint != new.Endpoint && oldTool != newTool:
		c.report(at.at("endpoint", at.what), Breaking, "family-changed", old.Endpoint, new.Endpoint,
			fmt.Sprintf("%s moved from endpoint family %s to %s, and so to the tool %s", at.what, old.Endpoint, new.Endpoint, new.Tool))
	case old.Endpoint != new.Endpoint:
		c.report(at.at("endpoint", at.what), Notable, "family-changed", old.Endpoint, new.Endpoint,
			fmt.Sprintf("%s moved from endpoint family %s to %s; its tool is the same", at.what, old.Endpoint, new.Endpoint))
	case oldTool != newTool:
		c.report(at.at("mcpTool", at.what), Breaking, "tool-changed", old.Tool, new.Tool,
			fmt.Sprintf("%s is called through the tool %s instead of %s", at.what, new.Tool, old.Tool))
	}
}

// permissions compares what an operation of one category says about its effects.
func (c *comparison) permissions(at place, old, new *operation) {
	at = at.at("permissions", at.what)
	before, after := old.Permissions, new.Permissions
	switch {
	case before == after:
	case after.Destructive && !before.Destructive, before.ReadOnly && !after.ReadOnly:
		c.report(at, Breaking, "permissions-raised", before, after, at.what+" may have effects that it did not have")
	default:
		c.report(at, Compatible, "permissions-lowered", before, after, at.what+" has fewer effects than before")
	}
}

func (c *comparison) danger(at place, old, new string) {
	at = at.at("danger", at.what)
	before, after := gen.Danger(old).Level(), gen.Danger(new).Level()
	change := fmt.Sprintf("the danger level of %s changed from %s to %s", at.what, old, new)
	switch {
	case old == new:
	case old == "":
		c.report(at, Notable, "danger-stated", nil, new, fmt.Sprintf("the danger level of %s is stated: %s", at.what, new))
	case new == "":
		c.report(at, Notable, "danger-unstated", old, nil, fmt.Sprintf("the danger level of %s is no longer stated; it was %s", at.what, old))
	case before < 0 || after < 0:
		c.report(at, Notable, "danger-changed", old, new, change)
	case after > before:
		c.report(at, Breaking, "danger-raised", old, new, change)
	default:
		c.report(at, Compatible, "danger-lowered", old, new, change)
	}
}

func (c *comparison) gating(at place, old, new gating) {
	at = at.at("confirmation", at.what)
	says := func(g gating) any {
		if g == ungated {
			return nil
		}
		return g.String()
	}
	switch {
	case new > old:
		c.report(at, Breaking, "confirmation-added", says(old), says(new), at.what+": "+new.String())
	case new < old:
		message := at.what + " no longer asks for confirmation"
		if new != ungated {
			message = at.what + ": " + new.String() + ", no longer " + old.String()
		}
		c.report(at, Compatible, "confirmation-removed", says(old), says(new), message)
	}
}

// reach notes that two types are compared because something mentions them.
func (c *comparison) reach(from place, old, new string) {
	key := pair{old: old, new: new, result: from.result}
	v := c.reached[key]
	if v == nil {
		v = &visit{pair: key}
		c.reached[key] = v
		c.queue = append(c.queue, v)
	}
	switch {
	case from.visit == nil:
		v.add(from.operation)
	case !slices.Contains(from.visit.uses, v):
		from.visit.uses = append(from.visit.uses, v)
	}
}

func (v *visit) add(operation string) bool {
	if slices.Contains(v.operations, operation) {
		return false
	}
	v.operations = append(v.operations, operation)
	return true
}

// types compares the types that operations reach, which may reach more.
func (c *comparison) types() {
	owners := make(map[int]*visit)
	described := make(map[string]bool)
	for i := 0; i < len(c.queue); i++ {
		v := c.queue[i]
		first := len(c.changes)
		old, new := c.old.types[v.old], c.new.types[v.new]
		side := " in requests"
		if v.result {
			side = " in results"
		}
		at := place{visit: v, result: v.result, what: "type " + v.new + side}
		if !described[v.new] && old.Description != new.Description {
			c.report(at, Compatible, "description-changed", old.Description, new.Description, "the description of type "+v.new+" changed")
		}
		described[v.new] = true
		if old.Kind == "enum" {
			c.values(at, values(old), values(new))
		} else {
			c.fields(at, v.new+side, "field", old.Fields, new.Fields)
		}
		for n := first; n < len(c.changes); n++ {
			owners[n] = v
		}
	}
	for _, v := range c.queue {
		for _, operation := range slices.Clone(v.operations) {
			spread(v, operation)
		}
	}
	for n, v := range owners {
		slices.Sort(v.operations)
		c.changes[n].Operations = v.operations
	}
}

// values are those of an enum type, which is limited even where it has none.
func values(t *typ) []json.RawMessage {
	if t.Values == nil {
		return []json.RawMessage{}
	}
	return t.Values
}

// spread notes for everything that a type uses that an operation reaches it.
func spread(v *visit, operation string) {
	waiting := []*visit{v}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		for _, use := range next.uses {
			if use.add(operation) {
				waiting = append(waiting, use)
			}
		}
	}
}
