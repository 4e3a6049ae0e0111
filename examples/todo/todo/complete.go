package todo

import "context"

// CompleteTodoRequest names the todo that was done.
type CompleteTodoRequest struct {
	_      struct{} `aql:"category=EXECUTE,danger=reversible"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// CompleteTodo marks a todo as done.
//
//aql:example {"todo_id":"todo_7k3f"} Done
func (s *Service) CompleteTodo(ctx context.Context, req CompleteTodoRequest) (*Todo, error) {
	return s.change(ctx, req.TodoID, func(todo *Todo) error {
		todo.Status = StatusDone
		return nil
	})
}
