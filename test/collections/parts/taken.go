package parts

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// TakenRequest selects parts.
type TakenRequest struct {
	_ struct{} `aql:"category=READ,op=list_taken"`
	aql.Query[Part]
}

// Taken lists parts as the test says.
func (s *Store) Taken(ctx context.Context, req TakenRequest) (*aql.Page[Part], error) {
	return s.Answer(ctx, &req.Query)
}

// SearchTakenRequest looks for parts.
type SearchTakenRequest struct {
	_ struct{} `aql:"category=READ,op=search_taken"`
	aql.Query[Part]
}

// SearchTaken finds parts as the test says.
func (s *Store) SearchTaken(ctx context.Context, req SearchTakenRequest) (*aql.Page[Part], error) {
	return s.Answer(ctx, &req.Query)
}
