package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool returns the connections of the store, for what else is kept in its database. Close closes them.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Schema returns the name of the schema of the tables, which needs no quotes.
func (s *Store) Schema() string { return s.sql.schema }

// Failure wraps an error of the server as those of the store's methods: its text names no host, user or password. It
// returns nil for nil.
func (s *Store) Failure(ctx context.Context, doing string, err error) error {
	return failed(ctx, doing, err)
}
