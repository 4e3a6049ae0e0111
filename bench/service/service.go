// Package service is the service of the benchmarks. Its handlers do next to nothing, since the code around them is
// measured. They serve the generated adapter and the MCP SDK's generic tools.
package service

//go:generate go tool aql-tag

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Priority says how urgent a todo is.
type Priority string

// The priorities.
const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
)

// Metadata is what else is known about a todo.
type Metadata struct {
	Color string `json:"color,omitempty" aql:"maxlen=30" jsonschema:"Color of the label"`

	EstimateMinutes int `json:"estimate_minutes,omitempty" aql:"min=0,max=10000" jsonschema:"How long it takes"`

	Labels map[string]string `json:"labels,omitempty" jsonschema:"Free labels"`
}

// Todo is something to do.
type Todo struct {
	TodoID    string     `json:"todo_id" aql:"readonly"`
	Title     string     `json:"title" aql:"required,minlen=1,maxlen=200"`
	Notes     string     `json:"notes,omitempty" aql:"maxlen=4000"`
	Priority  Priority   `json:"priority" aql:"default=medium"`
	DueAt     *time.Time `json:"due_at,omitempty"`
	Tags      []string   `json:"tags" aql:"maxitems=20"`
	Metadata  Metadata   `json:"metadata"`
	CreatedAt time.Time  `json:"created_at" aql:"readonly"`
}

// Service answers from memory.
type Service struct{ Stored Todo }

// CreateTodoRequest describes the todo to add.
type CreateTodoRequest struct {
	_ struct{} `aql:"category=CREATE"`
	// What has to be done
	Title string `json:"title" aql:"required,minlen=1,maxlen=200" jsonschema:"What has to be done"`
	// Details
	Notes string `json:"notes,omitempty" aql:"maxlen=4000" jsonschema:"Details"`
	// How urgent it is
	Priority Priority `json:"priority,omitempty" aql:"default=medium" jsonschema:"How urgent it is"`
	// When it has to be done
	DueAt *time.Time `json:"due_at,omitempty" jsonschema:"When it has to be done"`
	// Tags
	Tags []string `json:"tags,omitempty" aql:"maxitems=20" jsonschema:"Tags"`
	// What else is known
	Metadata *Metadata `json:"metadata,omitempty" jsonschema:"What else is known"`
}

// CreateTodo adds a todo.
//
//aql:example {"title":"Buy milk"}
func (s *Service) CreateTodo(_ context.Context, req CreateTodoRequest) (*Todo, error) {
	todo := &Todo{
		TodoID: "todo_1", Title: req.Title, Notes: req.Notes, Priority: req.Priority, DueAt: req.DueAt, Tags: req.Tags,
		CreatedAt: s.Stored.CreatedAt,
	}
	if req.Metadata != nil {
		todo.Metadata = *req.Metadata
	}
	return todo, nil
}

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_ struct{} `aql:"category=UPDATE"`
	// Which todo
	TodoID string `json:"todo_id" aql:"required"`
	// What changes
	Input aql.Patch[Todo] `json:"input"`
}

// UpdateTodo changes a todo.
//
//aql:example {"todo_id":"todo_1","input":{"title":"Buy oat milk"}}
func (s *Service) UpdateTodo(_ context.Context, req UpdateTodoRequest) (*Todo, error) {
	todo := s.Stored
	if err := req.Input.Apply(&todo); err != nil {
		return nil, err
	}
	return &todo, nil
}
