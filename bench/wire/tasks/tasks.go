// Package tasks lists tasks from a slice, from pointers, from an iterator and from a table, for the benchmarks of
// collections.
package tasks

//go:generate go tool aql-tag

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Priority says how urgent a task is.
type Priority string

// The priorities.
const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
)

// Status says how far a task is.
type Status string

// The statuses.
const (
	Open Status = "open"
	Done Status = "done"
)

// Task is a thing to do.
type Task struct {
	TaskID    string     `json:"task_id" aql:"id"`
	Title     string     `json:"title" aql:"filter,sort"`
	Status    Status     `json:"status" aql:"filter,group"`
	Priority  Priority   `json:"priority" aql:"filter,sort"`
	Minutes   int        `json:"minutes" aql:"filter,sort"`
	DueAt     *time.Time `json:"due_at,omitempty" aql:"filter,sort"`
	Tags      []string   `json:"tags" aql:"filter"`
	CreatedAt time.Time  `json:"created_at" aql:"filter,sort"`
}

// Make returns n different tasks, always the same ones.
func Make(n int) []Task {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"milk", "report", "invoice", "garden", "board", "Bread", "Tax"}
	word := func() string { return words[r.IntN(len(words))] }
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := make([]Task, n)
	for i := range all {
		t := &all[i]
		t.TaskID = fmt.Sprintf("task_%08x%06x", r.Uint32(), i)
		t.Title = fmt.Sprint(word(), " ", word(), " ", r.IntN(1000))
		t.Priority = []Priority{Low, Medium, High}[r.IntN(3)]
		t.Status = []Status{Open, Done}[r.IntN(2)]
		t.Minutes = r.IntN(300)
		if r.IntN(3) > 0 {
			due := begin.Add(time.Duration(r.IntN(500)) * time.Hour)
			t.DueAt = &due
		}
		for range r.IntN(4) {
			t.Tags = append(t.Tags, word())
		}
		t.CreatedAt = begin.Add(time.Duration(r.IntN(1_000_000)) * time.Second)
	}
	return all
}

// Service lists tasks.
type Service struct {
	Tasks    []Task
	Pointers []*Task
	Found    []Task // the items of the last page

	// Table ends the query of a request with the rows of a table.
	Table func(ctx context.Context, query *aql.Query[Task]) (*aql.Page[Task], error)
}

// ListTasksRequest selects tasks.
type ListTasksRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Task]
}

// ListTasks lists tasks that are in a slice.
func (s *Service) ListTasks(ctx context.Context, req ListTasksRequest) (*aql.Page[Task], error) {
	return s.keep(req.Slice(ctx, s.Tasks))
}

// ListPointersRequest selects tasks.
type ListPointersRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Task]
}

// ListPointers lists tasks that are kept by pointer.
func (s *Service) ListPointers(ctx context.Context, req ListPointersRequest) (*aql.Page[Task], error) {
	return s.keep(req.Pointers(ctx, s.Pointers))
}

// ListStreamRequest selects tasks.
type ListStreamRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Task]
}

// ListStream lists tasks that come one by one.
func (s *Service) ListStream(ctx context.Context, req ListStreamRequest) (*aql.Page[Task], error) {
	return s.keep(req.Stream(ctx, s.Each()))
}

// ListTableRequest selects tasks.
type ListTableRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Task]
}

// ListTable lists tasks that are in a table.
func (s *Service) ListTable(ctx context.Context, req ListTableRequest) (*aql.Page[Task], error) {
	return s.keep(s.Table(ctx, &req.Query))
}

// Each yields the tasks.
func (s *Service) Each() iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for i := range s.Tasks {
			if !yield(s.Tasks[i], nil) {
				return
			}
		}
	}
}

func (s *Service) keep(page *aql.Page[Task], err error) (*aql.Page[Task], error) {
	if err == nil {
		s.Found = page.Items
	}
	return page, err
}
