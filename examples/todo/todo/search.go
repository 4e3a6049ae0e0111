package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// SearchTodosRequest tells what to look for.
type SearchTodosRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Todo]
	aql.Fields
}

// SearchTodos finds todos by words in their titles, notes and tags.
//
//aql:example {"query":"milk"} Everything about milk
func (s *Service) SearchTodos(ctx context.Context, req SearchTodosRequest) (*aql.Page[Todo], error) {
	return list(ctx, s.db, &req.Query)
}
