// Package todo is a service that keeps todos in SQLite. It is plain Go: the tags on its request structs are what makes it
// an MCP-AQL adapter.
package todo

//go:generate go tool aql-tag

import "time"

// Priority says how urgent a todo is.
type Priority string

// The priorities.
const (
	Low    Priority = "low"    // Some day
	Medium Priority = "medium" // This week
	High   Priority = "high"   // Today
)

// Status says whether a todo is still to be done.
type Status string

// The statuses.
const (
	StatusOpen Status = "open"
	StatusDone Status = "done"
)

// Metadata holds further facts about a todo.
type Metadata struct {
	Color           string            `json:"color,omitempty" aql:"maxlen=30"`                  // Color of its label
	EstimateMinutes int               `json:"estimate_minutes,omitempty" aql:"min=0,max=10000"` // How long it takes
	Labels          map[string]string `json:"labels,omitempty"`                                 // Free labels
}

// Todo holds something to do.
type Todo struct {
	TodoID    string     `json:"todo_id" aql:"readonly"`                   // Identifier
	Title     string     `json:"title" aql:"required,minlen=1,maxlen=200"` // The task in one line
	Notes     string     `json:"notes,omitempty" aql:"maxlen=4000"`        // Details
	Priority  Priority   `json:"priority" aql:"default=medium"`            // How urgent it is
	Status    Status     `json:"status" aql:"default=open"`                // Whether it is done
	DueAt     *time.Time `json:"due_at,omitempty"`                         // When it is due
	Tags      []string   `json:"tags" aql:"maxitems=20"`                   // Tags
	Metadata  Metadata   `json:"metadata"`                                 // Further facts
	CreatedAt time.Time  `json:"created_at" aql:"readonly"`                // When it was added
	UpdatedAt time.Time  `json:"updated_at" aql:"readonly"`                // When it was changed last
	ETag      string     `json:"_etag" aql:"readonly"`                     // Version, for if_match
}

// TodoPage holds a part of a list.
type TodoPage struct {
	Items      []Todo     `json:"items"`
	Pagination Pagination `json:"pagination"`
}

// Pagination tells which part of a list was returned.
type Pagination struct {
	Limit      int  `json:"limit"`
	Offset     int  `json:"offset"`
	Returned   int  `json:"returned"`
	TotalItems int  `json:"total_items"`
	HasMore    bool `json:"has_more"`
}
