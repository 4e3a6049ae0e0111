// Package redistest starts Redis servers for tests.
package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is a Redis server of one test, on a socket in a directory of its own. It stops when the test ends.
type Server struct {
	t      testing.TB
	folder string
	config []string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	output *bytes.Buffer // to be read when it has
}

// Start starts a server that writes its data to an append-only file, synced every second. config are more arguments of
// redis-server, such as "--requirepass", "secret". If redis-server is not installed, the test is skipped; with
// AQL_REQUIRE_SERVERS=1 in the environment it fails.
func Start(t testing.TB, config ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("AQL_REQUIRE_SERVERS") == "1" {
			t.Fatal("there is no redis-server, which AQL_REQUIRE_SERVERS=1 demands: install the package redis-server")
		}
		t.Skip("there is no redis-server: install the package redis-server to run this test")
	}
	// Not t.TempDir, whose paths can be too long for a socket.
	folder, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, folder: folder, config: config}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(folder)
	})
	s.Restart()
	return s
}

// Location returns the location for redis.Open: redis+unix:// with the path of the socket.
func (s *Server) Location() string { return "redis+unix://" + s.Socket() }

// Socket returns the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.folder, "r.sock") }

// Restart stops the server if it runs, and starts it with the same data. It returns when the server answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	args := []string{"--port", "0", "--unixsocket", s.Socket(), "--save", "", "--appendonly", "yes", "--dir", s.folder}
	s.output = new(bytes.Buffer)
	cmd := exec.Command("redis-server", append(args, s.config...)...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.output, s.output, attributes()
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("starting redis-server: %v", err)
	}
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() {
		_ = cmd.Wait() // it is killed more often than not
		close(ended)
	}()
	for !s.answers() {
		select {
		case <-ended:
			s.t.Fatalf("redis-server has ended:\n%s", s.output)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// answers reports whether the server answers commands.
func (s *Server) answers() bool {
	conn, err := net.Dial("unix", s.Socket())
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && !strings.HasPrefix(line, "-LOADING")
}

// Stop shuts the server down and waits for its end. Its data stays for Restart.
func (s *Server) Stop() { s.end(func(p *os.Process) error { return p.Signal(os.Interrupt) }) }

// Kill kills the server and waits for its end. What it has written stays for Restart.
func (s *Server) Kill() { s.end((*os.Process).Kill) }

func (s *Server) end(how func(*os.Process) error) {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	if err := how(s.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("ending redis-server: %v", err)
	}
	<-s.ended
	s.cmd = nil
}

// Freeze suspends the server's process until Thaw: it accepts connections and does not answer.
func (s *Server) Freeze() {
	s.t.Helper()
	if err := freeze(s.cmd.Process); err != nil {
		s.t.Fatalf("freezing redis-server: %v", err)
	}
}

// Thaw resumes a frozen server.
func (s *Server) Thaw() {
	s.t.Helper()
	if err := thaw(s.cmd.Process); err != nil {
		s.t.Fatalf("thawing redis-server: %v", err)
	}
}
