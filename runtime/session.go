package aql

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/gate"
	"github.com/aqltag/aqltag/runtime/wire"
)

// Reply is the answer to one request. JSON is a complete MCP-AQL response, which callers must not change; IsError is what
// MCP's isError flag must say about it (requirements T-34).
type Reply struct {
	JSON    []byte
	IsError bool
}

// Session is one connection to an adapter (MCP-AQL core §2.3). What it holds, such as confirmation tokens, is gone when
// it is closed. It is safe for concurrent use.
type Session struct {
	adapter *Adapter
	id      string
	tokens  gate.Tokens
	now     func() time.Time
}

// NewSession begins a session.
func (a *Adapter) NewSession() *Session {
	return &Session{adapter: a, id: "sess_" + rand.Text(), now: time.Now}
}

// ID is a random identifier of the session. It labels logs; it proves nothing about the caller.
func (s *Session) ID() string { return s.id }

// Close ends the session: its confirmation tokens are forgotten (requirements REQ-SE-02).
func (s *Session) Close() { s.tokens.Close() }

// Call answers one request that came in through the MCP tool of this name. It never fails and never panics: whatever the
// bytes are, the reply is a complete response, and the handler runs only when every check has passed.
func (s *Session) Call(ctx context.Context, tool string, request []byte) Reply {
	x := exchanges.Get().(*exchange)
	defer x.release()
	x.session, x.adapter, x.tool = s, s.adapter, tool
	reply, failed := x.answer(ctx, request)
	if failed != nil {
		return x.fail(failed)
	}
	return reply
}

// exchange is one request on its way through the adapter. Exchanges are pooled: nothing of one may outlive the call but
// what it copied out.
type exchange struct {
	session   *Session
	adapter   *Adapter
	tool      string
	reader    wire.Reader
	envelope  envelope
	operation *operation
	presented presented
	problems  []wire.Problem
	given     []string // parameters met so far, kept where one can be met twice: beside params, or under an alias
	inside    int      // how many of given stand inside params
	twice     string   // a parameter that was given under two names
	unknown   []string // names that are no parameter of the operation
	values    []paramValue
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (x *exchange) release() {
	reader, problems, given, unknown, values := x.reader, x.problems[:0], x.given[:0], x.unknown[:0], x.values[:0]
	clear(problems[:cap(problems)])
	clear(given[:cap(given)])
	clear(unknown[:cap(unknown)])
	clear(values[:cap(values)])
	reader.Reset("", wire.Limits{})
	*x = exchange{reader: reader, problems: problems, given: given, unknown: unknown, values: values}
	exchanges.Put(x)
}

// answer takes a request through the stages of requirements §0, each of which ends it on failure.
func (x *exchange) answer(ctx context.Context, request []byte) (Reply, *Error) {
	limits := x.adapter.options.Limits
	if len(request) > limits.RequestSize {
		return Reply{}, tooLarge("request_size", limits.RequestSize, len(request), "bytes")
	}
	data := string(request)
	if failed := x.readEnvelope(data); failed != nil {
		return Reply{}, failed
	}
	if failed := x.route(); failed != nil {
		return Reply{}, failed
	}
	call := x.operation.newCall()
	if failed := x.readParams(data, call); failed != nil {
		return Reply{}, failed
	}
	if introspection, ok := call.(*introspectCall); ok {
		return introspection.reply()
	}
	if failed := x.confirm(ctx); failed != nil {
		return Reply{}, failed
	}
	return x.run(ctx, call)
}
