//go:build unix

package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// repository returns the root folder, and makes the result of the test depend on all that is in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// need returns the path of a program, which a Debian package has.
func need(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + program) // which is not on every path
	}
	if err != nil {
		postgrestest.Missing(t, program, debian)
	}
	return path
}

// built are the programs of this run of the tests, by their versions, in a folder that every user may look into.
var built struct {
	sync.Mutex
	dir      string
	programs map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build builds the server of the example in a version.
func build(t *testing.T, version string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the server of the example")
	}
	built.Lock()
	defer built.Unlock()
	if program, ok := built.programs[version]; ok {
		return program
	}
	if built.dir == "" {
		built.dir, built.programs = folder(t), map[string]string{}
	}
	program := filepath.Join(built.dir, "todo-server-"+version)
	command := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version="+version, "-o", program, ".")
	command.Dir = filepath.Join(repository(t), "examples", "server")
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, printed)
	}
	built.programs[version] = program
	return program
}

// folder returns a new folder that everybody may look into.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "aqldeploy")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// open returns a folder of the test that everybody may look into, unlike that of testing.T.
func open(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// write writes the files of a folder, by their names.
func write(t *testing.T, dir string, mode os.FileMode, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// usage are the flags of the server, and the environment variables that it reads.
type usage struct{ flags, variables []string }

func usageOf(t *testing.T, program string) usage {
	t.Helper()
	printed, err := exec.CommandContext(t.Context(), program, "-help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	var u usage
	for _, match := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllSubmatch(printed, -1) {
		u.flags = append(u.flags, string(match[1]))
	}
	for _, variable := range regexp.MustCompile(`\bMCP_AQL_[A-Z_]+`).FindAll(printed, -1) {
		u.variables = append(u.variables, string(variable))
	}
	if len(u.flags) < 10 || len(u.variables) < 10 {
		t.Fatalf("the usage of the server is not understood:\n%s", printed)
	}
	return u
}

// knows checks that a command line and an environment have nothing that the server does not.
func (u usage) knows(t *testing.T, words []string, variables []string) {
	t.Helper()
	for _, word := range words {
		name, _, _ := strings.Cut(word, "=")
		if flag, ok := strings.CutPrefix(name, "-"); ok && !slices.Contains(u.flags, flag) {
			t.Errorf("the server has no flag %s", name)
		}
	}
	for _, variable := range variables {
		if strings.HasPrefix(variable, "MCP_AQL_") && !slices.Contains(u.variables, variable) {
			t.Errorf("the server does not read %s", variable)
		}
	}
}

// running is a server that runs.
type running struct {
	*exec.Cmd
	address string
	log     output
	ended   chan struct{} // closed when it has
}

// output keeps what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a command line that serves at an address, and waits until it says that it is healthy. It is killed when
// the test ends.
func start(t *testing.T, address string, command *exec.Cmd) *running {
	t.Helper()
	s := &running{Cmd: command, address: address, ended: make(chan struct{})}
	s.Stdout, s.Stderr = &s.log, &s.log
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.Wait()
	}()
	t.Cleanup(func() {
		_ = s.Process.Kill() // it may have ended
		<-s.ended
		if t.Failed() {
			t.Logf("%s:\n%s", address, &s.log)
		}
	})
	s.await(t)
	return s
}

// await waits until the server says that it is healthy.
func (s *running) await(t *testing.T) {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := http.DefaultClient.Do(request); err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-s.ended:
			t.Fatalf("the server has ended: %v\n%s", s.ProcessState, &s.log)
		case <-t.Context().Done():
			t.Fatalf("the server does not answer:\n%s", &s.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the server as systemd and docker do, and returns its exit code.
func (s *running) stop(t *testing.T) int {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	return s.ProcessState.ExitCode()
}

// free returns an address on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// visit returns the page that a browser of this machine gets of a console.
func visit(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v", address, reply.Status, err)
	}
	return string(text)
}

// agent calls operations over HTTP, without a session.
type agent struct {
	url    string
	token  string
	client *http.Client
}

// answer is what an operation answers.
type answer struct {
	Success bool
	Data    json.RawMessage
	Error   struct{ Code, Message string }
}

// call calls an operation of the tool of an endpoint family. The error is that of HTTP, or of MCP.
func (a agent) call(ctx context.Context, family, operation string, params any) (answer, error) {
	tool, arguments := "mcp_aql_"+family, map[string]any{"operation": operation}
	if params != nil {
		arguments["params"] = params
	}
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
			"name": tool, "arguments": arguments,
			"_meta": map[string]any{
				"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
				"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "agent", "version": "1"},
				"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			},
		},
	})
	if err != nil {
		return answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/mcp", bytes.NewReader(message))
	if err != nil {
		return answer{}, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
		"Authorization": "Bearer " + a.token,
	} {
		r.Header.Set(name, value)
	}
	reply, err := a.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		return answer{}, errors.Join(fmt.Errorf("%s: %s", reply.Status, text), err)
	}
	var result struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(text, &result); err != nil || len(result.Result.Content) != 1 {
		return answer{}, errors.Join(fmt.Errorf("no answer of a tool: %s", text), err)
	}
	var got answer
	return got, json.Unmarshal([]byte(result.Result.Content[0].Text), &got)
}

// must calls an operation that succeeds, and returns its data.
func (a agent) must(t *testing.T, family, operation string, params any) json.RawMessage {
	t.Helper()
	got, err := a.call(t.Context(), family, operation, params)
	if err != nil || !got.Success {
		t.Fatalf("%s: %v, %+v", operation, err, got)
	}
	return got.Data
}

// refused checks that an operation is refused with a code.
func (a agent) refused(t *testing.T, family, operation string, params any, code string) {
	t.Helper()
	got, err := a.call(t.Context(), family, operation, params)
	if err != nil || got.Error.Code != code {
		t.Errorf("%s: %v, %+v, and not %s", operation, err, got, code)
	}
}

// named returns a client that calls servers by the name of a host.
func named(host string) *http.Client { return &http.Client{Transport: byName(host)} }

// byName sends requests with the name of a host.
type byName string

func (host byName) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = string(host)
	return http.DefaultTransport.RoundTrip(r)
}
