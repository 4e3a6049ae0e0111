// Package compat compares two versions of an adapter and reports what the new one changes for agents that used the old
// one. It compares snapshots of the answers of introspect (package introspection), so the adapters can be written in
// any language.
package compat

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Class is the effect of a change on agents that used the old version.
type Class string

// The classes, worst first.
const (
	Breaking   Class = "breaking"   // a valid request may fail, have another effect, or lack something in its answer
	Notable    Class = "notable"    // valid requests work as before, but answers or metadata may have something new
	Compatible Class = "compatible" // everything works as before
)

// Change is one difference between two snapshots.
type Change struct {
	Class Class `json:"class"`
	// Kind is the kind of change, such as parameter-removed or enum-narrowed. Scripts may rely on it.
	Kind string `json:"kind"`
	// Operation is the operation that changed; empty for a change of a type or of the _protocol metadata.
	Operation string `json:"operation,omitempty"`
	// Type is the type that changed.
	Type string `json:"type,omitempty"`
	// Operations lists the operations that use a changed type, sorted.
	Operations []string `json:"operations,omitempty"`
	// Side is "request" or "result": where the changed type is used.
	Side string `json:"side,omitempty"`
	// Path is the place of the change: params.tags[] or result in an operation, a field such as labels{} in a type, or
	// limits.max_request_size in the metadata. Empty: the operation or the type itself.
	Path string `json:"path,omitempty"`
	// Old and New are the values in the two versions, if there is a single one.
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
	// Message is a sentence without a full stop.
	Message string `json:"message"`
}

// Compare returns the changes from one version to a later one: breaking changes first, then notable, then compatible
// ones, each in the order of the metadata, the operations and the types. A type that several operations use is compared
// once for requests and once for results.
func Compare(before, after *Snapshot) []Change {
	c := comparison{before: before, after: after, reached: make(map[typePair]*comparedType)}
	c.protocol()
	c.operations()
	c.types()
	slices.SortStableFunc(c.changes, func(a, b Change) int { return cmp.Compare(a.Class.rank(), b.Class.rank()) })
	return c.changes
}

// Count returns the number of changes of a class.
func Count(changes []Change, class Class) int {
	n := 0
	for _, change := range changes {
		if change.Class == class {
			n++
		}
	}
	return n
}

func (c Class) rank() int { return slices.Index([]Class{Breaking, Notable, Compatible}, c) }

// comparison is the state of one call of Compare.
type comparison struct {
	before, after *Snapshot
	changes       []Change
	reached       map[typePair]*comparedType
	queue         []*comparedType // still to be compared
}

// place is the place of two values that are compared.
type place struct {
	operation string
	owner     *comparedType // nil: the place is in an operation or in the metadata
	path      string
	label     string // what messages call it
	result    bool   // values go to the agent, not to the adapter
}

// below returns a place below p.
func (p place) below(path, label string) place {
	p.path, p.label = p.path+path, label
	return p
}

func (c *comparison) report(p place, class Class, kind string, before, after any, message string) {
	change := Change{
		Class: class, Kind: kind, Operation: p.operation, Path: p.path,
		Old: literal(before), New: literal(after), Message: message,
	}
	if p.owner != nil {
		change.Type, change.Side = p.owner.after, "request"
		if p.result {
			change.Side = "result"
		}
	}
	c.changes = append(c.changes, change)
}

// literal returns v as JSON; nil: v is nil.
func literal(v any) json.RawMessage {
	switch v := v.(type) {
	case nil:
		return nil
	case json.RawMessage:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}
