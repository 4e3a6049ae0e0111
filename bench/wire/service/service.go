// Package service is what the benchmarks of the wire decode, merge and encode: requests of three sizes and handlers that do
// nothing. The constraints stand twice: in aql tags for us, and in check tags for go-playground/validator, which the generator
// leaves alone.
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

// Service does nothing, so that what is measured is what stands around it. Todos is what ListTodos returns.
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
	_        struct{}  `aql:"category=CREATE"`
	Title    string    `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`                             // What has to be done
	Slug     string    `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`                // Name in addresses
	Priority Priority  `json:"priority,omitempty" aql:"default=medium" check:"oneof=low medium high"`                               // How urgent it is
	Estimate int       `json:"estimate,omitempty" aql:"min=0,max=10000" check:"min=0,max=10000" jsonschema:"Minutes that it takes"` // Minutes that it takes
	Urgent   bool      `json:"urgent,omitempty"`                                                                                    // Whether somebody waits for it
	DueAt    time.Time `json:"due_at,omitzero"`                                                                                     // When it has to be done
}

// CreateNote does nothing.
//
//aql:example {"title":"Buy milk","slug":"milk"}
func (s *Service) CreateNote(context.Context, CreateNoteRequest) error { return nil }

// UpdateNoteRequest names a note and what changes in it.
type UpdateNoteRequest struct {
	_     struct{}        `aql:"category=UPDATE"`
	ID    string          `json:"note_id" aql:"required"` // Which note
	Input aql.Patch[Note] `json:"input"`                  // What changes
}

// UpdateNote does nothing.
//
//aql:example {"note_id":"note_1","input":{"title":"Buy oat milk"}}
func (s *Service) UpdateNote(context.Context, UpdateNoteRequest) error { return nil }

// Owner is who looks after a todo.
type Owner struct {
	Name  string `json:"name" aql:"required,minlen=1,maxlen=80" check:"required,min=1,max=80"` // Full name
	Email string `json:"email" aql:"maxlen=120" check:"max=120"`                               // Address for letters
	Level int    `json:"level" aql:"min=0,max=10" check:"min=0,max=10"`                        // Rank
}

// Todo is the medium resource.
type Todo struct {
	Title    string            `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`
	Notes    string            `json:"notes" aql:"maxlen=4000" check:"max=4000"`
	Slug     string            `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"`
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
	_        struct{}          `aql:"category=CREATE"`
	Title    string            `json:"title" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`              // What has to be done
	Notes    string            `json:"notes,omitempty" aql:"maxlen=4000" check:"max=4000"`                                   // Details
	Slug     string            `json:"slug" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"` // Name in addresses
	Priority Priority          `json:"priority,omitempty" aql:"default=medium" check:"oneof=low medium high"`                // How urgent it is
	Estimate int               `json:"estimate,omitempty" aql:"min=0,max=10000" check:"min=0,max=10000"`                     // Minutes that it takes
	Urgent   bool              `json:"urgent,omitempty"`                                                                     // Whether somebody waits for it
	Tags     []string          `json:"tags,omitempty" aql:"maxitems=20" check:"max=20"`                                      // Tags
	Owner    Owner             `json:"owner,omitzero"`                                                                       // Who looks after it
	Labels   map[string]string `json:"labels,omitempty" aql:"maxitems=20" check:"max=20"`                                    // Free labels
	DueAt    time.Time         `json:"due_at,omitzero"`                                                                      // When it has to be done
}

// CreateTodo does nothing.
//
//aql:example {"title":"Buy milk","slug":"milk"}
func (s *Service) CreateTodo(context.Context, CreateTodoRequest) error { return nil }

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_     struct{}        `aql:"category=UPDATE"`
	ID    string          `json:"todo_id" aql:"required"` // Which todo
	Input aql.Patch[Todo] `json:"input"`                  // What changes
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
	SKU      string   `json:"sku" aql:"required,maxlen=63,pattern=^[a-z][a-z0-9-]*$" check:"required,max=63,slug"` // Number of the article
	Name     string   `json:"name" aql:"required,minlen=1,maxlen=200" check:"required,min=1,max=200"`              // What it is
	Comment  string   `json:"comment" aql:"maxlen=400" check:"max=400"`                                            // What else is known
	Place    string   `json:"place" aql:"maxlen=40" check:"max=40"`                                                // Where it stands
	Priority Priority `json:"priority" aql:"default=medium" check:"oneof=low medium high"`                         // How urgent it is
	Quantity int      `json:"quantity" aql:"min=0,max=10000" check:"min=0,max=10000"`                              // How many there are
	Weight   float64  `json:"weight" aql:"min=0,max=1000" check:"min=0,max=1000"`                                  // Kilograms of one
	Fragile  bool     `json:"fragile"`                                                                             // Whether it breaks
}

// Shelf is the large resource.
type Shelf struct {
	Items []Item `json:"items" aql:"maxitems=1000" check:"max=1000,dive"`
}

// ImportItemsRequest is the large request: a list of structs, 64 KB.
type ImportItemsRequest struct {
	_     struct{} `aql:"category=CREATE"`
	Items []Item   `json:"items" aql:"required,maxitems=1000" check:"required,max=1000,dive"` // What is put in
}

// ImportItems does nothing.
//
//aql:example {"items":[{"sku":"a-1","name":"Lamp"}]}
func (s *Service) ImportItems(context.Context, ImportItemsRequest) error { return nil }

// UpdateShelfRequest names a shelf and what changes in it.
type UpdateShelfRequest struct {
	_     struct{}         `aql:"category=UPDATE"`
	ID    string           `json:"shelf_id" aql:"required"` // Which shelf
	Input aql.Patch[Shelf] `json:"input"`                   // What changes
}

// UpdateShelf does nothing.
//
//aql:example {"shelf_id":"shelf_1","input":{"items":[]}}
func (s *Service) UpdateShelf(context.Context, UpdateShelfRequest) error { return nil }
