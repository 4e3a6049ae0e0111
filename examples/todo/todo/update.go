package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_       struct{}        `aql:"category=UPDATE,danger=reversible"`
	TodoID  string          `json:"todo_id" aql:"required"` // Which todo
	Input   aql.Patch[Todo] `json:"input"`                  // The changes; fields left out stay as they are
	IfMatch string          `json:"if_match,omitempty"`     // The _etag that the todo must still have
}

// UpdateTodo changes a todo; what is absent from input stays as it was.
//
//aql:example {"todo_id":"todo_7k3f","input":{"title":"Buy oat milk"}} A new title
//aql:example {"todo_id":"todo_7k3f","input":{"due_at":null,"metadata":{"labels":{"shop":"corner"}}}} No due date any more, and one label more
func (s *Service) UpdateTodo(ctx context.Context, req UpdateTodoRequest) (*Todo, error) {
	return s.change(ctx, req.TodoID, func(todo *Todo) error {
		if req.IfMatch != "" && req.IfMatch != todo.ETag {
			return aql.VersionMismatch("todo", todo.TodoID, req.IfMatch, todo.ETag)
		}
		return req.Input.Apply(todo)
	})
}
