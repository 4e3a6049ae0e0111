package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/runtime/bench/wire"
)

// The peers, in the order of the table.
const (
	ours       = "aql-tag"
	discrete   = "aql-tag -mode discrete"
	sdk        = "SDK AddTool"
	mcpGo      = "mcp-go"
	typeScript = "TypeScript SDK"
	bare       = "net/http"
)

// transport is a way to call.
type transport struct {
	name        string
	http        bool
	sessionless bool // version 2026-07-28 of the protocol
	peers       []string
}

func transports() []transport {
	return []transport{
		{name: "stdio", peers: []string{ours, discrete, sdk, mcpGo, typeScript}},
		{name: "HTTP", http: true, peers: []string{ours, discrete, sdk, mcpGo, typeScript, bare}},
		{name: "HTTP without sessions", http: true, sessionless: true, peers: []string{ours, discrete, sdk, mcpGo, bare}},
	}
}

// programs are the commands of the peers.
type programs struct {
	server string // of those in Go
	script string // of the TypeScript SDK; "": it is not measured
}

// prepare builds the servers in a folder, and installs the TypeScript SDK in another, if npm is there.
func prepare(ctx context.Context, folder, packages string) (p programs, note string, err error) {
	p.server = filepath.Join(folder, "server")
	build := exec.CommandContext(ctx, "go", "build", "-o", p.server, "./transport/server")
	if out, err := build.CombinedOutput(); err != nil {
		return p, "", fmt.Errorf("building the servers: %w\n%s", err, out)
	}
	if !installed("npm") {
		return p, "The TypeScript SDK was not measured: npm is missing.", nil
	}
	if err := os.MkdirAll(packages, 0o777); err != nil {
		return p, "", err
	}
	for _, name := range []string{"package.json", "server.mjs"} {
		text, err := os.ReadFile(filepath.Join("transport", "typescript", name))
		if err != nil {
			return p, "", err
		}
		if err := os.WriteFile(filepath.Join(packages, name), text, 0o666); err != nil {
			return p, "", err
		}
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent")
	install.Dir = packages
	if out, err := install.CombinedOutput(); err != nil {
		return p, fmt.Sprintf("The TypeScript SDK was not measured: npm install: %v %s", err, bytes.TrimSpace(out)), nil
	}
	p.script = filepath.Join(packages, "server.mjs")
	return p, "", nil
}

func installed(command string) bool {
	_, err := exec.LookPath(command)
	return err == nil
}

// process is a running server with a session.
type process struct {
	peer    string
	command *exec.Cmd
	client  client
	stderr  bytes.Buffer
	in      io.Closer
	address string // over HTTP
}

// start starts a peer and begins a session.
func start(ctx context.Context, p programs, peer string, t transport) (_ *process, err error) {
	way := "stdio"
	if t.http {
		way = "http"
	}
	s := &process{peer: peer, command: exec.CommandContext(ctx, p.server, "-peer", peer, "-transport", way)}
	if peer == typeScript {
		s.command = exec.CommandContext(ctx, "node", p.script, way)
	}
	s.command.Stderr = &s.stderr
	in, err := s.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	lines := bufio.NewReaderSize(out, 1<<20)
	if t.http {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: reading the address: %w %s", peer, err, s.stderr.Bytes())
		}
		s.address = strings.TrimSpace(line)
		s.client, err = s.openHTTP(t)
		if err != nil {
			return nil, fmt.Errorf("%s over %s: %w", peer, t.name, err)
		}
		return s, nil
	}
	s.client, err = openStdio(in, lines, call(peer, t))
	if err != nil {
		return nil, fmt.Errorf("%s over %s: %w", peer, t.name, err)
	}
	return s, nil
}

// stop ends a server.
func (s *process) stop() error {
	s.in.Close()
	if c, ok := s.client.(*httpClient); ok {
		if err := c.close(); err != nil {
			return err
		}
	}
	if err := s.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = s.command.Wait() // it was killed
	return nil
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	sessionless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}},`
)

// tool returns the tool of a peer.
func tool(peer string) string {
	if peer == ours {
		return "mcp_aql_create"
	}
	return "create_todo"
}

// call returns the message of a call of 1 KB.
func call(peer string, t transport) string {
	arguments := wire.MediumRequest
	if peer == ours {
		arguments = `{"operation":"create_todo","params":` + arguments + `}`
	}
	meta := ""
	if t.sessionless {
		meta = sessionless
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":"%s","arguments":%s}}`,
		firstID, meta, tool(peer), arguments)
}

func openStdio(in io.Writer, out *bufio.Reader, call string) (client, error) {
	if _, err := io.WriteString(in, initialize+"\n"); err != nil {
		return nil, err
	}
	if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, "serverInfo") {
		return nil, fmt.Errorf("the answer to initialize: %s %w", line, err)
	}
	if _, err := io.WriteString(in, initialized+"\n"); err != nil {
		return nil, err
	}
	return &stdioClient{in, out, newCalls("", call, "\n")}, nil
}

// post returns the head of a request over HTTP.
func post(length int, headers ...string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n%s\r\n", length, strings.Join(headers, ""))
}

// openHTTP begins a session, where the transport has them.
func (s *process) openHTTP(t transport) (client, error) {
	message := call(s.peer, t)
	headers := []string{"Mcp-Protocol-Version: 2026-07-28\r\n", "Mcp-Method: tools/call\r\n",
		"Mcp-Name: " + tool(s.peer) + "\r\n"}
	if !t.sessionless {
		session := ""
		if s.peer != bare {
			var err error
			if session, err = s.session(); err != nil {
				return nil, err
			}
		}
		headers = []string{"Mcp-Protocol-Version: 2025-11-25\r\n", "Mcp-Session-Id: " + session + "\r\n"}
	}
	head := post(len(message), headers...)
	return &httpClient{address: s.address, calls: func() *calls { return newCalls(head, message, "") }}, nil
}

// session begins a session over HTTP.
func (s *process) session() (string, error) {
	conn, err := dial(s.address)
	if err != nil {
		return "", err
	}
	defer conn.Close() //nolint:errcheck // all is read
	if _, err := io.WriteString(conn, post(len(initialize))+initialize); err != nil {
		return "", err
	}
	session, err := conn.answer()
	if err != nil || session == "" {
		return "", fmt.Errorf("the session %q: %w", session, err)
	}
	head := post(len(initialized), "Mcp-Protocol-Version: 2025-11-25\r\n", "Mcp-Session-Id: "+session+"\r\n")
	return session, conn.exchange([]byte(head + initialized))
}
