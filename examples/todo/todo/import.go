package todo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
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
	// Number of open todos that were left: a person did not agree to overwrite them, or they have changed meanwhile
	Kept int `json:"kept"`
	// Why the person did not agree, if they have said so
	Reason string `json:"reason,omitempty"`
}

// importPlan says which todos of a request become which of the database.
type importPlan struct{ New, Open []planned }

type planned struct {
	At      int    // in the request
	TodoID  string // what it has in the database, or will have
	Version int64  // of an open todo: what a person agrees to overwrite is this one
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
	if _, err := s.importPart(ctx, run, req.Todos, plan.New, 0); err != nil {
		return nil, err
	}
	result := &ImportResult{Added: len(plan.New)}
	if len(plan.Open) == 0 {
		return result, nil
	}

	decision, err := run.Ask(ctx, aql.Approval{
		Name:    "overwrite",
		Message: fmt.Sprintf("Overwrite the open todos of the same titles (%d)?", len(plan.Open)),
		Reasons: []string{clip(fmt.Sprintf("The first of them is %q", req.Todos[plan.Open[0].At].Title))},
		Danger:  gen.Destructive,
	})
	if err != nil {
		return nil, err
	}
	if !decision.Approved {
		result.Kept, result.Reason = len(plan.Open), decision.Reason
		return result, nil
	}
	if result.Overwritten, err = s.importPart(ctx, run, req.Todos, plan.Open, result.Added); err != nil {
		return nil, err
	}
	result.Kept = len(plan.Open) - result.Overwritten
	return result, nil
}

// clip keeps a reason within the 500 bytes that it may have as it is shown: a title is bounded in characters, and
// longer when it is quoted.
func clip(reason string) string {
	const longest, ellipsis = 500, "…"
	reason = words.Printable(reason)
	if len(reason) <= longest {
		return reason
	}
	return strings.ToValidUTF8(reason[:longest-len(ellipsis)], "") + ellipsis
}

// planImport draws identifiers for todos, but for those whose titles open ones have. Where titles are equal, each open
// one is for one todo.
func (s *Service) planImport(ctx context.Context, todos []ImportedTodo) (plan importPlan, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return importPlan{}, err
	}
	defer tx.Rollback()

	taken := map[string]int{} // open todos of a title
	for i, todo := range todos {
		open := planned{At: i}
		switch err := tx.QueryRowContext(ctx, selectOpen, todo.Title, taken[todo.Title]).Scan(&open.TodoID, &open.Version); {
		case err == nil:
			taken[todo.Title]++
			plan.Open = append(plan.Open, open)
		case errors.Is(err, sql.ErrNoRows):
			plan.New = append(plan.New, planned{At: i, TodoID: newID()})
		default:
			return importPlan{}, err
		}
	}
	return plan, nil
}

// importPart writes a part of the todos, each in a step of its own, and returns how many are in the database then. So
// many of all are done already.
func (s *Service) importPart(
	ctx context.Context, run *aql.Run, todos []ImportedTodo, part []planned, done int,
) (written int, err error) {
	for _, p := range part {
		todo := &todos[p.At]
		run.Progress(done, len(todos), "Importing "+todo.Title)
		ok, err := aql.Step(ctx, run, fmt.Sprint("todo ", p.At), func(ctx context.Context) (bool, error) {
			return s.importTodo(ctx, run.Key(fmt.Sprint("todo ", p.TodoID, " ", p.Version)), p, todo)
		})
		if err != nil {
			return 0, err
		}
		if ok {
			written++
		}
		done++
	}
	run.Progress(done, len(todos), "")
	return written, nil
}

// importTodo adds a todo, or overwrites an open one that has not changed since the plan, and reports whether it did. In
// the same transaction it notes the key of the step. Done again, as a step may be when its process is killed, it finds
// that, writes nothing, and reports the same, whatever has become of the todo since.
func (s *Service) importTodo(ctx context.Context, key string, p planned, imported *ImportedTodo) (bool, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()

	if first, err := changed(tx.ExecContext(ctx, noteImported, key)); err != nil || !first {
		return err == nil, err
	}
	now := s.now()
	arguments := values(&Todo{
		TodoID:    p.TodoID,
		Title:     imported.Title,
		Notes:     imported.Notes,
		Priority:  imported.Priority,
		Status:    StatusOpen,
		DueAt:     imported.DueAt,
		Tags:      imported.Tags,
		CreatedAt: now,
		UpdatedAt: now,
	})
	write := insert
	if p.Version > 0 {
		write, arguments = overwriteTodo, append(arguments, sql.Named("version", p.Version))
	}
	if written, err := changed(tx.ExecContext(ctx, write, arguments...)); err != nil || !written {
		return false, err
	}
	return true, tx.Commit()
}

// changed reports whether a statement has changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
