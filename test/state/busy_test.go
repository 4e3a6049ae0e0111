package state

import (
	"bufio"
	"context"
	"database/sql"
	"net"
	"path/filepath"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/jackc/pgx/v5"
)

// C12, REQ-TL-14: where a store has no time or no connection left, an agent learns that it may try again, nothing runs,
// and all goes on when the store has time.
func TestBusyStores(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T) (location string)
		// occupy makes the store busy, and returns what ends that.
		occupy func(t *testing.T, location string) (release func())
	}{
		{
			"PostgreSQL with tables that another transaction has locked",
			func(t *testing.T) string { return postgrestest.Start(t).Location() },
			func(t *testing.T, location string) func() {
				conn := connect(t, location)
				_, err := conn.Exec(t.Context(), "begin; lock table aql.entries, aql.counters")
				if err != nil {
					t.Fatal(err)
				}
				return func() { conn.Close(context.Background()) }
			},
		},
		{
			"PostgreSQL without a connection left",
			func(t *testing.T) string {
				return postgrestest.Start(t, "max_connections=8", "superuser_reserved_connections=0").Location()
			},
			func(t *testing.T, location string) func() {
				admin := connect(t, location)
				held := []*pgx.Conn{admin}
				for {
					conn, err := pgx.Connect(t.Context(), location)
					if err != nil {
						break
					}
					held = append(held, conn)
				}
				const others = "select pg_terminate_backend(pid) from pg_stat_activity " +
					"where backend_type = 'client backend' and query ilike '%aql.%' and pid <> pg_backend_pid()"
				for freed := true; freed; { // those that the store holds
					tag, err := admin.Exec(t.Context(), others)
					if err != nil {
						t.Fatal(err)
					}
					freed = tag.RowsAffected() > 0
					if conn, err := pgx.Connect(t.Context(), location); err == nil {
						held, freed = append(held, conn), true
					}
				}
				return func() {
					for _, conn := range held {
						conn.Close(context.Background())
					}
				}
			},
		},
		{
			"Redis without a connection left",
			func(t *testing.T) string { return redistest.Start(t, "--maxclients", "8").Location() },
			func(t *testing.T, location string) func() {
				dial := func() net.Conn {
					conn, err := net.Dial("unix", strings.TrimPrefix(location, "redis+unix://"))
					if err != nil {
						t.Fatal(err)
					}
					return conn
				}
				ask := func(conn net.Conn, command string) bool {
					_, _ = conn.Write([]byte(command + "\r\n")) // the server may have closed it
					answer := make([]byte, 1)
					_, err := bufio.NewReader(conn).Read(answer)
					return err == nil && answer[0] != '-'
				}
				admin := dial()
				if !ask(admin, "CLIENT KILL TYPE normal SKIPME yes") {
					t.Fatal("the connections of the store are not closed")
				}
				held := []net.Conn{admin, dial()}
				for ask(held[len(held)-1], "PING") {
					held = append(held, dial())
				}
				return func() {
					for _, conn := range held {
						conn.Close()
					}
				}
			},
		},
		{
			"SQLite with a file that another process has locked",
			func(t *testing.T) string { return filepath.Join(t.TempDir(), "state.db") },
			func(t *testing.T, location string) func() {
				db, err := sql.Open("sqlite", location)
				if err == nil {
					db.SetMaxOpenConns(1)
					_, err = db.ExecContext(t.Context(), "begin exclusive")
				}
				if err != nil {
					t.Fatal(err)
				}
				return func() { db.Close() }
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			location := tt.open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			ran := 0
			adapter, err := newAdapter(aql.Options{
				State: state, StateTimeout: stateTimeout,
				Quota: quota.Options{Limits: []quota.Limit{{Operation: "get_thing", Limit: 100, Window: quota.Hour}}},
			}, func(string) { ran++ })
			if err != nil {
				t.Fatal(err)
			}
			session := adapter.NewSession()
			defer session.Close()
			asked, err := remove(t.Context(), session, "ann", "x", "")
			for err == nil && asked.Error.Code == "RATE_LIMIT_EXCEEDED" { // the machine is busy
				asked, err = remove(t.Context(), session, "ann", "x", "")
			}
			if err != nil || asked.Error.Details.Token == "" {
				t.Fatalf("%+v, %v", asked, err)
			}
			release := tt.occupy(t, location)
			for range 8 { // whoever has a connection that was ended is told that the state is unavailable
				a, err := call(t.Context(), session, "ann", "mcp_aql_read", "get_thing", "x", "")
				if err != nil || a.Success {
					t.Fatalf("%+v, %v", a, err)
				}
				if a.Error.Code != "INTERNAL_ERROR" {
					break
				}
			}
			for name, try := range map[string]func() (answer, error){
				"a call that is counted": func() (answer, error) {
					return call(t.Context(), session, "ann", "mcp_aql_read", "get_thing", "x", "")
				},
				"a confirmation": func() (answer, error) {
					return remove(t.Context(), session, "ann", "x", asked.Error.Details.Token)
				},
				"a call that needs one": func() (answer, error) { return remove(t.Context(), session, "ann", "y", "") },
			} {
				a, err := try()
				if err != nil || a.Error.Code != "RATE_LIMIT_EXCEEDED" || a.Error.Details.RetryAfter != 1 ||
					!strings.HasPrefix(a.Error.Message, "The state of this adapter is busy, so the operation was not run.") {
					t.Errorf("%s: %+v, %v", name, a, err)
				}
			}
			if ran > 0 {
				t.Errorf("%d ran", ran)
			}
			release()
			for ran == 0 {
				a, err := call(t.Context(), session, "ann", "mcp_aql_read", "get_thing", "x", "")
				if err != nil || !a.Success && a.Error.Code != "RATE_LIMIT_EXCEEDED" {
					t.Fatalf("afterwards: %+v, %v", a, err)
				}
			}
		})
	}
}

func connect(t *testing.T, location string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
