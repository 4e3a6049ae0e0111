// Package pgxquery answers the queries of collections from PostgreSQL by pgx, without database/sql. It writes the
// statements of package sqlquery, whose tables and options it takes:
//
//	return pgxquery.Query(ctx, s.pool, todos.Take(&req.Query), pgx.RowToStructByName[Todo])
package pgxquery

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// Querier is what runs statements: a *pgxpool.Pool, a *pgxpool.Conn, a *pgx.Conn or a pgx.Tx.
type Querier interface {
	Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error)
}

// Query is sqlquery.Query for pgx: it answers with the elements that the database finds. The dialect of the table is
// sqlquery.PostgreSQL. scan makes an element of the columns of a row, such as pgx.RowToStructByName does; they are all
// of the table unless sqlquery.Reading says others.
func Query[T any](
	ctx context.Context, db Querier, s *sqlquery.Select[T], scan pgx.RowToFunc[T], options ...sqlquery.Option,
) (*aql.Page[T], error) {
	return sqlquery.Fetch(ctx, runnerOf(db), s, scan, options...)
}

// Check holds the table against the database, as the method Check of the table does by database/sql.
func Check[T any](ctx context.Context, db Querier, t *sqlquery.Table[T], options ...sqlquery.Option) error {
	return t.CheckWith(ctx, func(ctx context.Context, statement string, args []any) (found bool, err error) {
		for _, err := range runnerOf(db)(ctx, statement, args) {
			if err != nil {
				return false, err
			}
			found = true
		}
		return found, nil
	}, options...)
}

// runnerOf runs statements by pgx.
func runnerOf(db Querier) sqlquery.Runner[pgx.CollectableRow] {
	return func(ctx context.Context, statement string, args []any) iter.Seq2[pgx.CollectableRow, error] {
		return func(yield func(pgx.CollectableRow, error) bool) {
			rows, err := db.Query(ctx, statement, args...)
			if err != nil {
				yield(nil, err)
				return
			}
			defer rows.Close()
			for rows.Next() {
				if !yield(rows, nil) {
					return
				}
			}
			if err := rows.Err(); err != nil {
				yield(nil, err)
			}
		}
	}
}
