package related

import (
	"context"
	"slices"
)

// Node is a resource that a walk has reached.
type Node struct {
	Type     string // element type
	Name     string // what identifies it among those of its type
	Resource any
}

// ID identifies the node in a graph.
func (n *Node) ID() string { return n.Type + ":" + n.Name }

// Edge is a relationship that a walk has found.
type Edge struct {
	Type           string
	Source, Target *Node
	Incoming       bool // the walk went from the target to the source
	Depth          int  // how many relationships lie between the root and its end, this one included
}

// End returns the node to which the walk went.
func (e *Edge) End() *Node {
	if e.Incoming {
		return e.Source
	}
	return e.Target
}

// Step is how a walk goes on from resources of a type.
type Step struct {
	Type     string // of the relationship
	Incoming bool   // the relation leads from the target of the relationship to its source
	Relation *Relation
}

// Walk follows relationships.
type Walk struct {
	Loads *Loads
	Steps []Step
	Depth int
	// Name returns what identifies a resource of an element type.
	Name func(elementType string, resource any) (string, error)
}

// From returns the relationships that are found from a root, breadth first: nearer ones before others, and those of one
// depth by what they are, whatever the order in which they were loaded. It goes on from each node once; a relationship
// that leads back to a node is among them (MCP-AQL relationship queries §5).
func (w *Walk) From(ctx context.Context, root *Node) ([]Edge, error) {
	reached := map[string]*Node{root.ID(): root}
	type identity struct{ kind, source, target string }
	found := make(map[identity]bool)
	var edges []Edge
	for depth, level := 1, []*Node{root}; depth <= w.Depth && len(level) > 0; depth++ {
		var next []*Node
		for _, step := range w.Steps {
			nodes, resources := having(level, step.Relation.Of)
			if err := w.Loads.Load(ctx, step.Relation, resources); err != nil {
				return nil, err
			}
			for _, node := range nodes {
				for _, resource := range w.Loads.Of(step.Relation, node.Resource) {
					name, err := w.Name(step.Relation.Target, resource)
					if err != nil {
						return nil, err
					}
					end := &Node{step.Relation.Target, name, resource}
					known, before := reached[end.ID()]
					if before {
						end = known
					} else {
						reached[end.ID()] = end
						next = append(next, end)
					}
					edge := Edge{Type: step.Type, Source: node, Target: end, Incoming: step.Incoming, Depth: depth}
					if step.Incoming {
						edge.Source, edge.Target = end, node
					}
					if id := (identity{edge.Type, edge.Source.ID(), edge.Target.ID()}); !found[id] {
						found[id] = true
						edges = append(edges, edge)
					}
				}
			}
		}
		level = next
	}
	slices.SortStableFunc(edges, func(a, b Edge) int { return a.Position().Compare(b.Position()) })
	return edges, nil
}

// having returns the nodes of a type, and their resources.
func having(level []*Node, elementType string) (nodes []*Node, resources []any) {
	for _, node := range level {
		if node.Type == elementType {
			nodes, resources = append(nodes, node), append(resources, node.Resource)
		}
	}
	return nodes, resources
}
