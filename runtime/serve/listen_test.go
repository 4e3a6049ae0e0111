package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// socketPath returns a path that is short enough for a socket, which that of t.TempDir may not be.
func socketPath(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return filepath.Join(folder, "s")
}

// overSocket is a client of HTTP on a Unix socket.
func overSocket(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// D1: HTTP is served on a Unix socket, which only the owner of the process can open, and which goes with the process.
func TestSocket(t *testing.T) {
	path := socketPath(t)
	ctx, stop := context.WithCancel(t.Context())
	env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: new(safeBuffer), lookup: lookup(nil)}
	code := make(chan int, 1)
	go func() {
		code <- env.run(ctx, registry(nil, nil), Options{Name: "notes"}, []string{
			"-transport", "http", "-addr", "unix:" + path,
		})
	}()
	for {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	for _, version := range []string{"", "2025-06-18"} {
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: "http://notes/mcp", HTTPClient: overSocket(path)},
			&mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "mcp_aql_read", Arguments: map[string]any{
			"operation": "introspect",
		}})
		if err != nil || result.IsError {
			t.Errorf("version %q: %v, %v", version, result, err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := listenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("a second server: %v", err)
	}
	stop()
	if code := <-code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

// What stands at the path of a socket is replaced only if it is a socket that nobody listens on.
func TestSocketInPlace(t *testing.T) {
	path := socketPath(t)
	leaveSocket(t, path)
	listener, err := listenSocket(t.Context(), path)
	if err != nil {
		t.Fatalf("a socket that nobody listens on: %v", err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("another file of the name is removed: %v", err)
	}
	if _, err := listenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("a file: %v", err)
	}
	if _, err := listenSocket(t.Context(), path+strings.Repeat("x", 100)); err == nil {
		t.Error("a path that is too long")
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files are left: %v, %v", entries, err)
	}
}

// Of processes that start at the same time on one socket, exactly one serves, also in place of a socket that is left.
func TestSocketOfConcurrentStarts(t *testing.T) {
	for round := range 400 {
		path := socketPath(t)
		if round%2 == 0 {
			leaveSocket(t, path)
		}
		start := make(chan struct{})
		results := make(chan net.Listener)
		for range 3 {
			go func() {
				<-start
				listener, err := listenSocket(t.Context(), path)
				if err != nil {
					listener = nil
				}
				results <- listener
			}()
		}
		close(start)
		var listening []net.Listener
		for range 3 {
			if listener := <-results; listener != nil {
				listening = append(listening, listener)
			}
		}
		if len(listening) != 1 {
			t.Errorf("round %d: %d listen", round, len(listening))
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("round %d: files are left: %v, %v", round, entries, err)
		}
		for _, listener := range listening {
			listener.Close()
		}
	}
}

// leaveSocket leaves a socket that nobody listens on.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
}

// A file that another program makes between the look at the path and the naming of the socket is not replaced.
func TestSocketNameTakenMeanwhile(t *testing.T) {
	path := socketPath(t)
	hidden := path + "x"
	leaveSocket(t, hidden)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := name(t.Context(), hidden, path); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Error(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "x" {
		t.Errorf("%q, %v", content, err)
	}
}

// A process that starts while another one replaces the socket that is left fails.
func TestSocketLocked(t *testing.T) {
	path := socketPath(t)
	leaveSocket(t, path)
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "just doing that") {
		t.Error(err)
	}
	unlock()
	listener, err := listenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
}
