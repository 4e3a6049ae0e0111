package todo

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// CreateTodoRequest describes the todo to add.
type CreateTodoRequest struct {
	_        struct{}   `aql:"category=CREATE"`
	Title    string     `json:"title" aql:"required,minlen=1,maxlen=200"` // The thing to do
	Notes    string     `json:"notes,omitempty" aql:"maxlen=4000"`        // Details
	Priority Priority   `json:"priority,omitempty" aql:"default=medium"`  // How urgent it is
	DueAt    *time.Time `json:"due_at,omitempty"`                         // When it has to be done
	Tags     []string   `json:"tags,omitempty" aql:"maxitems=20"`         // Words to find it by
	Metadata Metadata   `json:"metadata,omitzero"`                        // What else is known about it
}

// CreateTodo adds a todo.
//
//aql:example {"title":"Buy milk"} The shortest request
//aql:example {"title":"Write the report","priority":"high","due_at":"2026-03-01T09:00:00Z","tags":["work"],"metadata":{"estimate_minutes":90}} With everything that helps to plan
func (s *Service) CreateTodo(ctx context.Context, req CreateTodoRequest) (*Todo, error) {
	now := s.now()
	todo := &Todo{
		TodoID:    newID(),
		Title:     req.Title,
		Notes:     req.Notes,
		Priority:  req.Priority,
		Status:    StatusOpen,
		DueAt:     req.DueAt,
		Tags:      req.Tags,
		Metadata:  req.Metadata,
		CreatedAt: now,
		UpdatedAt: now,
	}
	return scanTodo(s.db.QueryRowContext(ctx, insertTodo, values(todo)...))
}

// newID draws the identifier of a new todo.
func newID() string { return "todo_" + strings.ToLower(rand.Text()) }
