package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// asProcess is the environment variable that makes the test binary an adapter. Its value says how long its end may
// take, and what closing it does.
const asProcess = "AQL_TEST_PROCESS"

func TestMain(m *testing.M) {
	if how, ok := os.LookupEnv(asProcess); ok {
		within, closing, _ := strings.Cut(how, " ")
		timeout, err := time.ParseDuration(within)
		if err != nil {
			panic(err)
		}
		os.Exit(environment{
			stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookup: os.LookupEnv,
		}.process(timeout, closing))
	}
	os.Exit(m.Run())
}

// process is an adapter as a process of its own, with handlers that never return, whatever their context says.
func (e environment) process(within time.Duration, closing string) int {
	forever := func(context.Context, []any, any) (any, error) {
		fmt.Fprintln(os.Stderr, "a handler has begun")
		select {}
	}
	at := func(name string, timeout time.Duration, call func(context.Context, []any, any) (any, error)) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Execute, Danger: gen.Reversible, Returns: "Nothing", Request: (*struct{})(nil),
			Timeout: timeout, Call: call,
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		at("stay", 0, forever),
		at("overstay", time.Millisecond, forever),
		at("look", 0, func(context.Context, []any, any) (any, error) { return nil, nil }),
	}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}})
	ctx, stop := untilSignal()
	defer stop()
	return e.run(ctx, registry, Options{
		Name: "notes", ShutdownTimeout: within,
		Close: func() error {
			fmt.Fprintln(os.Stderr, "Close was called")
			switch closing {
			case "stays":
				select {}
			case "panics":
				panic("oh")
			case "exits":
				runtime.Goexit()
			case "fails":
				return errors.New("disk full")
			}
			return nil
		},
	}, os.Args[1:])
}

// process is an adapter that runs as a process.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bufio.Reader
	url    string // over HTTP
	log    []string
}

func startProcess(t *testing.T, transport string, within time.Duration, closing string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-transport", transport, "-addr", "127.0.0.1:0")}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s", asProcess, within, closing))
	pipe := func(r io.ReadCloser, err error) *bufio.Reader {
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(r)
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.stdout, p.stderr = pipe(p.cmd.StdoutPipe()), pipe(p.cmd.StderrPipe())
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	if transport == "http" {
		p.url = urlInLog.FindStringSubmatch(p.logged("url="))[1]
	} else {
		p.send(strings.SplitAfter(listTools, "\n")[0])
		p.receive()
	}
	return p
}

// logged reads the log up to a line with a text, and returns the line.
func (p *process) logged(text string) string {
	p.t.Helper()
	for {
		line, err := p.stderr.ReadString('\n')
		p.log = append(p.log, line)
		if strings.Contains(line, text) {
			return line
		}
		if err != nil {
			p.t.Fatalf("the log has no %q:\n%s", text, strings.Join(p.log, ""))
		}
	}
}

func (p *process) send(line string) {
	if _, err := io.WriteString(p.stdin, line); err != nil {
		p.t.Error(err)
	}
}

func (p *process) receive() string {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		p.t.Errorf("reading standard output: %v", err)
	}
	return line
}

// begin calls an operation, and returns a function that waits for the answer.
func (p *process) begin(operation string) (answer func() string) {
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp_aql_execute","arguments":` +
		`{"operation":"` + operation + `"}`
	if p.url == "" {
		p.send(call + "}}\n")
		return p.receive
	}
	call += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	request, err := http.NewRequest(http.MethodPost, p.url+"/mcp", strings.NewReader(call))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_execute",
	} {
		request.Header.Set(name, value)
	}
	answers := make(chan string, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answers <- string(body)
	}()
	return func() string { return <-answers }
}

// end waits for the end of the process, and returns its exit code and the rest of its log.
func (p *process) end() (code int, log string) {
	rest, _ := io.ReadAll(p.stderr)
	if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), strings.Join(p.log, "") + string(rest)
}

// C3: the end of the input and a signal end the process, also where a handler never returns, which was given up or not,
// and where closing the service does not end. The service is closed, and the exit code tells whether all of it ended.
func TestTheProcessEnds(t *testing.T) {
	for _, tt := range []struct {
		name      string
		operation string // that is called before
		given     string // text of its answer; empty: it has none when the process is to end
		closing   string
		code      int
		log       string
	}{
		{name: "nothing runs", code: exitOK},
		{name: "a handler runs", operation: "stay", code: exitError, log: "cut off after 100ms"},
		{name: "a handler was given up", operation: "overstay", given: "it may still take effect", code: exitOK},
		{name: "closing fails", closing: "fails", code: exitError, log: "disk full"},
		{name: "closing never ends", closing: "stays", code: exitError, log: "it did not end within 100ms"},
		{name: "closing panics", closing: "panics", code: exitError, log: "it panicked: oh"},
		{name: "closing ends its goroutine", closing: "exits", code: exitError, log: "it ended its goroutine"},
		{name: "neither ends", operation: "stay", closing: "stays", code: exitError, log: "it did not end within 100ms"},
	} {
		for _, by := range []string{"stdio input", "stdio signal", "http signal"} {
			t.Run(by+", "+tt.name, func(t *testing.T) {
				t.Parallel()
				transport, end, _ := strings.Cut(by, " ")
				within := 100 * time.Millisecond
				if !strings.Contains(tt.log, within.String()) {
					within = time.Hour // what ends does so in time on a busy machine, too
				}
				p := startProcess(t, transport, within, tt.closing)
				if tt.operation != "" {
					answer := p.begin(tt.operation)
					p.logged("a handler has begun")
					if tt.given != "" {
						if got := answer(); !strings.Contains(got, tt.given) {
							t.Errorf("answer %s", got)
						}
						if got := p.begin("look")(); !strings.Contains(got, `\"success\":true`) {
							t.Errorf("another call: %s", got)
						}
					}
				}
				if end == "input" {
					p.stdin.Close()
				} else if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				code, log := p.end()
				if code != tt.code || !strings.Contains(log, "Close was called") || !strings.Contains(log, tt.log) {
					t.Errorf("exit code %d, want %d, with %q in the log:\n%s", code, tt.code, tt.log, log)
				}
			})
		}
	}
}
