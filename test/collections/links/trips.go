package links

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Trip begins at a node, which is in a field, and ends at another one, to which a relation leads.
type Trip struct {
	TripID string `json:"trip_id" aql:"id"`
	Begin  Node   `json:"begin"`
	EndID  string `json:"end_id"`
}

// GetTripRequest names a trip.
type GetTripRequest struct {
	_      struct{} `aql:"category=READ"`
	TripID string   `json:"trip_id" aql:"required"`
	aql.Fields
}

// GetTrip returns a trip from a to b.
func (g *Graph) GetTrip(_ context.Context, req GetTripRequest) (*Trip, error) {
	return &Trip{TripID: req.TripID, Begin: *g.Nodes["a"], EndID: "b"}, nil
}

// Ends loads the nodes at which trips end.
//
//aql:relation Trip.end by=EndID,to=get_node,param=node_id
func (g *Graph) Ends(context.Context, []string) (map[string]*Node, error) { return g.Nodes, nil }
