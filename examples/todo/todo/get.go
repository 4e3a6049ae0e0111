package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// GetTodoRequest names the todo to read.
type GetTodoRequest struct {
	_      struct{} `aql:"category=READ"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
	aql.Fields
}

// GetTodo reads a todo.
//
//aql:example {"todo_id":"todo_7k3f"} One todo, whole
//aql:example {"todo_id":"todo_7k3f","fields":["title","metadata.labels"]} What it is called and labelled
func (s *Service) GetTodo(ctx context.Context, req GetTodoRequest) (*Todo, error) {
	return get(ctx, s.db, req.TodoID)
}
