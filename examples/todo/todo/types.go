package todo

import "time"

// Priority is how urgent a todo is.
type Priority string

// The priorities.
const (
	Low    Priority = "low"    // Some day
	Medium Priority = "medium" // This week
	High   Priority = "high"   // Today
)

// Status is whether a todo still has to be done.
type Status string

// The statuses.
const (
	StatusOpen Status = "open" // Has to be done
	StatusDone Status = "done" // Was done
)

// Metadata is what else is known about a todo.
type Metadata struct {
	Color           string `json:"color,omitempty" aql:"maxlen=30"`                  // Colour to show it in
	EstimateMinutes *int   `json:"estimate_minutes,omitempty" aql:"min=0,max=10000"` // How long it takes
	// Names and values of your own
	Labels map[string]string `json:"labels,omitempty"`
}

// Todo is a thing to do.
type Todo struct {
	TodoID    string     `json:"todo_id" aql:"readonly,preset=minimal"`                   // Identifier
	Title     string     `json:"title" aql:"required,minlen=1,maxlen=200,preset=minimal"` // The thing to do
	Notes     string     `json:"notes,omitempty" aql:"maxlen=4000"`                       // Details
	Priority  Priority   `json:"priority" aql:"default=medium,preset=standard"`           // How urgent it is
	Status    Status     `json:"status" aql:"default=open,preset=minimal"`                // Whether it was done
	DueAt     *time.Time `json:"due_at,omitempty" aql:"preset=standard"`                  // When it has to be done
	Tags      []string   `json:"tags" aql:"maxitems=20,preset=standard"`                  // Words to find it by
	Metadata  Metadata   `json:"metadata,omitzero"`                                       // What else is known about it
	CreatedAt time.Time  `json:"created_at" aql:"readonly"`                               // When it was added
	UpdatedAt time.Time  `json:"updated_at" aql:"readonly"`                               // When it was last changed
	// Version of the todo, for if_match
	ETag string `json:"_etag" aql:"readonly,preset=standard"`
}

// PageRequest is the part of a list that is asked for.
type PageRequest struct {
	Limit  int `json:"limit,omitempty" aql:"default=25,min=0"` // How many todos to return; 100 if more are asked for
	Offset int `json:"offset,omitempty" aql:"default=0,min=0"` // How many todos to skip
}

// TodoPage is a part of a list of todos.
type TodoPage struct {
	Items      []Todo     `json:"items"`
	Pagination Pagination `json:"pagination"`
}

// Pagination is where a page lies in the whole list.
type Pagination struct {
	Limit      int  `json:"limit"`
	Offset     int  `json:"offset"`
	Returned   int  `json:"returned"`    // Number of todos on this page
	TotalItems int  `json:"total_items"` // Number of todos in the whole list
	HasMore    bool `json:"has_more"`    // Whether todos follow this page
}
