package todo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// ImportTodosRequest holds the todos to import.
type ImportTodosRequest struct {
	_     struct{}       `aql:"category=EXECUTE,danger=reversible,durable,asks,retry=3"`
	Todos []ImportedTodo `json:"todos" aql:"required,minitems=1,maxitems=500"` // The ones to import
	// The same key starts no second import
	RequestKey string `json:"request_key,omitempty" aql:"once,maxlen=100"`
}

// ImportedTodo is a todo of another list.
type ImportedTodo struct {
	Title    string     `json:"title" aql:"required,minlen=1,maxlen=200"` // The thing to do
	Notes    string     `json:"notes,omitempty" aql:"maxlen=4000"`        // Details
	Priority Priority   `json:"priority,omitempty" aql:"default=medium"`  // How urgent it is
	DueAt    *time.Time `json:"due_at,omitempty"`                         // When it has to be done
	Tags     []string   `json:"tags,omitempty" aql:"maxitems=20"`         // Words to find it by
}

// ImportResult tells what an import did.
type ImportResult struct {
	Added       int `json:"added"`       // Number of todos that are new
	Overwritten int `json:"overwritten"` // Number of open todos that were overwritten
	Kept        int `json:"kept"`        // Number of open todos that a person did not let it overwrite
	// Why they were kept, if the person has said so
	Reason string `json:"reason,omitempty"`
}

// importPlan says which todos of a request become which of the database.
type importPlan struct{ New, Open []planned }

type planned struct {
	At     int    // in the request
	TodoID string // what it has in the database, or will have
}

// ImportTodos adds todos of another list, and goes on after a restart where it was. A person is asked before it
// overwrites open todos that have the same titles.
//
//aql:example {"todos":[{"title":"Buy milk","tags":["home"]},{"title":"Water the plants"}],"request_key":"home-1"} Once, however often it is sent
func (s *Service) ImportTodos(ctx context.Context, req ImportTodosRequest, run *aql.Run) (*ImportResult, error) {
	// A step, since an attempt that follows must neither draw other identifiers, nor find what this one has added.
	plan, err := aql.Step(ctx, run, "plan", func(ctx context.Context) (importPlan, error) {
		return s.planImport(ctx, req.Todos)
	})
	if err != nil {
		return nil, err
	}
	if err := s.importPart(ctx, run, req.Todos, plan.New, 0); err != nil {
		return nil, err
	}
	result := &ImportResult{Added: len(plan.New)}
	if len(plan.Open) == 0 {
		return result, nil
	}

	decision, err := run.Ask(ctx, aql.Approval{
		Name:    "overwrite",
		Message: fmt.Sprintf("Overwrite the open todos of the same titles (%d)?", len(plan.Open)),
		Reasons: []string{fmt.Sprintf("The first of them is %q", req.Todos[plan.Open[0].At].Title)},
		Danger:  gen.Destructive,
	})
	if err != nil {
		return nil, err
	}
	if !decision.Approved {
		result.Kept, result.Reason = len(plan.Open), decision.Reason
		return result, nil
	}
	result.Overwritten = len(plan.Open)
	return result, s.importPart(ctx, run, req.Todos, plan.Open, result.Added)
}

// planImport draws identifiers for todos, but for those whose titles open ones have.
func (s *Service) planImport(ctx context.Context, todos []ImportedTodo) (plan importPlan, err error) {
	for i, todo := range todos {
		var id string
		switch err := s.db.QueryRowContext(ctx, selectOpen, todo.Title).Scan(&id); {
		case err == nil:
			plan.Open = append(plan.Open, planned{i, id})
		case errors.Is(err, sql.ErrNoRows):
			plan.New = append(plan.New, planned{i, newID()})
		default:
			return importPlan{}, err
		}
	}
	return plan, nil
}

// importPart writes a part of the todos, each in a step of its own. So many of them are done already.
func (s *Service) importPart(ctx context.Context, run *aql.Run, todos []ImportedTodo, part []planned, done int) error {
	for _, p := range part {
		todo := &todos[p.At]
		run.Progress(done, len(todos), "Importing "+todo.Title)
		_, err := aql.Step(ctx, run, fmt.Sprint("todo ", p.At), func(ctx context.Context) (any, error) {
			return nil, s.importTodo(ctx, p.TodoID, todo)
		})
		if err != nil {
			return err
		}
		done++
	}
	run.Progress(done, len(todos), "")
	return nil
}

// importTodo writes a todo under an identifier. Done again, as a step may be, it leaves the same todo.
func (s *Service) importTodo(ctx context.Context, id string, imported *ImportedTodo) error {
	now := s.now()
	_, err := s.db.ExecContext(ctx, upsertTodo, values(&Todo{
		TodoID:    id,
		Title:     imported.Title,
		Notes:     imported.Notes,
		Priority:  imported.Priority,
		Status:    StatusOpen,
		DueAt:     imported.DueAt,
		Tags:      imported.Tags,
		CreatedAt: now,
		UpdatedAt: now,
	})...)
	return err
}
