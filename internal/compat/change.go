// Package compat tells what a new version of an adapter changes for the agents that used an old one. It compares
// snapshots of what introspect answers (project.Snapshot), so the adapters can be written in anything.
package compat

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Class says what a change does to agents that used the old version.
type Class string

// The classes, worst first.
const (
	Breaking   Class = "breaking"   // a request that was fine may fail, mean something else, or miss something in its answer
	Notable    Class = "notable"    // nothing that was promised is broken, but an agent may meet what it has not met before
	Compatible Class = "compatible" // whatever worked works as before
)

// Change is one difference between two snapshots.
type Change struct {
	Class Class `json:"class"`
	// Kind names the sort of change, such as parameter-removed or enum-narrowed. It is stable: scripts may rely on it.
	Kind string `json:"kind"`
	// Operation is the operation that changed; empty for a change of a type or of the _protocol metadata.
	Operation string `json:"operation,omitempty"`
	// Type is the type that changed.
	Type string `json:"type,omitempty"`
	// Operations are those of the new version, sorted, that reach a changed type.
	Operations []string `json:"operations,omitempty"`
	// Side tells whether a type is meant as part of a request or of a result.
	Side string `json:"side,omitempty"`
	// Path is where: params.tags[] or result in an operation, a field such as labels{} in a type, limits.max_request_size
	// in the metadata. Empty: the operation or the type itself.
	Path string `json:"path,omitempty"`
	// Old and New are what the snapshots say there, where one value says it.
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
	// Message says it in a sentence without a full stop.
	Message string `json:"message"`
}

// Compare lists what changes for agents from the old version to the new one: breaking changes first, then notable, then
// compatible ones, each in the order of the metadata, the operations and the types. A type that several operations use is
// compared once for requests and once for results, as far as each of them reaches it.
func Compare(old, new *Snapshot) []Change {
	c := comparison{old: old, new: new, reached: make(map[pair]*visit)}
	c.protocol()
	c.operations()
	c.types()
	slices.SortStableFunc(c.changes, func(a, b Change) int { return cmp.Compare(a.Class.rank(), b.Class.rank()) })
	return c.changes
}

// Count tells how many changes are of a class.
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

// comparison is the work of one Compare.
type comparison struct {
	old, new *Snapshot
	changes  []Change
	reached  map[pair]*visit
	queue    []*visit
}

// pair is two types that are compared with each other, the old one and the new one, in one direction.
type pair struct {
	old, new string
	result   bool
}

// visit is a pair that is reached from operations.
type visit struct {
	pair
	operations []string
	uses       []*visit
}

// place is where two things that are compared stand.
type place struct {
	operation string
	visit     *visit // of a type; nil: in the operation itself
	path      string
	what      string // how a message calls it
	result    bool   // values go to the agent, not to the adapter
}

// at is a place below p.
func (p place) at(path, what string) place {
	p.path, p.what = p.path+path, what
	return p
}

func (c *comparison) report(p place, class Class, kind string, old, new any, message string) {
	change := Change{Class: class, Kind: kind, Operation: p.operation, Path: p.path, Old: literal(old), New: literal(new), Message: message}
	if p.visit != nil {
		change.Type, change.Side = p.visit.new, "request"
		if p.result {
			change.Side = "result"
		}
	}
	c.changes = append(c.changes, change)
}

// literal is v as JSON; nothing for nil.
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
