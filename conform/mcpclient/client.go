// Package mcpclient calls the tools of a live MCP server for package conform: of a command, over standard input and
// output, or of a URL, over streamable HTTP.
//
//	client, err := mcpclient.URL(ctx, "https://localhost:8443/mcp", mcpclient.Options{Bearer: token})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	report, err := conform.Run(ctx, client, conform.Options{})
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/conform"
)

// Options configure a connection. The zero value is ready for use.
type Options struct {
	// Name is the name of this client in the MCP handshake; default "aql-tag conform".
	Name string
	// Dir is the working directory of a command; empty: that of this process.
	Dir string
	// Env holds entries NAME=value that a command gets in addition to the environment of this process.
	Env []string
	// Stderr receives what a command writes to standard error; nil: it is discarded.
	Stderr io.Writer
	// Bearer is the bearer token for a URL; empty: none is sent. Where the server repeats a token of 8 bytes or more, the
	// client gives [bearer token] in its place.
	Bearer string
	// Timeout is the longest wait for the connection; default 10 seconds.
	Timeout time.Duration
	// Approve, if not nil, has a person answer a question of the server with yes or no (MCP elicitation, by a form that
	// has one boolean). Other forms are declined. An error of Approve is answered as an error.
	Approve func(ctx context.Context, question string) (bool, error)
	// Type, if not nil, has a person answer a question by typing a text, where a form has one text. title is what the form
	// calls it. The form is declined without a text. An error of Type is answered as an error.
	Type func(ctx context.Context, question, title string) (string, error)
	// MaxAnswerBytes is the greatest length of one message of the server; default 16 MiB.
	MaxAnswerBytes int
}

// Client is a connection to a server. It implements conform.Server. It is safe for concurrent use.
type Client struct {
	session *mcp.ClientSession
	guard   *guard
	http    *bounded // nil: a command
	hides   hidden
	end     func() error
}

var _ conform.Redirector = (*Client)(nil)
var _ conform.Server = (*Client)(nil)

// Command starts a command and connects to it. It fails if the command cannot be started or does not complete the MCP
// handshake in time. The caller must close the client, which ends the command as MCP says: it closes the standard
// input, sends SIGTERM after 2 seconds, and kills it after another 2. Where there are process groups, what the command
// started ends with it.
func Command(ctx context.Context, command []string, options Options) (*Client, error) {
	if len(command) == 0 {
		return nil, errors.New("no command to start")
	}
	options = options.withDefaults()
	process := exec.Command(command[0], command[1:]...)
	process.Dir, process.Stderr = options.Dir, options.Stderr
	process.Env = append(os.Environ(), options.Env...)
	process.WaitDelay = time.Second
	ownGroup(process)
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", command[0], err)
	}
	g := &guard{reader: stdout, limit: options.MaxAnswerBytes}
	end := func() error {
		stdin.Close() // the process may be gone already
		exited := make(chan error, 1)
		go func() { exited <- process.Wait() }()
		defer endGroup(process, true) // what it started, and left behind
		select {
		case err := <-exited:
			return err
		case <-time.After(2 * time.Second):
			endGroup(process, false)
		}
		select {
		case err := <-exited:
			return err
		case <-time.After(2 * time.Second):
			endGroup(process, true)
			return <-exited
		}
	}
	transport := &mcp.IOTransport{Reader: g, Writer: stdin, MaxLineLength: -1} // the guard bounds lines, and says so
	c, err := connect(ctx, transport, options, g)
	if err != nil {
		end() //nolint:errcheck // why the connection failed is the better error
		return nil, fmt.Errorf("connecting to %s: %w", command[0], err)
	}
	c.end = end
	return c, nil
}

// URL connects to a server's MCP endpoint. It fails if the server does not complete the MCP handshake in time. The
// caller must close the client.
//
// Nothing is sent to another origin, neither requests nor the bearer token: a redirect to one is an error, also where
// only the scheme or the port differs. Redirects within the origin are followed, and Redirects tells of them.
func URL(ctx context.Context, url string, options Options) (*Client, error) {
	options = options.withDefaults()
	hides := hiddenFor(url, options.Bearer)
	transmit, err := newBounded(url, options)
	if err != nil {
		return nil, hides.in(err)
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: options.MaxAnswerBytes,
		HTTPClient: &http.Client{Transport: transmit, CheckRedirect: transmit.checkRedirect},
	}
	c, err := connect(ctx, transport, options, nil)
	if err != nil {
		if refused := transmit.refusal(); refused != nil {
			err = refused
		}
		return nil, hides.in(fmt.Errorf("connecting to %s: %w", url, err))
	}
	c.http, c.hides = transmit, hides
	return c, nil
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "aql-tag conform"
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.MaxAnswerBytes == 0 {
		o.MaxAnswerBytes = 16 << 20
	}
	return o
}

func connect(ctx context.Context, transport mcp.Transport, options Options, g *guard) (*Client, error) {
	timeout := fmt.Errorf("the server did not answer within %v", options.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, options.Timeout, timeout)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: options.Name, Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, ElicitationHandler: options.elicit()})
	session, err := await(ctx, func() (*mcp.ClientSession, error) { return client.Connect(ctx, transport, nil) })
	if err != nil {
		return nil, g.explain(ctx, err)
	}
	return &Client{session: session, guard: g}, nil
}

// await returns what do returns, or the error of the context when it ends before. The SDK waits for a server that does
// not read, whatever the context; then do goes on until the connection is closed.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Implementation returns the name and version that the server reports in the MCP handshake; empty: it reports none.
func (c *Client) Implementation() (name, version string) {
	if r := c.session.InitializeResult(); r != nil && r.ServerInfo != nil {
		return c.hides.text(r.ServerInfo.Name), c.hides.text(r.ServerInfo.Version)
	}
	return "", ""
}

// Close ends the connection, and the command if there is one.
func (c *Client) Close() error {
	closed := make(chan error, 1)
	go func() { closed <- c.session.Close() }()
	var err error
	select {
	case err = <-closed:
	case <-time.After(2 * time.Second): // the server does not read
	}
	if c.end != nil {
		c.end() //nolint:errcheck // the exit code of the command does not matter
	}
	return err
}

// Tools implements conform.Server. It waits at most 10 seconds.
func (c *Client) Tools(ctx context.Context) ([]conform.Tool, error) {
	timeout := errors.New("the server did not list its tools within 10s")
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, timeout)
	defer cancel()
	all, err := await(ctx, func() ([]conform.Tool, error) { return c.tools(ctx) })
	if err != nil {
		return nil, c.hides.in(c.guard.explain(ctx, err))
	}
	return all, nil
}

func (c *Client) tools(ctx context.Context) ([]conform.Tool, error) {
	var all []conform.Tool
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		t := conform.Tool{Name: c.hides.text(tool.Name), Description: c.hides.text(tool.Description)}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("reading the input schema of tool %s: %w", tool.Name, err)
		}
		t.InputSchema = json.RawMessage(c.hides.text(string(schema)))
		if a := tool.Annotations; a != nil {
			t.ReadOnly, t.Destructive = &a.ReadOnlyHint, a.DestructiveHint
		}
		all = append(all, t)
		if len(all) > 10_000 {
			return nil, errors.New("the server lists more than 10,000 tools")
		}
	}
	return all, nil
}

// Call implements conform.Server. A JSON-RPC error, and a result that does not have exactly one text content, is a
// Reply with a Fault.
func (c *Client) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	reply, err := c.call(ctx, tool, arguments)
	reply.Text, reply.Fault = c.hides.text(reply.Text), c.hides.text(reply.Fault)
	return reply, c.hides.in(err)
}

func (c *Client) call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	result, err := await(ctx, func() (*mcp.CallToolResult, error) {
		return c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	})
	if err != nil {
		var answered *jsonrpc.Error
		if errors.As(err, &answered) && !errors.Is(err, mcp.ErrConnectionClosed) {
			return conform.Reply{Fault: fmt.Sprintf("JSON-RPC error %d: %s", answered.Code, answered.Message)}, nil
		}
		if c.http != nil && c.http.refusal() != nil {
			err = c.http.refusal()
		}
		return conform.Reply{}, c.guard.explain(ctx, err)
	}
	reply := conform.Reply{IsError: result.IsError}
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			reply.Text += text.Text
		} else {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", content), "*mcp.")
			reply.Fault = fmt.Sprintf("the result holds content of another kind than text (%s)", kind)
		}
	}
	if n := len(result.Content); n != 1 {
		reply.Fault = fmt.Sprintf("the result holds %d contents, not one", n)
	}
	if structured, err := json.Marshal(result.StructuredContent); reply.Text == "" && result.StructuredContent != nil {
		reply.Text, reply.Fault = string(structured), "the result holds structured content, and no text"
		if err != nil {
			return conform.Reply{}, fmt.Errorf("reading structured content: %w", err)
		}
	}
	return reply, nil
}

// guard reads the standard output of a command and fails on anything but MCP messages.
type guard struct {
	reader io.ReadCloser
	limit  int
	length int // of the current line so far
	fault  atomic.Pointer[error]
}

// Read fails if a line does not begin like a JSON message, or is too long.
func (g *guard) Read(into []byte) (int, error) {
	n, err := g.reader.Read(into)
	for i, b := range into[:n] {
		switch {
		case b == '\n':
			g.length = 0
			continue
		case g.length == 0 && b != '{' && b != '[' && b != ' ' && b != '\r':
			return 0, g.fail(fmt.Errorf(
				"the server wrote to standard output what is not MCP: %.80q; logs belong on standard error", into[i:n]))
		}
		if g.length++; g.length > g.limit {
			return 0, g.fail(fmt.Errorf("the server wrote a message of more than %d bytes", g.limit))
		}
	}
	return n, err
}

// fail records the fault for explain.
func (g *guard) fail(err error) error {
	g.fault.Store(&err)
	return err
}

// Close closes the standard output.
func (g *guard) Close() error { return g.reader.Close() }

// explain returns the cause of an error if it is known: a fault in the standard output, the cause of the context, or a
// connection that failed. The guard may be nil.
func (g *guard) explain(ctx context.Context, err error) error {
	if g != nil {
		if fault := g.fault.Load(); fault != nil {
			return *fault
		}
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return cause
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		return fmt.Errorf("the server cannot be reached: %w", err)
	}
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the server ended the connection: %w", err)
	}
	return err
}
