// Package links has nodes whose keys are behind pointers.
package links

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Link is where a node leads to.
type Link struct {
	NextID string `json:"next_id"`
}

// Way may have a link.
type Way struct{ *Link }

// Node is a node.
type Node struct {
	NodeID string `json:"node_id" aql:"id"`
	*Way
}

// Graph has nodes.
type Graph struct{ Nodes map[string]*Node }

// GetNode reads a node.
//
//aql:op category=READ
func (g *Graph) GetNode(_ context.Context, nodeID string) (*Node, error) {
	node, ok := g.Nodes[nodeID]
	if !ok {
		return nil, aql.NotFound("node", nodeID)
	}
	return node, nil
}

// NodesByID loads nodes.
//
//aql:relation Node.next by=NextID,to=get_node,type=extends
func (g *Graph) NodesByID(context.Context, []string) (map[string]*Node, error) { return g.Nodes, nil }
