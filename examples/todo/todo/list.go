package todo

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// ListTodosRequest selects and orders todos.
type ListTodosRequest struct {
	_      struct{}   `aql:"category=READ"`
	Filter TodoFilter `json:"filter,omitzero"` // Which todos to list; default: all
	Sort   *TodoSort  `json:"sort,omitempty"`  // In which order; default: newest first
	PageRequest
	aql.Fields
}

// TodoFilter is what listed todos have in common.
type TodoFilter struct {
	Status   Status   `json:"status,omitempty"`   // Whether it was done
	Priority Priority `json:"priority,omitempty"` // How urgent it is
	Tag      string   `json:"tag,omitempty"`      // A tag the todo has
}

// TodoSort is an order of todos.
type TodoSort struct {
	Field SortField `json:"field,omitempty" aql:"default=created_at"` // What to sort by
	Order Order     `json:"order,omitempty" aql:"default=asc"`        // In which direction
}

// SortField is a field that todos can be ordered by.
type SortField string

// The fields to sort by.
const (
	ByCreatedAt SortField = "created_at"
	ByUpdatedAt SortField = "updated_at"
	ByDueAt     SortField = "due_at" // Todos that are never due come last
	ByTitle     SortField = "title"
	ByPriority  SortField = "priority"
)

// Order is the direction of a sort.
type Order string

// The orders.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// ListTodos lists todos.
//
//aql:example {} The newest todos
//aql:example {"filter":{"status":"open","tag":"work"},"sort":{"field":"due_at"}} What is due next
//aql:example {"fields":["todo_id","due_at"]} When everything is due
func (s *Service) ListTodos(ctx context.Context, req ListTodosRequest) (*TodoPage, error) {
	var selected selection
	if status := req.Filter.Status; status != "" {
		selected.where("status = ?", status)
	}
	if priority := req.Filter.Priority; priority != "" {
		selected.where("priority = ?", priority)
	}
	if tag := req.Filter.Tag; tag != "" {
		selected.where("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", tag)
	}
	selected.sort = newestFirst
	if req.Sort != nil {
		selected.sort = *req.Sort
	}
	return s.page(ctx, selected, req.PageRequest)
}
