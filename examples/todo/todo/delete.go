package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// DeleteTodoRequest names the todo to remove.
type DeleteTodoRequest struct {
	_      struct{} `aql:"category=DELETE,danger=destructive"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// DeleteTodo removes a todo for good.
//
//aql:example {"todo_id":"todo_7k3f"} Asks first
//aql:reason Removes the todo and its history
//aql:confirm Delete todo '{todo_id}'? This cannot be undone.
func (s *Service) DeleteTodo(ctx context.Context, req DeleteTodoRequest) error {
	result, err := s.db.ExecContext(ctx, `DELETE FROM todos WHERE todo_id = ?`, req.TodoID)
	if err != nil {
		return err
	}
	deleted, err := result.RowsAffected()
	if err == nil && deleted == 0 {
		return aql.NotFound("todo", req.TodoID)
	}
	return err
}
