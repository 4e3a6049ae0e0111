package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// ListTodosRequest selects and orders todos, as far as the tags of Todo allow.
type ListTodosRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Todo]
	aql.Fields
}

// ListTodos lists todos.
//
//aql:example {} The newest todos
//aql:example {"filter":{"status":"open","tags":"work"},"sort":{"field":"due_at"}} What is due next
//aql:example {"fields":["todo_id","due_at"]} When everything is due
func (s *Service) ListTodos(ctx context.Context, req ListTodosRequest) (*aql.Page[Todo], error) {
	return req.Stream(ctx, s.todos(ctx))
}
