package conform_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
)

const hostileEnv = "AQL_HOSTILE_SERVER"

// hostile runs a hostile server on standard input and output if the environment names one.
func hostile() bool {
	how := os.Getenv(hostileEnv)
	switch how {
	case "":
		return false
	case "exits":
	case "hangs":
		select {}
	case "refuses to end": // it ignores SIGTERM, closes nothing, and a child of it does the same
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), hostileEnv+"=child that refuses to end")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		fallthrough
	case "child that refuses to end":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
		select {}
	case "logs":
		fmt.Println("2026/11/21 listening")
		select {}
	case "never ends a line":
		line := strings.Repeat("x", 1<<16)
		fmt.Print(`{"jsonrpc":"2.0","method":"`)
		for {
			if _, err := fmt.Print(line); err != nil {
				return true
			}
		}
	case "stops reading": // once the handshake is done
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			var request struct {
				ID     json.RawMessage
				Method string
				Params struct{ ProtocolVersion string }
			}
			if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
				panic(err)
			}
			if request.Method != "initialize" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", request.ID)
				continue
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"hostile","version":"1"}}}`+"\n", request.ID, request.Params.ProtocolVersion)
			select {}
		}
	case "garbage":
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println(`{"jsonrpc":"2.0","id":1,"result":`)
		}
	default: // an MCP server whose tool misbehaves
		server := mcp.NewServer(&mcp.Implementation{Name: "hostile", Version: "1"}, nil)
		calls := 0
		tool := &mcp.Tool{Name: "mcp_aql", InputSchema: map[string]any{"type": "object"}}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			calls++
			text := `{"success":true,"data":{"operations":[]}}`
			switch {
			case how == "hangs at once" || how == "hangs later" && calls > 5:
				select {}
			case how == "answers deep":
				text = `{"success":true,"data":` + strings.Repeat(`{"a":[`, 5_000_000) + `}`
			case how == "answers with a gigabyte": // in chunks, and without an end
				for line := strings.Repeat("x", 1<<16); ; {
					if _, err := fmt.Print(line); err != nil {
						return nil, err
					}
				}
			case how == "answers too much":
				text = `{"success":true,"data":"` + strings.Repeat("x", 32<<20) + `"}`
			case how == "says little" && calls > 1:
				text = `{"success":true,"data":{"types":[]}}`
			case strings.HasSuffix(how, "when called"):
				text = whenCalled(how, r.Params.Arguments)
			case how == "answers garbage":
				text = "<html>"
			case how == "dies" && calls > 5:
				os.Exit(3)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
		server.Run(context.Background(), &mcp.StdioTransport{})
	}
	return true
}

// probe runs the checks against a hostile command and returns the error.
func probe(t *testing.T, how string) (string, *conform.Report) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	connect, call := 10*time.Minute, 10*time.Minute // a busy machine takes its time
	switch how {
	case "hangs", "garbage", "refuses to end": // none ever answers
		connect = 2 * time.Second
	case "hangs at once":
		call = 2 * time.Second
	case "hangs later": // some calls are answered before
		call = 15 * time.Second
	}
	c, err := mcpclient.Command(t.Context(), []string{self}, mcpclient.Options{
		Env: []string{hostileEnv + "=" + how}, Timeout: connect,
	})
	if err != nil {
		return err.Error(), nil
	}
	defer c.Close()
	report, err := conform.Run(t.Context(), c, conform.Options{CallTimeout: call})
	if err != nil {
		return err.Error(), nil
	}
	var failures []string
	for _, r := range report.Results() {
		if r.Verdict == conform.Fail {
			failures = append(failures, r.Name+": "+runError(r))
		}
	}
	return strings.Join(failures, "\n"), report
}

// The run ends with an error about a server that hangs, floods or writes something other than MCP.
func TestHostileCommands(t *testing.T) {
	for how, want := range map[string]string{
		"exits":             "ended the connection",
		"hangs":             "did not answer within 2s",
		"logs":              "logs belong on standard error",
		"never ends a line": "a message of more than 16777216 bytes",
		"garbage":           "", // whatever the SDK makes of it
		"hangs at once":     "no answer within 2s",
		"hangs later":       "stopped answering: no answer within 15s",
		"answers too much":  "a message of more than 16777216 bytes",
		"answers garbage":   "no MCP-AQL tool answers introspect",
		"refuses to end":    "did not answer within 2s",
		// C10: neither depth nor length ends the prober, or keeps it.
		"answers deep":            "a message of more than 16777216 bytes",
		"answers with a gigabyte": "the server wrote to standard output what is not MCP",
		"dies":                    "stopped answering: the server ended the connection",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			got, report := probe(t, how)
			if got == "" || !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if report != nil && report.ExitCode() != 1 {
				t.Errorf("exit code %d", report.ExitCode())
			}
		})
	}
	t.Run("is not there", func(t *testing.T) {
		if _, err := mcpclient.Command(t.Context(), []string{"./no-such-command"}, mcpclient.Options{}); err == nil {
			t.Error("no error")
		}
	})
}

// C10: neither a call nor a list waits longer than its context for a server that does not read what it is sent.
func TestServerThatDoesNotRead(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Command(t.Context(), []string{self}, mcpclient.Options{
		Env: []string{hostileEnv + "=stops reading"}, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the time is up"))
	defer cancel()
	long := json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`) // more than a pipe holds
	if _, err := c.Call(ctx, "mcp_aql", long); err == nil || err.Error() != "the time is up" {
		t.Errorf("a call: %v", err)
	}
	if _, err := c.Tools(ctx); err == nil || err.Error() != "the time is up" {
		t.Errorf("a list: %v", err)
	}
}

func TestHostileURLs(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for how, handler := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
		"never ends an event stream": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, ": still there\n\n"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		},
		"answers byte by byte": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, " "); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		},
		"answers deep": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":`+strings.Repeat(`{"a":[`, 1_000_000))
		},
		"has a header without end": func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer connection.Close()
			fmt.Fprint(connection, "HTTP/1.1 200 OK\r\n")
			for line := "X-More: " + strings.Repeat("x", 1<<16) + "\r\n"; err == nil; {
				_, err = fmt.Fprint(connection, line)
			}
		},
		"is no MCP": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") },
		"refuses":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"floods": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			line := []byte(strings.Repeat(" ", 1<<16))
			for {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.CloseClientConnections()
			_, err := mcpclient.URL(t.Context(), server.URL, mcpclient.Options{Timeout: 2 * time.Second})
			if err == nil || !strings.Contains(err.Error(), "connecting to "+server.URL) {
				t.Errorf("%v", err)
			}
			t.Log(err)
		})
	}
	t.Run("is not there", func(t *testing.T) {
		if _, err := mcpclient.URL(t.Context(), "http://127.0.0.1:1/mcp", mcpclient.Options{}); err == nil {
			t.Error("no error")
		}
	})
}
