//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/jackc/pgx/v5"
)

// startBouncer starts a pgbouncer before a server that gives a connection back after each transaction. It returns where
// it is reached.
func startBouncer(t *testing.T, server *postgrestest.Server) (location string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		postgrestest.Missing(t, "pgbouncer", "pgbouncer")
	}
	users, settings := filepath.Join(server.Dir(), "users"), filepath.Join(server.Dir(), "bouncer.ini")
	for name, text := range map[string]string{
		users: `"postgres" ""`,
		settings: fmt.Sprintf(`[databases]
postgres = host=%[1]s dbname=postgres
[pgbouncer]
listen_port = 6432
unix_socket_dir = %[1]s
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
auth_type = trust
auth_file = %[2]s
`, server.Dir(), users),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bouncer := exec.Command(program, "--quiet", settings)
	bouncer.SysProcAttr = server.Account()
	if err := bouncer.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		bouncer.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		bouncer.Process.Kill()
		<-ended
	})
	location = "postgres://postgres@/postgres?port=6432&host=" + url.QueryEscape(server.Dir())
	for ; ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), location+"&default_query_exec_mode=exec")
		if err == nil {
			conn.Close(context.Background())
			return location
		}
		select {
		case <-ended:
			t.Fatalf("pgbouncer has ended: %v, after %v", bouncer.ProcessState, err)
		default:
		}
	}
}
