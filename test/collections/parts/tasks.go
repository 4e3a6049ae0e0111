package parts

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Task is a thing to do, of which there are many.
type Task struct {
	TaskID    string     `json:"task_id" aql:"id,filter,sort"`
	Title     string     `json:"title" aql:"filter,sort"`
	Priority  string     `json:"priority" aql:"filter,sort"`
	Status    string     `json:"status" aql:"filter,sort"`
	DueAt     *time.Time `json:"due_at" aql:"filter,sort"`
	Tags      []string   `json:"tags" aql:"filter"`
	Minutes   int        `json:"minutes" aql:"filter,sort"`
	CreatedAt time.Time  `json:"created_at" aql:"filter,sort"`
}

// TasksRequest selects tasks.
type TasksRequest struct {
	_ struct{} `aql:"category=READ,op=list_tasks,sort=-created_at"`
	aql.Query[Task]
	aql.Fields

	From string `json:"from" aql:"enum=slice|pointers|stream,default=slice"` // Where tasks are kept
}

// Tasks are kept in a slice, and by pointer.
type Tasks struct {
	All      []Task
	Pointers []*Task
}

// List lists tasks.
func (s *Tasks) List(ctx context.Context, req TasksRequest) (*aql.Page[Task], error) {
	switch req.From {
	case "pointers":
		return req.Pointers(ctx, s.Pointers)
	case "stream":
		return req.Stream(ctx, func(yield func(Task, error) bool) {
			for i := range s.All {
				if !yield(s.All[i], nil) {
					return
				}
			}
		})
	default:
		return req.Slice(ctx, s.All)
	}
}
