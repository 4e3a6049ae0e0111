//go:build unix

package postgres_test

import (
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/jackc/pgx/v5"
)

// The connection of those who listen is made again when it is lost, and they are told to look then.
func TestListeningOutlivesItsConnection(t *testing.T) {
	server := postgrestest.Start(t)
	s := open(t, server.Location(schema(t)))
	told := s.Listen(t.Context(), "a")
	conn, err := pgx.Connect(t.Context(), server.Location())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	awaitOne := func(query string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			var n int
			if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n == 1 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d connections listen, want 1", n)
			}
		}
	}
	receive := func(what string) {
		t.Helper()
		select {
		case _, open := <-told:
			if !open {
				t.Fatal(what + ": listening has ended")
			}
		case <-time.After(time.Minute):
			t.Fatal(what + ": nobody is told")
		}
	}
	const listening = `select count(*) from pg_stat_activity where query like 'listen %' and pid <> pg_backend_pid()`
	receive("the first connection")
	awaitOne(listening)
	if _, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where query like 'listen %' and pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	receive("the connection is lost")
	awaitOne(listening)
	for len(told) > 0 {
		<-told
	}
	if err := s.Notify(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	receive("the second connection")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range told { // it is closed
	}
}
