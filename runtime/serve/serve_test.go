package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// registry has an operation that sends to entered, and ends when something is sent to leave, but not with its context;
// and one that does nothing.
func registry(entered chan<- struct{}, leave <-chan struct{}) *aql.Registry {
	return gen.NewRegistry([]gen.Handler{{
		Name: "wait", Category: gen.Execute, Danger: gen.Reversible, Returns: "Nothing",
		Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) {
			entered <- struct{}{}
			<-leave
			return nil, nil
		},
	}, {
		Name: "look", Category: gen.Read, Danger: gen.Safe, Returns: "Nothing", Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}})
}

// safeBuffer is written by the process and read by the test.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func lookup(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, variable := range environ {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// addTool returns a Setup that adds a tool.
func addTool(name string) func(*mcp.Server) {
	return func(server *mcp.Server) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
}

// Flags and environment, and what a client and standard error get.
func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		args    []string
		environ []string
		options Options
		code    int
		tools   string // names that tools/list shows; empty: not served
		stdout  string
		stderr  string
	}{
		{name: "B12 by default, without empty families", tools: "mcp_aql_execute,mcp_aql_read"},
		{
			name: "T-35 a profile by flag", args: []string{"-profile", "crude"},
			tools: "mcp_aql_create,mcp_aql_delete,mcp_aql_execute,mcp_aql_read,mcp_aql_update",
		},
		{name: "a mode by flag", args: []string{"-mode", "single"}, tools: "mcp_aql"},
		{name: "REQ-EP-09 a mode by environment", environ: []string{"MCP_AQL_ENDPOINT_MODE=single"}, tools: "mcp_aql"},
		{
			name: "REQ-EP-10 a profile by environment", environ: []string{"MCP_AQL_ENDPOINT_PROFILE=semantic"},
			tools: "mcp_aql_discover,mcp_aql_manage,mcp_aql_operate,mcp_aql_query",
		},
		{
			name:    "REQ-TL-06 a prefix by environment",
			environ: []string{"MCP_AQL_TOOL_PREFIX=my_", "MCP_AQL_ENDPOINT_MODE=single"}, tools: "my_mcp_aql",
		},
		{
			name: "a flag overrides the environment, with a warning", args: []string{"-mode", "single"},
			environ: []string{"MCP_AQL_ENDPOINT_MODE=semantic"}, tools: "mcp_aql",
			stderr: "-mode single wins over MCP_AQL_ENDPOINT_MODE=semantic"},
		{name: "the service's own default", options: Options{Adapter: aql.Options{Mode: "single"}}, tools: "mcp_aql"},
		{
			name:    "the environment over the service's default",
			options: Options{Adapter: aql.Options{Mode: "single", Prefix: "a_"}}, environ: []string{"MCP_AQL_TOOL_PREFIX=b_"},
			tools: "b_mcp_aql",
		},
		{
			name: "a misspelt variable", environ: []string{"MCP_AQL_ENDPIONT_MODE=single"},
			tools:  "mcp_aql_execute,mcp_aql_read",
			stderr: "environment variable MCP_AQL_ENDPIONT_MODE is not known"},
		{name: "only READ by flag", args: []string{"-read-only"}, tools: "mcp_aql_read"},
		{name: "only READ by environment", environ: []string{"MCP_AQL_READ_ONLY=1"}, tools: "mcp_aql_read"},
		{
			name: "the flag overrides the environment, with a warning", args: []string{"-read-only=false"},
			environ: []string{"MCP_AQL_READ_ONLY=1"}, stderr: "-read-only false wins over MCP_AQL_READ_ONLY=1",
			tools: "mcp_aql_execute,mcp_aql_read",
		},
		{
			name: "a flag of the same meaning is no conflict", args: []string{"-read-only"},
			environ: []string{"MCP_AQL_READ_ONLY=1"}, tools: "mcp_aql_read",
		},
		{
			name: "a switch that is neither on nor off", environ: []string{"MCP_AQL_READ_ONLY=yes"}, code: exitUsage,
			stderr: `-read-only, or MCP_AQL_READ_ONLY: "yes" is neither true nor false`,
		},
		{name: "nothing destructive", args: []string{"-no-destructive"}, tools: "mcp_aql_read"},
		{
			name: "operations by name", args: []string{"-operations", "look, wait,!wai"}, code: exitUsage,
			stderr: `pattern "!wai" matches no operation; did you mean wait?`,
		},
		{name: "and no other", args: []string{"-operations", "*, !wait"}, tools: "mcp_aql_read"},
		{
			name: "nothing that the service leaves out", environ: []string{"MCP_AQL_OPERATIONS=*", "MCP_AQL_READ_ONLY=false"},
			tools:   "mcp_aql_read",
			options: Options{Adapter: aql.Options{Available: aql.Available{Operations: []string{"!wait"}}}},
		},
		{
			name: "no pattern", environ: []string{"MCP_AQL_OPERATIONS="}, code: exitUsage,
			stderr: `pattern "" of operations is empty`,
		},
		{
			name: "a tool of the service's own", options: Options{MCP: mcpserver.Options{Setup: addTool("status")}},
			args: []string{"-mode", "single"}, tools: "mcp_aql,status",
		},
		{
			name: "a tool with the name of one of the adapter's", code: exitUsage, args: []string{"-mode", "single"},
			options: Options{MCP: mcpserver.Options{Setup: addTool("mcp_aql")}},
			stderr:  "serve.Options.MCP.Setup: tool mcp_aql is one of the adapter's",
		},
		{
			name: "the same over HTTP", code: exitUsage, args: []string{"-mode", "single", "-transport", "http"},
			options: Options{MCP: mcpserver.Options{Setup: addTool("mcp_aql")}},
			stderr:  "serve.Options.MCP.Setup: tool mcp_aql is one of the adapter's",
		},
		{name: "version", args: []string{"-version"}, stdout: "notes 1.2.3"},
		{name: "help", args: []string{"-help"}, stdout: "MCP_AQL_TOOL_PREFIX"},
		{name: "an unknown flag", args: []string{"-nope"}, code: exitUsage, stderr: "-nope"},
		{name: "an argument", args: []string{"x"}, code: exitUsage, stderr: `unexpected argument "x"`},
		{name: "an unknown mode", args: []string{"-mode", "both"}, code: exitUsage, stderr: "both"},
		{
			name: "an unknown mode by environment", environ: []string{"MCP_AQL_ENDPOINT_MODE=both"}, code: exitUsage,
			stderr: "both",
		},
		{name: "an unknown transport", args: []string{"-transport", "sse"}, code: exitUsage, stderr: "stdio or http"},
		{
			name: "state that the service has no store for", args: []string{"-state", "x.db"}, code: exitUsage,
			stderr: "-state: this service cannot keep its state in a file, only in: memory.",
		},
		{
			name: "a scheme that it has no store for", args: []string{"-state", "redis://localhost"}, code: exitUsage,
			options: Options{Stores: []store.Driver{{}}}, stderr: "in redis://…, only in: memory, the path of a file.",
		},
		{
			name: "state that cannot be opened", environ: []string{"MCP_AQL_STATE=x.db"}, code: exitUsage,
			stderr: "-state: no such place",
			options: Options{
				Stores: []store.Driver{
					{Open: func(context.Context, string) (store.Store, error) { return nil, errors.New("no such place") }},
				},
			}},
		{
			name: "telemetry that the service has not", args: []string{"-otel"}, code: exitUsage,
			stderr: "-otel and -metrics: this service has no telemetry. Its author adds it with serve.Options.Telemetry",
		},
		{
			name: "metrics that the service has not", environ: []string{"MCP_AQL_METRICS=127.0.0.1:0"}, code: exitUsage,
			stderr: "this service has no telemetry",
		},
		{
			name: "trust in what is not sent", args: []string{"-otel-trust-sampling"}, code: exitUsage,
			options: Options{Telemetry: noTelemetry}, stderr: "-otel-trust-sampling is of traces: it goes with -otel",
		},
		{
			name: "telemetry that does not open", args: []string{"-otel"}, code: exitUsage,
			options: Options{Telemetry: noTelemetry}, stderr: "notes: -otel and -metrics: the disk is full",
		},
		{
			name: "metrics at the address of MCP, which has none", args: []string{"-metrics", "same"}, code: exitUsage,
			options: Options{Telemetry: noTelemetry}, stderr: "MCP has no address on stdio",
		},
		{
			name: "telemetry that nobody asked for", options: Options{Telemetry: noTelemetry},
			tools: "mcp_aql_execute,mcp_aql_read",
		},
		{
			name: "a policy that is not there", args: []string{"-policy", "missing.yaml"}, code: exitUsage,
			stderr: "-policy: reading the policy: ",
		},
		{
			name: "an audit file that cannot be made", args: []string{"-audit", "missing/audit.log"}, code: exitUsage,
			stderr: "-audit: ",
		},
		{name: "a drain of no time", args: []string{"-drain", "soon"}, code: exitUsage, stderr: "-drain soon: it is a time"},
		{name: "a drain of less than none", args: []string{"-drain", "-1s"}, code: exitUsage, stderr: "-drain -1s: it is"},
		{
			name: "an unknown log level", args: []string{"-log-level", "loud"}, code: exitUsage,
			stderr: "debug, info, warn or error",
		},
		{
			name: "an address that others can reach", args: []string{"-transport", "http", "-addr", "0.0.0.0:0"},
			code: exitUsage, stderr: "not authenticated",
		},
		{name: "no address", args: []string{"-transport", "http", "-addr", "8080"}, code: exitUsage, stderr: "host:port"},
		{
			name: "a socket without a path", args: []string{"-transport", "http", "-addr", "unix:"}, code: exitUsage,
			stderr: "the path of the socket is missing",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr safeBuffer
			tt.options.Name, tt.options.Version = "notes", "1.2.3"
			env := environment{
				stdin: strings.NewReader(listTools), stdout: &stdout, stderr: &stderr, lookup: lookup(tt.environ),
				environ: tt.environ,
			}
			if code := env.run(t.Context(), registry(nil, nil), tt.options, tt.args); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(stderr.String(), tt.stderr) || !strings.Contains(stdout.String(), tt.stdout) {
				t.Errorf("standard error:\n%s\nstandard output:\n%s", stderr.String(), stdout.String())
			}
			if tt.tools == "" {
				return
			}
			var names []string
			for line := range strings.Lines(stdout.String()) {
				var message struct {
					JSONRPC string
					Result  struct{ Tools []struct{ Name string } }
				}
				if err := json.Unmarshal([]byte(line), &message); err != nil || message.JSONRPC != "2.0" {
					t.Errorf("standard output holds something other than MCP: %s", line)
				}
				for _, tool := range message.Result.Tools {
					names = append(names, tool.Name)
				}
			}
			if got := strings.Join(names, ","); got != tt.tools {
				t.Errorf("tools %s, want %s", got, tt.tools)
			}
		})
	}
}

// running is an adapter that serves HTTP.
type running struct {
	url    string
	stderr *safeBuffer
	stop   context.CancelFunc
	code   chan int
}

var urlInLog = regexp.MustCompile(`url=(http://[^ ]+)/mcp`)

func start(t *testing.T, registry *aql.Registry, options Options, args ...string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := running{stderr: new(safeBuffer), stop: cancel, code: make(chan int, 1)}
	env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: r.stderr, lookup: lookup(nil)}
	options.Name = "notes"
	go func() {
		r.code <- env.run(ctx, registry, options, append(args, "-transport", "http", "-addr", "127.0.0.1:0"))
	}()
	for ; r.url == ""; time.Sleep(time.Millisecond) {
		if match := urlInLog.FindStringSubmatch(r.stderr.String()); match != nil {
			r.url = match[1]
		}
		if len(r.code) > 0 {
			t.Fatalf("the server did not start:\n%s", r.stderr)
		}
	}
	return r
}

func (r running) connect(t *testing.T, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(
		t.Context(), &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp"},
		&mcp.ClientSessionOptions{ProtocolVersion: version},
	)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// Both protocol eras are served, and the health check answers.
func TestHTTP(t *testing.T) {
	r := start(t, registry(nil, nil), Options{})
	response, err := http.Get(r.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := bufio.NewReader(response.Body).ReadString('\n')
	response.Body.Close()
	if response.StatusCode != http.StatusOK || body != "{\"status\":\"ok\"}\n" {
		t.Errorf("/healthz: %d %s", response.StatusCode, body)
	}
	ready, err := http.Get(r.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	ready.Body.Close()
	if ready.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %d", ready.StatusCode)
	}
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		session := r.connect(t, version)
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 2 {
			t.Errorf("version %q: %v, %v", version, tools, err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("version %q: closing: %v", version, err)
		}
	}
	r.stop()
	if code := <-r.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// An open event stream does not hold the shutdown up.
func TestShutdownWithAnOpenStream(t *testing.T) {
	r := start(t, registry(nil, nil), Options{ShutdownTimeout: time.Hour})
	r.connect(t, "2025-06-18") // keeps a stream open for messages from the server
	r.stop()
	if code := <-r.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A call that does not end in time does not hold it up longer than the deadline, and the service is closed.
func TestShutdownDeadline(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	defer close(leave)
	closed := make(chan struct{})
	r := start(t, registry(entered, leave), Options{ShutdownTimeout: 200 * time.Millisecond, Close: func() error {
		close(closed)
		return fmt.Errorf("disk full")
	}})
	session := r.connect(t, "")
	go session.CallTool(
		t.Context(), &mcp.CallToolParams{Name: "mcp_aql_execute", Arguments: json.RawMessage(`{"operation":"wait"}`)},
	)
	<-entered
	r.stop()
	if code := <-r.code; code != exitError {
		t.Errorf("exit code %d, want %d: closing failed", code, exitError)
	}
	<-closed
	if !strings.Contains(r.stderr.String(), "did not end in time") || !strings.Contains(r.stderr.String(), "disk full") {
		t.Errorf("the log does not tell:\n%s", r.stderr)
	}
}
