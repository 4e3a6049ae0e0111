// Package todo keeps todos in SQLite. Its operations are methods of Service, one file each; the tags of their request
// structs are all that makes them an MCP-AQL adapter.
package todo

//go:generate go tool aql-tag

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Service carries out the operations. It is safe for concurrent use, and so is one database file for several services
// in several processes.
type Service struct {
	db  *sql.DB
	now func() time.Time
}

// Open opens the database file at path, which is made if there is none; Memory stands for no file.
func Open(path string) (*Service, error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	if err := table.Check(context.Background(), db); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	return &Service{db: db, now: time.Now}, nil
}

// Close closes the database.
func (s *Service) Close() error { return s.db.Close() }

// get reads one todo.
func get(ctx context.Context, q querier, id string) (*Todo, error) {
	todo, err := scanTodo(q.QueryRowContext(ctx, selectTodo, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, aql.NotFound("todo", id)
	}
	return todo, err
}

// change reads a todo, lets edit change it and writes it back. Nobody else writes in between.
func (s *Service) change(ctx context.Context, id string, edit func(*Todo) error) (*Todo, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()

	todo, err := get(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if err := edit(todo); err != nil {
		return nil, err
	}
	todo.UpdatedAt = s.now()
	changed, err := scanTodo(tx.QueryRowContext(ctx, updateTodo, values(todo)...))
	if err != nil {
		return nil, err
	}
	return changed, tx.Commit()
}
