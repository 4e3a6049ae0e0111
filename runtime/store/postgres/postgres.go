// Package postgres is a store in PostgreSQL, which the replicas of an adapter on many hosts share. Its clock is the
// server's. A service that offers it sets
//
//	serve.Options{Stores: postgres.Drivers()}
//
// and its users choose it with -state postgres://….
//
// A location is a URL of libpq, postgres://user:password@host:port/database?sslmode=verify-full. It may have parameters
// of pgxpool, such as pool_max_conns. Special characters in it are written as %XX. Other settings come from the PG*
// environment variables and from the password file, which keeps the password out of the flag.
//
// The tables are in the schema aql, or in the one that the parameter aql_schema names. Open creates them if they do not
// exist. If the role may not create a schema, someone who may has to create it:
//
//	create schema aql authorization the_role
//
// If the connections come from a pool that assigns them by transaction, such as pgbouncer, the location needs
// default_query_exec_mode=exec. Otherwise the server ends a transaction whose process says nothing for five seconds,
// unless the location has idle_in_transaction_session_timeout.
//
// An acknowledged change is as durable as a commit of the server. Entries are committed durably even if
// synchronous_commit is off; counters are not. A server that has taken over from a failed one may lack the latest
// commits, unless the replication between them is synchronous.
package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTimeout bounds one attempt to connect, unless the location has a bound.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds the check of a connection that was idle, unless the location has a bound.
	pingTimeout = 2 * time.Second
	// closeTimeout bounds how long Close waits for running calls.
	closeTimeout = 5 * time.Second
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

// Store is a store on a PostgreSQL server. Every method returns when its context ends; if the server may hang, the
// context must have a deadline. The texts of errors name no host, user or password; the errors that they wrap may name
// host and user.
type Store struct {
	pool    *pgxpool.Pool
	sql     statements
	stall   string       // the constant; another in tests
	written atomic.Int64 // how many rows that may expire were written

	listeners store.Listeners
}

var _ store.Notifier = (*Store)(nil)

// Open opens the store at a location, and creates its tables if they do not exist. It fails if the server cannot be
// reached, or if the tables are those of another release.
func Open(ctx context.Context, location string) (*Store, error) {
	config, schema, err := parseLocation(location)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failed(ctx, opening, err)
	}
	s := &Store{pool: pool, sql: newStatements(schema), stall: stall}
	s.listeners.Receive = s.receive
	if err := s.prepareTables(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close implements store.Store. It waits up to 5 seconds for running calls, and fails if some have not ended then.
func (s *Store) Close() error {
	s.listeners.Close()
	closed := make(chan struct{})
	go func() {
		s.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-time.After(closeTimeout):
		return errors.New("closing the store: there are calls that have not ended; give them contexts that end")
	}
}
