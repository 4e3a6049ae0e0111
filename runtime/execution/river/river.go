// Package river lets River (https://riverqueue.com) hand out the executions of an adapter, in the PostgreSQL database
// that has the adapter's state: for a fleet of processes. A service that offers it sets
//
//	serve.Options{Stores: river.Drivers()}
//
// in place of those of package postgres, whose locations it takes: -state postgres://…. Everything else of the state is
// where package postgres has it. River's tables are in the same schema. Open makes them, and brings those of an earlier
// version of River up to date.
//
// River queues executions, hands each to one process when it is due, and holds no more for a process than that has
// slots. What an execution is, what its steps have returned and who may write that stays in the store, with all that
// package execution says of it. River does not decide that a process is dead: workers look after that, as they do
// without River.
//
// Each adapter has a queue of its own, which has its name, and a job is one attempt. River's user interface shows them.
// What is done to jobs there is made good: the execution of one that was deleted or cancelled is queued again within
// half an hour.
package river

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
)

// Drivers returns the drivers of this package, for the schemes postgres and postgresql, which mean the same.
func Drivers() []store.Driver {
	open := func(ctx context.Context, location string) (store.Store, error) {
		s, err := Open(ctx, location)
		if err != nil {
			return nil, err // and not an interface that holds a nil *Store
		}
		return s, nil
	}
	return []store.Driver{{Scheme: "postgres", Open: open}, {Scheme: "postgresql", Open: open}}
}

// Store is a store on a PostgreSQL server, and River beside it. An adapter whose State it is has its executions handed
// out by River.
type Store struct {
	*postgres.Store
	client *queue.Client[pgx.Tx] // which only queues
	sql    statements
}

var (
	_ store.Notifier       = (*Store)(nil)
	_ execution.Dispatcher = (*Store)(nil)
)

// Open opens the store at a location of package postgres, and makes its tables and River's if they do not exist. It
// fails if the server cannot be reached, or if the role may not change the tables.
func Open(ctx context.Context, location string) (*Store, error) {
	state, err := postgres.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	s := &Store{Store: state, sql: newStatements(state.Schema())}
	if err = s.migrate(ctx); err == nil {
		s.client, err = queue.NewClient(riverpgxv5.New(state.Pool()), &queue.Config{
			Schema: state.Schema(), Logger: slog.New(slog.DiscardHandler),
		})
	}
	if err != nil {
		_ = state.Close() // nothing runs on it
		return nil, state.Failure(ctx, "opening River's tables", err)
	}
	return s, nil
}

// migrate makes River's tables, or brings them up to date. If several processes come at the same time, one does so and
// the others wait.
func (s *Store) migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(s.Pool()), &rivermigrate.Config{
		Schema: s.Schema(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if now, err := migrator.Validate(ctx, nil); err == nil && now.OK {
		return nil
	}
	// A connection of its own has the lock: River takes others, since one transaction cannot make all that it needs.
	conn, err := pgx.ConnectConfig(ctx, s.Pool().Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it has done its work
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		lock := fnv.New64a()
		io.WriteString(lock, "aql river "+s.Schema())
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1::bigint)`, int64(lock.Sum64())); err != nil {
			return fmt.Errorf("waiting for others: %w", err)
		}
		_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
}
