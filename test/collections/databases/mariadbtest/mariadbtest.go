//go:build unix

// Package mariadbtest runs MariaDB servers for tests, of the version that is installed. Each has a directory of its own
// and can be reached only through a socket in it.
package mariadbtest

import (
	"context"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// Server is a MariaDB server of one test.
type Server struct {
	dir     string
	command *exec.Cmd
	stopped chan struct{} // closed when the command has ended
	guard   io.Closer     // ends the server when this process does
}

// Start starts a server that stops when the test ends. It has no accounts, and keeps nothing that it would have to find
// again after a crash. If MariaDB is not installed, the test is skipped (see postgrestest.RequireServers).
func Start(t testing.TB) *Server {
	t.Helper()
	program := program(t)
	dir, err := os.MkdirTemp("", "aqlmaria") // the paths of t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{dir: dir, stopped: make(chan struct{})}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(s.log())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.command = exec.Command(program, "--no-defaults", "--user="+self.Username, "--datadir="+data,
		"--socket="+s.socket(), "--pid-file="+filepath.Join(dir, "pid"), "--skip-networking", "--skip-grant-tables",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=16M", "--innodb-buffer-pool-size=64M",
		"--performance-schema=OFF", "--character-set-server=utf8mb4")
	s.command.Stdout, s.command.Stderr = log, log
	if err := s.command.Start(); err != nil {
		t.Fatalf("starting MariaDB: %v", err)
	}
	go func() {
		defer close(s.stopped)
		_ = s.command.Wait()
	}()
	t.Cleanup(s.kill)
	s.guard = s.watch(t)
	s.await(t)
	return s
}

// Open makes a database and connects to it. Times are in UTC.
func (s *Server) Open(t testing.TB, name string) *sql.DB {
	t.Helper()
	server := s.connect(t, "")
	if _, err := server.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.connect(t, name)
}

func (s *Server) connect(t testing.TB, database string) *sql.DB {
	t.Helper()
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr, config.DBName = "root", "unix", s.socket(), database
	config.ParseTime = true
	config.Logger = &mysql.NopLogger{} // it would write of each attempt while the server starts
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }
func (s *Server) log() string    { return filepath.Join(s.dir, "log") }

// await returns when the server answers.
func (s *Server) await(t testing.TB) {
	t.Helper()
	db := s.connect(t, "")
	for {
		err := db.PingContext(context.Background())
		if err == nil {
			return
		}
		select {
		case <-s.stopped:
		case <-time.After(10 * time.Millisecond):
			continue
		}
		text, _ := os.ReadFile(s.log())
		t.Fatalf("MariaDB does not start: %v\n%s", err, text)
	}
}

// watch starts a process that ends the server when this process has ended, even if it was killed.
func (s *Server) watch(t testing.TB) io.Closer {
	t.Helper()
	watcher := exec.Command("sh", "-c", `read -r gone; kill -KILL "$1"; sleep 1; rm -rf "$2"`, "sh",
		strconv.Itoa(s.command.Process.Pid), s.dir)
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the signal that ends this process may be sent to its group
	lifeline, err := watcher.StdinPipe()
	if err == nil {
		err = watcher.Start()
	}
	if err != nil {
		t.Fatalf("watching over MariaDB: %v", err)
	}
	return closer(func() error {
		_ = watcher.Process.Kill()
		_ = watcher.Wait()
		return lifeline.Close()
	})
}

type closer func() error

func (c closer) Close() error { return c() }

// kill ends the server at once: nothing of it is needed again.
func (s *Server) kill() {
	if s.guard != nil {
		_ = s.guard.Close()
	}
	_ = s.command.Process.Kill()
	<-s.stopped
}

// program returns the path of the server, which Debian keeps off the path of most accounts.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	postgrestest.Missing(t, "MariaDB", "mariadb-server-core")
	return ""
}
