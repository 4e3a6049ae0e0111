//go:build unix

package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer starts a pgbouncer before the server that gives a connection back after each transaction, and returns where
// it is reached: without prepared statements. It stops when the test ends. If pgbouncer is not installed, the test is
// skipped (see RequireServers).
func (s *Server) Bouncer() (location string) {
	s.t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		Missing(s.t, "pgbouncer", "pgbouncer")
	}
	users, settings := filepath.Join(s.dir, "users"), filepath.Join(s.dir, "bouncer.ini")
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
`, s.dir, users),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	bouncer := exec.Command(program, "--quiet", settings)
	bouncer.SysProcAttr = s.Account()
	if err := bouncer.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = bouncer.Wait() // it is killed
		close(ended)
	}()
	s.t.Cleanup(func() {
		_ = bouncer.Process.Kill() // it may have ended
		<-ended
	})
	location = "postgres://postgres@/postgres?port=6432&default_query_exec_mode=exec&host=" + url.QueryEscape(s.dir)
	for ; ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(s.t.Context(), location)
		if err == nil {
			_ = conn.Close(context.Background())
			return location
		}
		select {
		case <-ended:
			s.t.Fatalf("pgbouncer has ended: %v, after %v", bouncer.ProcessState, err)
		default:
		}
	}
}
