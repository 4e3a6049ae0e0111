package todo

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// CreateTodoRequest describes the todo to add.
type CreateTodoRequest struct {
	_        struct{}   `aql:"category=CREATE"`
	Title    string     `json:"title" aql:"required,minlen=1,maxlen=200"` // The task in one line
	Notes    string     `json:"notes,omitempty" aql:"maxlen=4000"`        // Details
	Priority Priority   `json:"priority,omitempty" aql:"default=medium"`  // How urgent it is
	DueAt    *time.Time `json:"due_at,omitempty"`                         // When it is due
	Tags     []string   `json:"tags,omitempty" aql:"maxitems=20"`         // Tags
	Metadata Metadata   `json:"metadata,omitzero"`                        // Further facts
}

// CreateTodo adds a todo.
//
//aql:example {"title":"Buy milk"} The shortest request
//aql:example {"title":"Pay rent","priority":"high","due_at":"2026-12-01T09:00:00Z","tags":["home"]}
func (s *Service) CreateTodo(ctx context.Context, req CreateTodoRequest) (*Todo, error) {
	now := s.now()
	t := &Todo{
		TodoID: newID(), Title: req.Title, Notes: req.Notes, Priority: req.Priority, Status: StatusOpen, DueAt: req.DueAt,
		Tags: req.Tags, Metadata: req.Metadata, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.insert(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}

// GetTodoRequest names the todo to read.
type GetTodoRequest struct {
	_      struct{} `aql:"category=READ"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// GetTodo reads a todo.
//
//aql:example {"todo_id":"todo_mnq3v5s2"}
func (s *Service) GetTodo(ctx context.Context, req GetTodoRequest) (*Todo, error) {
	return load(ctx, s.db, req.TodoID)
}

// Filter holds conditions a todo must meet, all of them.
type Filter struct {
	Status   Status   `json:"status,omitempty"`   // Whether it is done
	Priority Priority `json:"priority,omitempty"` // How urgent it is
	Tag      string   `json:"tag,omitempty"`      // One of its tags
}

// SortField names what lists are sorted by.
type SortField string

// The sort fields.
const (
	ByCreatedAt SortField = "created_at"
	ByUpdatedAt SortField = "updated_at"
	ByDueAt     SortField = "due_at"
	ByTitle     SortField = "title"
	ByPriority  SortField = "priority"
)

// SortOrder names a direction.
type SortOrder string

// The sort orders.
const (
	Ascending  SortOrder = "asc"
	Descending SortOrder = "desc"
)

// Sort tells the order of a list.
type Sort struct {
	Field SortField `json:"field" aql:"required"`
	Order SortOrder `json:"order,omitempty" aql:"default=asc"`
}

// Page tells which part of a list to return. Requests for lists embed it.
type Page struct {
	Limit  int `json:"limit,omitempty" aql:"min=1,max=100,default=25"` // How many to return
	Offset int `json:"offset,omitempty" aql:"min=0,default=0"`         // How many to skip
}

// ListTodosRequest selects and orders todos.
type ListTodosRequest struct {
	_      struct{} `aql:"category=READ"`
	Filter Filter   `json:"filter,omitzero"` // Only todos like this
	Sort   *Sort    `json:"sort,omitempty"`  // Order; by creation if absent
	Page
}

// ListTodos lists todos, a page of them.
//
//aql:example {} The first page
//aql:example {"filter":{"status":"open","priority":"high"},"sort":{"field":"due_at"},"limit":10}
func (s *Service) ListTodos(ctx context.Context, req ListTodosRequest) (*TodoPage, error) {
	return s.list(ctx, req.Filter, "", req.Sort, req.Page)
}

// SearchTodosRequest tells what to look for.
type SearchTodosRequest struct {
	_     struct{} `aql:"category=READ"`
	Query string   `json:"query" aql:"required,minlen=1,maxlen=200"` // Words; a todo with any of them is found
	Page
}

// SearchTodos finds todos by words in their title, notes and tags.
//
//aql:example {"query":"milk bread"}
func (s *Service) SearchTodos(ctx context.Context, req SearchTodosRequest) (*TodoPage, error) {
	return s.list(ctx, Filter{}, req.Query, nil, req.Page)
}

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_       struct{}        `aql:"category=UPDATE,danger=reversible"`
	TodoID  string          `json:"todo_id" aql:"required"` // Which todo
	Input   aql.Patch[Todo] `json:"input"`                  // What changes
	IfMatch string          `json:"if_match,omitempty"`     // Version the todo must have: the _etag of a read
}

// UpdateTodo changes a todo; what is absent from input stays as it was.
//
//aql:example {"todo_id":"todo_mnq3v5s2","input":{"title":"Buy oat milk"}}
//aql:example {"todo_id":"todo_mnq3v5s2","input":{"due_at":null,"metadata":{"labels":{"shop":"corner"}}}} Removes the date, adds a label
func (s *Service) UpdateTodo(ctx context.Context, req UpdateTodoRequest) (*Todo, error) {
	return s.change(ctx, req.TodoID, func(t *Todo) error {
		if req.IfMatch != "" && req.IfMatch != t.ETag {
			return aql.VersionMismatch("todo", t.TodoID, req.IfMatch, t.ETag)
		}
		return req.Input.Apply(t)
	})
}

// CompleteTodoRequest names the todo that is done.
type CompleteTodoRequest struct {
	_      struct{} `aql:"category=EXECUTE,danger=reversible"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// CompleteTodo marks a todo as done.
//
//aql:example {"todo_id":"todo_mnq3v5s2"}
func (s *Service) CompleteTodo(ctx context.Context, req CompleteTodoRequest) (*Todo, error) {
	return s.change(ctx, req.TodoID, func(t *Todo) error {
		t.Status = StatusDone
		return nil
	})
}

// DeleteTodoRequest names the todo to remove.
type DeleteTodoRequest struct {
	_      struct{} `aql:"category=DELETE,danger=destructive"`
	TodoID string   `json:"todo_id" aql:"required"` // Which todo
}

// DeleteTodo removes a todo for good.
//
//aql:reason Removes the todo and its history
//aql:confirm Delete todo '{todo_id}'? This cannot be undone.
//aql:example {"todo_id":"todo_mnq3v5s2"}
func (s *Service) DeleteTodo(ctx context.Context, req DeleteTodoRequest) error {
	return s.delete(ctx, req.TodoID)
}

// PurgeCompletedRequest tells which completed todos to remove.
type PurgeCompletedRequest struct {
	_             struct{} `aql:"category=DELETE,danger=dangerous"`
	OlderThanDays int      `json:"older_than_days,omitempty" aql:"min=0,default=0"` // Only those untouched for so many days
}

// PurgeResult tells what a purge did.
type PurgeResult struct {
	Purged int `json:"purged"` // How many todos were removed
}

// PurgeCompleted removes all completed todos for good.
//
//aql:reason Removes many todos in one call
//aql:confirm Remove every completed todo untouched for {older_than_days} days? This cannot be undone.
//aql:example {"older_than_days":30}
func (s *Service) PurgeCompleted(ctx context.Context, req PurgeCompletedRequest) (*PurgeResult, error) {
	n, err := s.purge(ctx, s.now().AddDate(0, 0, -req.OlderThanDays))
	if err != nil {
		return nil, err
	}
	return &PurgeResult{Purged: n}, nil
}
