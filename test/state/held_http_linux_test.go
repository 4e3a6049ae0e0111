package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// httpAgent is a process that serves a service over HTTP on a Unix socket, and the agent that talks to it.
type httpAgent struct {
	*exec.Cmd
	client   http.Client
	session  string
	stderr   bytes.Buffer
	received strings.Builder // all that it was told, with headers
}

func startHTTPAgent(t *testing.T, args ...string) *httpAgent {
	t.Helper()
	dir, err := os.MkdirTemp("", "held") // short: a socket's path is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	a := &httpAgent{Cmd: exec.CommandContext(
		t.Context(), os.Args[0], append([]string{"-transport", "http", "-addr", "unix:" + path}, args...)...,
	)}
	a.Env, a.Stderr = append(os.Environ(), workerVariable+"=service"), &a.stderr
	a.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	for { // the test's own deadline bounds it
		connection, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
		if err == nil {
			connection.Close()
			break
		}
		if t.Context().Err() != nil {
			t.Fatalf("%v: %s", err, &a.stderr)
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`)
	a.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

// send sends a message, and keeps all that comes back.
func (a *httpAgent) send(t *testing.T, message string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://service/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if a.session != "" {
		r.Header.Set("Mcp-Session-Id", a.session)
	}
	reply, err := a.client.Do(r)
	if err != nil {
		t.Fatalf("%v: %s", err, &a.stderr)
	}
	defer reply.Body.Close()
	told, err := httputil.DumpResponse(reply, true)
	if err != nil || reply.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%v: %s", err, told)
	}
	a.session = cmp.Or(a.session, reply.Header.Get("Mcp-Session-Id"))
	a.received.Write(told)
}

// call calls an operation.
func (a *httpAgent) call(t *testing.T, tool, operation string, params map[string]any) {
	t.Helper()
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{
			"name": "mcp_aql_" + tool, "arguments": map[string]any{"operation": operation, "params": params},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.send(t, string(message))
}

// end ends the process, and returns all that it has told.
func (a *httpAgent) end(t *testing.T) string {
	t.Helper()
	if err := a.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(); err != nil {
		t.Errorf("%v: %s", err, &a.stderr)
	}
	return a.received.String() + a.stderr.String()
}
