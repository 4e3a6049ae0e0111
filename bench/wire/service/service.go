// Package service has the requests of the benchmarks in package wire, in three sizes, and handlers that do nothing.
// Each constraint is there twice: in an aql tag for aql-tag, and in a check tag for go-playground/validator.
package service

//go:generate go tool aql-tag

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Priority says how urgent something is.
type Priority string

// The priorities.
const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
)

// Service does nothing, since the code around it is measured. ListTodos returns Todos.
type Service struct{ Todos []Todo }

// Note is the small resource.
type Note struct {
	Title    string    `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	Slug     string    `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`
	Priority Priority  `json:"priority" aql:"default=medium" check:"oneof=low medium high"`
	Estimate int       `json:"estimate" aql:"min=0,max=10000" check:"min=0,max=10000"`
	Urgent   bool      `json:"urgent"`
	DueAt    time.Time `json:"due_at"`
}

// CreateNoteRequest is the small request: 6 fields, 150 bytes.
type CreateNoteRequest struct {
	_ struct{} `aql:"category=CREATE"`
	// What has to be done
	Title string `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	// Name in addresses
	Slug string `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`
	// How urgent it is
	Priority Priority `json:"priority,omitempty" aql:"default=medium" check:"oneof=low medium high"`
	// Minutes that it takes
	Estimate int `json:"estimate,omitempty" aql:"min=0,max=10000" check:"min=0,max=10000"`
	// Whether somebody waits for it
	Urgent bool `json:"urgent,omitempty"`
	// When it has to be done
	DueAt time.Time `json:"due_at,omitzero"`
}

// CreateNote does nothing.
//
//aql:example {"title":"Buy milk","slug":"milk"}
func (s *Service) CreateNote(context.Context, CreateNoteRequest) error { return nil }

// UpdateNoteRequest names a note and what changes in it.
type UpdateNoteRequest struct {
	_ struct{} `aql:"category=UPDATE"`
	// Which note
	ID string `json:"note_id" aql:"required"`
	// What changes
	Input aql.Patch[Note] `json:"input"`
}

// UpdateNote does nothing.
//
//aql:example {"note_id":"note_1","input":{"title":"Buy oat milk"}}
func (s *Service) UpdateNote(context.Context, UpdateNoteRequest) error { return nil }

// Owner is who looks after a todo.
type Owner struct {
	// Full name
	Name string `json:"name" aql:"required,minlen=1,maxlen=80" check:"required,min=1,max=80"`
	// Address for letters
	Email string `json:"email" aql:"maxlen=120" check:"max=120"`
	// Rank
	Level int `json:"level" aql:"min=0,max=10" check:"min=0,max=10"`
}

// Todo is the medium resource.
type Todo struct {
	Title string `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	Notes string `json:"notes" aql:"maxlen=4000" check:"max=4000"`

	Slug string `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`

	Priority Priority          `json:"priority" aql:"default=medium" check:"oneof=low medium high"`
	Estimate int               `json:"estimate" aql:"min=0,max=10000" check:"min=0,max=10000"`
	Urgent   bool              `json:"urgent"`
	Tags     []string          `json:"tags" aql:"maxitems=20" check:"max=20"`
	Owner    Owner             `json:"owner"`
	Labels   map[string]string `json:"labels" aql:"maxitems=20" check:"max=20"`
	DueAt    time.Time         `json:"due_at"`
}

// CreateTodoRequest is the medium request: 10 fields, 1 KB.
type CreateTodoRequest struct {
	_ struct{} `aql:"category=CREATE"`
	// What has to be done
	Title string `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	// Details
	Notes string `json:"notes,omitempty" aql:"maxlen=4000" check:"max=4000"`
	// Name in addresses
	Slug string `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`
	// How urgent it is
	Priority Priority `json:"priority,omitempty" aql:"default=medium" check:"oneof=low medium high"`
	// Minutes that it takes
	Estimate int `json:"estimate,omitempty" aql:"min=0,max=10000" check:"min=0,max=10000"`
	// Whether somebody waits for it
	Urgent bool `json:"urgent,omitempty"`
	// Tags
	Tags []string `json:"tags,omitempty" aql:"maxitems=20" check:"max=20"`
	// Who looks after it
	Owner Owner `json:"owner,omitzero"`
	// Free labels
	Labels map[string]string `json:"labels,omitempty" aql:"maxitems=20" check:"max=20"`
	// When it has to be done
	DueAt time.Time `json:"due_at,omitzero"`
}

// CreateTodo does nothing.
//
//aql:example {"title":"Buy milk","slug":"milk"}
func (s *Service) CreateTodo(context.Context, CreateTodoRequest) error { return nil }

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_ struct{} `aql:"category=UPDATE"`
	// Which todo
	ID string `json:"todo_id" aql:"required"`
	// What changes
	Input aql.Patch[Todo] `json:"input"`
}

// UpdateTodo does nothing.
//
//aql:example {"todo_id":"todo_1","input":{"title":"Buy oat milk"}}
func (s *Service) UpdateTodo(context.Context, UpdateTodoRequest) error { return nil }

// ListTodosRequest asks for all todos.
type ListTodosRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Fields
}

// ListTodos returns the todos of the service.
//
//aql:example {}
func (s *Service) ListTodos(context.Context, ListTodosRequest) ([]Todo, error) { return s.Todos, nil }

// Item is an element of the large request.
type Item struct {
	// Number of the article
	SKU string `json:"sku" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`
	// What it is
	Name string `json:"name" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	// What else is known
	Comment string `json:"comment" aql:"maxlen=400" check:"max=400"`
	// Where it stands
	Place string `json:"place" aql:"maxlen=40" check:"max=40"`
	// How urgent it is
	Priority Priority `json:"priority" aql:"default=medium" check:"oneof=low medium high"`
	// How many there are
	Quantity int `json:"quantity" aql:"min=0,max=10000" check:"min=0,max=10000"`
	// Kilograms of one
	Weight float64 `json:"weight" aql:"min=0,max=1000" check:"min=0,max=1000"`
	// Whether it breaks
	Fragile bool `json:"fragile"`
}

// Shelf is the large resource.
type Shelf struct {
	Items []Item `json:"items" aql:"maxitems=1000" check:"max=1000,dive"`
}

// ImportItemsRequest is the large request: a list of structs, 64 KB.
type ImportItemsRequest struct {
	_ struct{} `aql:"category=CREATE"`
	// What is put in
	Items []Item `json:"items" aql:"required,maxitems=1000" check:"required,max=1000,dive"`
}

// ImportItems does nothing.
//
//aql:example {"items":[{"sku":"a-1","name":"Lamp"}]}
func (s *Service) ImportItems(context.Context, ImportItemsRequest) error { return nil }

// UpdateShelfRequest names a shelf and what changes in it.
type UpdateShelfRequest struct {
	_ struct{} `aql:"category=UPDATE"`
	// Which shelf
	ID string `json:"shelf_id" aql:"required"`
	// What changes
	Input aql.Patch[Shelf] `json:"input"`
}

// UpdateShelf does nothing.
//
//aql:example {"shelf_id":"shelf_1","input":{"items":[]}}
func (s *Service) UpdateShelf(context.Context, UpdateShelfRequest) error { return nil }
