package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/aqltag/aqltag/runtime/mcpserver/internal/front"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RunStdio serves one client over a pair of streams, such as standard input and output, until the input or ctx ends.
// Requests from before the end of the input are answered if their calls end, and the client reads, within
// Options.DrainTimeout; after it RunStdio returns, with an error if calls still run. Nothing but MCP is written to out.
// A line that is not a JSON-RPC message is answered with an error, and the session goes on; the SDK would end it.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.err != nil {
		return s.err
	}
	calls := &streamCalls{Server: s, direct: newDirect(s), ctx: ctx}
	conn := front.New(ctx, in, out, calls, front.Options{
		MaxLineBytes: s.options.MaxLineBytes, DrainTimeout: s.options.DrainTimeout,
	})
	session, err := s.mcp.Connect(ctx, conn, nil)
	if err != nil {
		return err
	}
	calls.session.Store(session)
	stop := context.AfterFunc(ctx, func() {
		conn.Drain()
		_ = session.Close() // Wait tells how it ended
	})
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-conn.Expired(): // a call of the SDK does not end, or the client does not read
	}
	stop()
	conn.Finish()
	select {
	case <-conn.Expired():
		if running := s.inFlight.taken.Load(); running > 0 {
			return fmt.Errorf("%d calls did not end in time, and were cut off after %s", running, s.options.DrainTimeout)
		}
		return nil
	default:
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = nil // the session ended as it should
	}
	return err
}

// streamCalls answers the calls of one connection over streams. The caller is the owner of the process.
type streamCalls struct {
	*Server
	direct  *direct
	ctx     context.Context // of the connection
	session atomic.Pointer[mcp.ServerSession]
	clients clients
}

// Accepts reports whether a message is answered here. The SDK has to see the first request of a connection: it says
// which protocol the client speaks.
func (c *streamCalls) Accepts(m *rpc.Message) bool {
	session := c.session.Load()
	return c.direct.knows(m) && session != nil && c.client(session, m) != nil &&
		c.direct.sees(c.ctx, c.sessions.owner, m.Call.Name)
}

// client returns the client of a call; nil: the SDK has to answer the call, because its session has not begun, or is of
// another era of the protocol than the call.
func (c *streamCalls) client(session *mcp.ServerSession, m *rpc.Message) *client {
	initialized := session.InitializeParams()
	if initialized == nil {
		return nil
	}
	caller := clientOf(initialized)
	switch known := c.clients.of(&m.Call.Meta); {
	case known == nil:
		return nil
	case known.sessionless:
		caller = known
	}
	if caller.sessionless != (initialized.ProtocolVersion >= sessionless) {
		return nil
	}
	return caller
}

// Enter begins a call.
func (c *streamCalls) Enter() error { return c.enter("") }

// Leave ends a call.
func (c *streamCalls) Leave() { c.leave("") }

// Answer answers a call.
func (c *streamCalls) Answer(ctx context.Context, m *rpc.Message, buf []byte) ([]byte, *mcp.RequestExtra) {
	session := c.sessions.ofConnection(c.session.Load())
	ctx = c.pausing(aql.WithCaller(ctx, c.sessions.owner), "")
	if token := tokenOf(&m.Call); token != nil {
		progress := c.notify(ctx, c.session.Load(), token)
		defer progress.end()
		ctx = aql.WithProgress(ctx, progress.report)
	}
	client := c.client(c.session.Load(), m)
	if c.adapter.Observed() {
		version := client.version
		if begun := c.session.Load().InitializeParams(); version == "" && begun != nil {
			version = begun.ProtocolVersion
		}
		ctx = within(ctx, "pipe", version, m)
	}
	response, asks, err := c.direct.answer(ctx, session, m, client, buf)
	switch {
	case err != nil:
		return appendError(buf, m.ID, err), nil
	case asks != nil:
		return buf, withReply(asks)
	}
	return response, nil
}
