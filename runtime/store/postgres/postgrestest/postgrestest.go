//go:build unix

// Package postgrestest runs PostgreSQL servers for tests, of the version that is installed. Each has a directory of its
// own and can be reached only through a socket in it.
package postgrestest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// RequireServers is an environment variable. If it is 1, tests whose server is not installed fail; otherwise they are
// skipped.
const RequireServers = "AQL_REQUIRE_SERVERS"

// Server is a PostgreSQL server of one test. Its methods fail the test if they do not succeed.
type Server struct {
	t        testing.TB
	programs string // the directory of the programs
	dir      string // the directory of the server
	settings []string
	as       *syscall.Credential // the user of the server; nil: the user of the test

	command *exec.Cmd
	stopped chan struct{} // closed when the command has ended
	guard   io.Closer     // ends the server when this process does
}

// Start starts a server that stops when the test ends. A setting has the form name=value, as in postgresql.conf;
// without a setting, fsync is off. If PostgreSQL is not installed, the test is skipped (see RequireServers).
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := &Server{t: t, programs: programs(t), settings: settings, as: account(t)}
	dir, err := os.MkdirTemp("", "aqlpg") // t.TempDir belongs to the test's user, and is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dir
	t.Cleanup(func() { os.RemoveAll(dir) })
	if s.as != nil {
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	create := s.program("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C",
		"--pgdata="+s.data())
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("creating a PostgreSQL cluster: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if s.command != nil {
			s.Thaw()
			s.end(syscall.SIGQUIT)
		}
	})
	s.start()
	return s
}

// Location returns the location of the server for the superuser, with parameters of the form name=value.
func (s *Server) Location(parameters ...string) string {
	location := "postgres://postgres@/postgres?host=" + url.QueryEscape(s.dir)
	return strings.Join(append([]string{location}, parameters...), "&")
}

// Dir returns the directory of the server's socket.
func (s *Server) Dir() string { return s.dir }

// Account returns attributes with which other programs run as the user of the server: some refuse to run as root.
func (s *Server) Account() *syscall.SysProcAttr { return &syscall.SysProcAttr{Credential: s.as} }

// Stop shuts the server down.
func (s *Server) Stop() {
	s.t.Helper()
	s.end(syscall.SIGINT)
}

// Kill ends the server at once, as a crash does; Restart lets it recover.
func (s *Server) Kill() {
	s.t.Helper()
	s.end(syscall.SIGQUIT)
}

// Restart stops the server if it runs, and starts it with the same data.
func (s *Server) Restart() {
	s.t.Helper()
	if s.command != nil {
		s.Stop()
	}
	s.start()
}

// Freeze suspends the server: connections stay open, and nothing is answered.
func (s *Server) Freeze() {
	s.t.Helper()
	s.signalAll(syscall.SIGSTOP)
}

// Thaw resumes a frozen server.
func (s *Server) Thaw() {
	s.t.Helper()
	s.signalAll(syscall.SIGCONT)
}

// Log returns the log of the server since Start.
func (s *Server) Log() string {
	s.t.Helper()
	text, err := os.ReadFile(s.log())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *Server) log() string  { return filepath.Join(s.dir, "log") }
func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) start() {
	s.t.Helper()
	arguments := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off"}
	for _, setting := range s.settings {
		arguments = append(arguments, "-c", setting)
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	command, stopped := s.program("postgres", arguments...), make(chan struct{})
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		s.t.Fatalf("starting PostgreSQL: %v", err)
	}
	go func() {
		defer close(stopped)
		_ = command.Wait()
	}()
	s.command, s.stopped = command, stopped
	s.guard = s.watch()

	ctx := context.Background()
	for {
		conn, err := pgx.Connect(ctx, s.Location())
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		select {
		case <-stopped:
		case <-time.After(10 * time.Millisecond):
			continue
		}
		s.t.Fatalf("PostgreSQL does not start: %v\n%s", err, s.Log())
	}
}

// watch starts a process that ends the server when this process has ended, even if it was killed.
func (s *Server) watch() io.Closer {
	s.t.Helper()
	const script = `read -r gone; kill -QUIT "$1" && kill -CONT "$1"; sleep 1; rm -rf "$2"`
	watcher := exec.Command("sh", "-c", script, "sh", strconv.Itoa(s.command.Process.Pid), s.dir)
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the signal that ends this process may be sent to its group
	lifeline, err := watcher.StdinPipe()
	if err == nil {
		err = watcher.Start()
	}
	if err != nil {
		s.t.Fatalf("watching over PostgreSQL: %v", err)
	}
	return closer(func() error {
		_ = watcher.Process.Kill()
		_ = watcher.Wait()
		return lifeline.Close()
	})
}

type closer func() error

func (c closer) Close() error { return c() }

func (s *Server) end(signal os.Signal) {
	s.t.Helper()
	if s.command == nil {
		s.t.Fatal("the PostgreSQL server is stopped already")
	}
	if s.guard != nil {
		s.guard.Close()
		s.guard = nil
	}
	_ = s.command.Process.Signal(signal)
	<-s.stopped
	s.command = nil
}

// signalAll sends a signal to the server and to its child processes, which have groups of their own.
func (s *Server) signalAll(signal syscall.Signal) {
	s.t.Helper()
	if s.command == nil {
		s.t.Fatal("the PostgreSQL server is stopped")
	}
	pid := s.command.Process.Pid
	if err := syscall.Kill(pid, signal); err != nil {
		s.t.Fatalf("signalling PostgreSQL: %v", err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(processes) == 0 {
		s.t.Fatal("this system does not say which processes the server has")
	}
	for _, process := range processes {
		text, err := os.ReadFile(process)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent ...; a name may have parentheses.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(process)))
		if err := syscall.Kill(child, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Fatalf("signalling PostgreSQL: %v", err)
		}
	}
}

func (s *Server) program(name string, arguments ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(s.programs, name), arguments...)
	command.Dir = s.dir
	command.SysProcAttr = s.Account()
	return command
}

// programs returns the directory of the newest PostgreSQL that is installed.
func programs(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian does not have them on the path
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	Missing(t, "PostgreSQL", "postgresql")
	return ""
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// Missing skips a test whose server is not installed, or fails it if RequireServers is set. debian is the Debian
// package with the server, for the message.
func Missing(t testing.TB, server, debian string) {
	t.Helper()
	if os.Getenv(RequireServers) == "1" {
		t.Fatalf("%s is not installed, and %s=1 demands it; on Debian: apt-get install %s", server, RequireServers, debian)
	}
	t.Skipf("%s is not installed, and this test needs it; on Debian: apt-get install %s", server, debian)
}

// account returns the user of the server if the test runs as root, which PostgreSQL refuses.
func account(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("PostgreSQL does not run as root, and there is no user postgres: %v", err)
	}
	uid, _ := strconv.ParseUint(postgres.Uid, 10, 32)
	gid, _ := strconv.ParseUint(postgres.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
