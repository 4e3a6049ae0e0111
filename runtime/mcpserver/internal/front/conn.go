// Package front has the connection of the MCP SDK that answers calls of tools itself, without the SDK, and leaves every
// other message to it.
package front

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Calls answers calls of tools.
type Calls interface {
	// Accepts reports whether a message is a call that Answer answers. It is asked before the next message is read.
	Accepts(m *rpc.Message) bool
	// Enter begins a call that was accepted. Its error refuses the call; otherwise Leave ends it.
	Enter() error
	Leave()
	// Answer appends the response to a call to buf, without the end of the line. Where it returns a RequestExtra instead,
	// the SDK gets the call with that.
	Answer(ctx context.Context, m *rpc.Message, buf []byte) ([]byte, *mcp.RequestExtra)
}

// Options bound a connection.
type Options struct {
	MaxLineBytes int
	DrainTimeout time.Duration // how long everything may take after the end of the input: see Conn.Drain
}

// Conn is a connection over a pair of streams, on which a message is a line. It is an mcp.Transport for one session.
type Conn struct {
	calls    Calls
	options  Options
	lines    *lines
	out      *output
	requests Requests
	open     count
	incoming chan jsonrpc.Message // for the SDK
	jobs     chan *job
	idle     atomic.Int32 // workers that wait for a job
	base     context.Context
	cancel   context.CancelFunc
	closed   chan struct{}
	once     sync.Once
	draining sync.Once
	expired  chan struct{} // closed when the time to drain is over
	readErr  error         // set before ended is closed
	ended    chan struct{}
}

// New returns a connection. Its calls have the values of ctx, and do not end with it.
func New(ctx context.Context, in io.Reader, out io.Writer, calls Calls, options Options) *Conn {
	c := &Conn{
		calls: calls, options: options, lines: newLines(in, options.MaxLineBytes), out: newOutput(out),
		incoming: make(chan jsonrpc.Message), jobs: make(chan *job),
		closed: make(chan struct{}), ended: make(chan struct{}), expired: make(chan struct{}),
	}
	c.base, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

// Connect begins to read.
func (c *Conn) Connect(ctx context.Context) (mcp.Connection, error) {
	go c.read(ctx)
	return c, nil
}

// SessionID is empty: streams have no sessions besides themselves.
func (c *Conn) SessionID() string { return "" }

// Close ends the reading. The streams belong to the process, and calls that run go on until Finish.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Drain begins the time that the requests that run have to end, and their client has to read the responses. It begins
// with the end of the input, or at the latest with Finish. After it, calls are cancelled, and nothing is written.
func (c *Conn) Drain() {
	c.draining.Do(func() {
		time.AfterFunc(c.options.DrainTimeout, func() {
			close(c.expired)
			c.cancel()
			c.out.fail(errNotRead)
		})
	})
}

// Expired returns a channel that is closed when the time that Drain began is over.
func (c *Conn) Expired() <-chan struct{} { return c.expired }

var errNotRead = errors.New("the client does not read what is written")

// Finish waits, after the end of the SDK's session, until the calls that run are answered and the responses written, or
// the time to drain is over. Nothing is written later.
func (c *Conn) Finish() {
	c.Close() //nolint:errcheck // it has none
	c.Drain()
	c.open.add(-c.requests.forget())
	c.open.wait(context.Background(), c.expired)
	c.out.flush()
	c.cancel()
	c.out.fail(io.ErrClosedPipe)
}

// read reads lines until the input ends, or the connection is closed.
func (c *Conn) read(ctx context.Context) {
	defer close(c.ended)
	var parser rpc.Parser
	for {
		j := jobs.Get().(*job)
		line, tooLong, err := c.lines.next(j.text[:0])
		if err != nil {
			c.Drain()
			c.open.wait(ctx, c.expired)
			c.readErr = err
			return
		}
		if ctx.Err() != nil || c.isClosed() { // while it waited for the line
			c.readErr = io.EOF
			return
		}
		j.text = line
		fault := rpc.TooLong(c.options.MaxLineBytes)
		if !tooLong {
			fault = parser.Parse(line, &j.message)
		}
		if fault != nil {
			err = c.respond(fault.Response())
		} else {
			err = c.accept(j)
		}
		if err != nil {
			c.readErr = err
			return
		}
	}
}

func (c *Conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// respond writes a response of the reader.
func (c *Conn) respond(response []byte) error { return c.out.post(append(response, '\n'), c.readAhead) }

// readAhead lets the end of the input be seen while the reader waits for the client to read.
func (c *Conn) readAhead() (end func()) { return c.lines.ahead.begin(c.Drain) }

// accept answers a message, or passes it on. Its error ends the connection.
func (c *Conn) accept(j *job) error {
	m := &j.message
	responds := m.IsRequest() && m.Key != ""
	if responds {
		if err := c.out.wait(c.readAhead); err != nil { // requests of a client that does not read would pile up
			return err
		}
	}
	if responds && c.calls.Accepts(m) {
		return c.begin(j)
	}
	defer j.release()
	c.requests.Cancel(m)
	if responds {
		// A subscription has no response before its client or the connection ends it.
		r := request{endless: m.Method == "subscriptions/listen"}
		if err := c.track(strings.Clone(m.Key), r); err != nil {
			return c.notBegun(err)
		}
	}
	message, fault := forSDK(m, nil)
	switch {
	case fault != nil:
		return c.respond(fault.Response())
	case message != nil:
		c.pass(message)
	}
	return nil
}

// track adds a request, and the response that is waited for.
func (c *Conn) track(key string, r request) error {
	if r.endless {
		return c.requests.begin(key, r)
	}
	c.open.add(1) // before it begins: Finish waits for what began before
	err := c.requests.begin(key, r)
	if err != nil {
		c.open.add(-1)
	}
	return err
}

// notBegun answers a request that track did not add. Its error ends the connection.
func (c *Conn) notBegun(err error) error {
	if errors.Is(err, errInUse) {
		return c.respond(inUse.Response())
	}
	return err
}

// inUse is the answer to a request with the id of another one. It has no id, since it would be taken for the answer to
// that one.
var inUse = rpc.Fault{
	Code: rpc.InvalidRequest, Message: "the request has the id of another one, which is not answered yet",
}

// pass passes a message to the SDK.
func (c *Conn) pass(message jsonrpc.Message) {
	select {
	case c.incoming <- message:
	case <-c.closed:
	}
}

// Read returns the next message for the SDK.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message := <-c.incoming:
		return message, nil
	case <-c.ended:
		return nil, c.readErr
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write writes a message of the SDK.
func (c *Conn) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	response, isResponse := message.(*jsonrpc.Response)
	if isResponse && response.Error != nil {
		message = &jsonrpc.Response{ID: response.ID, Error: Plain(response.Error), Extra: response.Extra}
	}
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if isResponse && c.requests.endOfSDK(keyOf(response.ID)) {
		defer c.open.add(-1)
	}
	return c.out.write(append(line, '\n'))
}

// keyOf returns the key of an id of the SDK, and the empty string for the id of a notification.
func keyOf(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case string:
		return `"` + v + `"`
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		return ""
	}
}

// forSDK returns a message as the SDK has it; nil: it is for nobody.
func forSDK(m *rpc.Message, extra *mcp.RequestExtra) (jsonrpc.Message, *rpc.Fault) {
	id, _ := jsonrpc.MakeID(m.SDKID()) //nolint:errcheck // it is an id
	if m.IsRequest() {
		method := string([]rune(m.Method)) // in UTF-8
		request := &jsonrpc.Request{ID: id, Method: method, Params: raw(m.Params)}
		if extra != nil {
			request.Extra = extra
		}
		return request, nil
	}
	if !id.IsValid() { // a client that could not read a message cannot say which
		return nil, nil
	}
	response := &jsonrpc.Response{ID: id, Result: raw(m.Result)}
	if m.Error != "" {
		reported := new(jsonrpc.Error)
		if err := json.Unmarshal([]byte(m.Error), reported); err != nil {
			return nil, &rpc.Fault{Code: rpc.InvalidRequest, ID: m.ID, Message: "member 'error' is not an error of JSON-RPC"}
		}
		response.Error = reported
	}
	return response, nil
}

// raw returns a text in memory of its own.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
