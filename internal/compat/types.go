package compat

import (
	"encoding/json"
	"slices"
)

// typePair names two types that are compared with each other in one direction.
type typePair struct {
	before, after string
	result        bool // values go to the agent, not to the adapter
}

// comparedType is a pair of types that operations use.
type comparedType struct {
	typePair
	operations   []string        // that use it
	uses         []*comparedType // the types of its fields
	first, count int             // its changes among all
}

// enqueue notes that something uses two types that are to be compared.
func (c *comparison) enqueue(from place, before, after string) {
	key := typePair{before: before, after: after, result: from.result}
	t := c.reached[key]
	if t == nil {
		t = &comparedType{typePair: key}
		c.reached[key] = t
		c.queue = append(c.queue, t)
	}
	switch {
	case from.owner == nil:
		t.addOperation(from.operation)
	case !slices.Contains(from.owner.uses, t):
		from.owner.uses = append(from.owner.uses, t)
	}
}

// addOperation reports whether the operation was not known to use the type.
func (t *comparedType) addOperation(operation string) bool {
	if slices.Contains(t.operations, operation) {
		return false
	}
	t.operations = append(t.operations, operation)
	return true
}

// types compares the types in the queue, to which a comparison can add more, and then reports with each change which
// operations use the type.
func (c *comparison) types() {
	var compared []*comparedType
	described := make(map[string]bool)
	for len(c.queue) > 0 {
		t := c.queue[0]
		c.queue = c.queue[1:]
		t.first = len(c.changes)
		c.typePair(t, !described[t.after])
		t.count = len(c.changes) - t.first
		described[t.after] = true
		compared = append(compared, t)
	}
	for _, t := range compared {
		for _, operation := range slices.Clone(t.operations) {
			t.passOn(operation)
		}
	}
	for _, t := range compared {
		slices.Sort(t.operations)
		for i := range c.changes[t.first : t.first+t.count] {
			c.changes[t.first+i].Operations = t.operations
		}
	}
}

// typePair compares two types, with their descriptions if describe is set.
func (c *comparison) typePair(t *comparedType, describe bool) {
	before, after := c.before.types[t.before], c.after.types[t.after]
	side := " in requests"
	if t.result {
		side = " in results"
	}
	at := place{owner: t, result: t.result, label: "type " + t.after + side}
	if describe && before.Description != after.Description {
		c.report(at, Compatible, "description-changed", before.Description, after.Description,
			"the description of type "+t.after+" changed")
	}
	if before.Kind == "enum" {
		c.values(at, enumValues(before), enumValues(after))
	} else {
		c.fields(at, t.after+side, "field", before.Fields, after.Fields)
		if before.isFilter() && after.isFilter() {
			c.operators(at, before, after)
		}
	}
}

// enumValues returns the values of an enum type, not nil even if it has none: the type then allows no value.
func enumValues(t *typ) []json.RawMessage {
	if t.Values == nil {
		return []json.RawMessage{}
	}
	return t.Values
}

// passOn adds an operation to all types that a type uses, directly or through others.
func (t *comparedType) passOn(operation string) {
	queue := []*comparedType{t}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, use := range next.uses {
			if use.addOperation(operation) {
				queue = append(queue, use)
			}
		}
	}
}
