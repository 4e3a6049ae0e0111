package todo

import "context"

// GetTodoRequest names the todo to read.
type GetTodoRequest struct {
	_      struct{} `aql:"category=READ"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// GetTodo reads a todo.
//
//aql:example {"todo_id":"todo_7k3f"} One todo, whole
func (s *Service) GetTodo(ctx context.Context, req GetTodoRequest) (*Todo, error) {
	return get(ctx, s.db, req.TodoID)
}
