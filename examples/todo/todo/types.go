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
	Color           string `json:"color,omitempty" aql:"maxlen=30,filter"`               // Colour to show it in
	EstimateMinutes *int   `json:"estimate_minutes,omitempty" aql:"min=0,max=10000,sum"` // How long it takes
	// Names and values of your own
	Labels map[string]string `json:"labels,omitempty"`
}

// Todo is a thing to do.
type Todo struct {
	// Identifier
	TodoID string `json:"todo_id" aql:"readonly,preset=minimal"`
	// The thing to do
	Title string `json:"title" aql:"required,minlen=1,maxlen=200,preset=minimal,filter,sort,search"`
	// Details
	Notes string `json:"notes,omitempty" aql:"maxlen=4000,search"`
	// How urgent it is
	Priority Priority `json:"priority" aql:"default=medium,preset=standard,filter,sort,group"`
	// Whether it was done
	Status Status `json:"status" aql:"default=open,preset=minimal,filter,group"`
	// When it has to be done
	DueAt *time.Time `json:"due_at,omitempty" aql:"preset=standard,filter,sort"`
	// Words to find it by
	Tags []string `json:"tags" aql:"maxitems=20,preset=standard,filter,group,search"`
	// What else is known about it
	Metadata Metadata `json:"metadata,omitzero"`
	// When it was added
	CreatedAt time.Time `json:"created_at" aql:"readonly,filter,sort"`
	// When it was last changed
	UpdatedAt time.Time `json:"updated_at" aql:"readonly,filter,sort"`
	// Version of the todo, for if_match
	ETag string `json:"_etag" aql:"readonly,preset=standard"`
}
