//go:build unix

package wire

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/test/collections/databases/mariadbtest"
)

func openPostgres(ctx context.Context) (*sql.DB, func(), error) {
	return serve(ctx, func(t testing.TB) *sql.DB {
		config, err := pgx.ParseConfig(postgrestest.Start(t).Location())
		if err != nil {
			t.Fatal(err)
		}
		db := stdlib.OpenDB(*config)
		t.Cleanup(func() { _ = db.Close() })
		return db
	})
}

func openMariaDB(ctx context.Context) (*sql.DB, func(), error) {
	return serve(ctx, func(t testing.TB) *sql.DB { return mariadbtest.Start(t).Open(t, "bench") })
}

// serve starts a server by what starts it for a test.
func serve(ctx context.Context, start func(testing.TB) *sql.DB) (db *sql.DB, closeAll func(), err error) {
	h := &host{ctx: ctx}
	ended := make(chan struct{})
	go func() { // which Fatal and Skip end, as they do with that of a test
		defer close(ended)
		db = start(h)
	}()
	<-ended
	if h.err != nil {
		h.close()
		return nil, nil, h.err
	}
	return db, h.close, nil
}

// host takes the place of the test for which a server is started. What would fail the test or skip it is an error.
type host struct {
	testing.TB // nil: what starts servers calls nothing else
	ctx        context.Context
	err        error
	cleanups   []func()
}

func (h *host) Helper()                   {}
func (h *host) Context() context.Context  { return h.ctx }
func (h *host) Cleanup(f func())          { h.cleanups = append(h.cleanups, f) }
func (h *host) Fatal(args ...any)         { h.end(errors.New(fmt.Sprint(args...))) }
func (h *host) Fatalf(f string, a ...any) { h.end(fmt.Errorf(f, a...)) }
func (h *host) Skipf(f string, a ...any) {
	h.end(fmt.Errorf("%w: %s", ErrMissing, fmt.Sprintf(f, a...)))
}

func (h *host) end(err error) {
	h.err = err
	runtime.Goexit()
}

// close ends the server.
func (h *host) close() {
	for _, cleanup := range slices.Backward(h.cleanups) {
		cleanup()
	}
}
