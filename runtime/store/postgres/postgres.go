// Package postgres keeps the state of adapters in PostgreSQL, so that replicas on many hosts share it: confirmation tokens,
// counters, audit records. It implements store.Store, and goes by the clock of the server.
//
// A location is a URL as libpq knows it, postgres://user:password@host:port/database?sslmode=verify-full, and may name
// what pgxpool knows besides, such as pool_max_conns. Special characters in it are written as %XX. Settings that it does
// not name come from the usual PG* variables and from the password file, which keeps the password out of the flag.
//
// The tables are in a schema of their own, aql, or the one that the parameter aql_schema names. They are created when a
// store is opened there first; a role that may not do so needs the schema to be created for it:
//
//	create schema aql authorization the_role
//
// Behind a pool of connections that hands them out by transaction, such as pgbouncer, the location has to say
// default_query_exec_mode=exec.
//
// What was acknowledged is as durable as the server makes its commits. Entries are committed durably where the setting
// synchronous_commit is off, too; counters are not. A server that took over from one that failed may lack what was
// committed last, unless the replication between them is synchronous.
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
	// connectTimeout bounds how long one connection is tried for, where the location does not.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds how long a connection that was idle is tried, before another is made, where the location does not.
	pingTimeout = 2 * time.Second
	// closeTimeout bounds how long Close waits for calls to end.
	closeTimeout = 5 * time.Second
)

// Drivers returns the drivers of this package: for the schemes postgres and postgresql, which mean the same.
func Drivers() []store.Driver {
	open := func(ctx context.Context, location string) (store.Store, error) {
		s, err := Open(ctx, location)
		if err != nil {
			return nil, err // not a store that holds a nil
		}
		return s, nil
	}
	return []store.Driver{{Scheme: "postgres", Open: open}, {Scheme: "postgresql", Open: open}}
}

// Store keeps state on a PostgreSQL server; Open makes one. Every method ends when its context does, and needs one that
// ends where the server may hang. Texts of errors name no place, user or password; what is wrapped in them may, the
// password excepted.
type Store struct {
	pool    *pgxpool.Pool
	sql     statements
	stall   string       // see the constant
	written atomic.Int64 // rows that may expire, since the store was opened
}

var _ store.Store = (*Store)(nil)

// Open opens the store at a location, and creates its tables where there are none. It fails where the server cannot be
// reached, and where the tables are those of another release.
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
	if err := s.prepareTables(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connections. It waits for calls that have not ended, but not for ever.
func (s *Store) Close() error {
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
