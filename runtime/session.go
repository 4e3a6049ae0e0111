package aql

import (
	"context"
	"sync"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Reply is the answer to one request. JSON is a complete MCP-AQL response, which callers must not change; IsError is what
// MCP's isError flag must say about it (requirements T-34). Question is set where the answer asks for confirmation: a
// transport that can ask a human may do that instead of passing the answer on.
type Reply struct {
	JSON     []byte
	IsError  bool
	Question *Question
}

// Session is one connection to an adapter (MCP-AQL core §2.3). What it holds, such as confirmation tokens, is gone when
// it is closed. It is safe for concurrent use.
type Session struct {
	adapter *Adapter
	gate    *gate.Session
}

// NewSession begins a session.
func (a *Adapter) NewSession() *Session {
	return &Session{adapter: a, gate: a.view.Load().gate.NewSession()}
}

// ID is a random identifier of the session. It labels logs; it proves nothing about the caller.
func (s *Session) ID() string { return s.gate.ID }

// RevokeTokens makes all confirmation and continuation tokens of a caller unknown, as after a logout or when something is
// wrong; nil: those of everybody. It returns how many could still have been used (confirmation tokens §5.3).
func (a *Adapter) RevokeTokens(ctx context.Context, caller *Caller) (int, error) {
	return a.view.Load().gate.Revoke(ctx, caller)
}

// Close ends the session: its confirmation tokens are forgotten (requirements REQ-SE-02).
func (s *Session) Close() { s.gate.Close() }

// RevokeToken makes a confirmation token unknown before its time, as when its caller logs out, and puts the reason on record
// (confirmation tokens §5.3, requirements REQ-CT-15, T-61). It reports whether there was one that could still be used.
func (a *Adapter) RevokeToken(ctx context.Context, token, reason string) (bool, error) {
	return a.view.Load().gate.RevokeToken(ctx, token, reason)
}

// Call answers one request that came in through the MCP tool of this name. It never fails and never panics: whatever the
// bytes are, the reply is a complete response, and the handler runs only when every check has passed. The request must not
// change until Call returns; nothing that the handler received points into it.
func (s *Session) Call(ctx context.Context, tool string, request []byte) Reply {
	waiting := s.adapter.admission.enter(ctx, len(request))
	if waiting == nil {
		defer s.adapter.admission.leave(len(request))
	}
	x := exchanges.Get().(*exchange)
	defer x.release()
	x.session, x.adapter, x.tool, x.view = s, s.adapter, tool, s.adapter.view.Load()
	if waiting != nil {
		return x.fail(internal("request was cancelled"))
	}
	reply, failed := x.answer(ctx, request)
	if failed != nil {
		reply = x.fail(failed)
		reply.Question = x.question
	}
	return reply
}

// exchange is one request on its way through the adapter. Exchanges are pooled: nothing of one may outlive the call but
// what it copied out.
type exchange struct {
	session  *Session
	adapter  *Adapter
	view     *view
	tool     string
	size     int // of the request, in bytes
	reader   wire.Reader
	again    wire.Reader // for what has to be read a second time
	writer   wire.Writer
	buffer   []byte // of the writer
	notices  notices
	envelope envelope
	asked
	slots    slots
	room     *slots         // of the item of a batch that is being read
	batch    *batch         // nil: a single operation
	searched int            // how many names of operations were looked for in vain
	problems []wire.Problem // with the parameters of the operation that is being read
	unknown  []string       // names that are no parameter of it
	gating   gate.Request
	pass     gate.Pass
	question *Question
}

// asked is an operation that a request asks for, with what it brings.
type asked struct {
	operation *operation
	elsewhere *operation // where operation is nil: one of another endpoint family
	call      call
	presented presented
	values    []paramValue // kept for operations that ask for confirmation
}

// slots has room for the calls of a request with one operation, which so need no memory of their own.
type slots struct {
	handled    handled
	introspect introspectCall
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (x *exchange) release() {
	x.reader.Reset("", wire.Limits{})
	x.again.Reset("", wire.Limits{})
	x.writer.Reset(nil)
	clear(x.problems[:cap(x.problems)])
	clear(x.unknown[:cap(x.unknown)])
	clear(x.values[:cap(x.values)])
	x.session, x.adapter, x.tool, x.envelope, x.slots, x.room, x.batch = nil, nil, "", envelope{}, slots{}, nil, nil
	x.searched, x.size, x.view, x.question = 0, 0, nil, nil
	x.gating, x.pass = gate.Request{}, gate.Pass{}
	x.asked, x.notices = asked{values: x.values[:0]}, notices{}
	x.problems, x.unknown = x.problems[:0], x.unknown[:0]
	exchanges.Put(x)
}

// answer takes a request through the stages of requirements §0, each of which ends it on failure.
func (x *exchange) answer(ctx context.Context, request []byte) (Reply, *Error) {
	if limit := x.adapter.options.Limits.RequestSize; len(request) > limit {
		return Reply{}, tooLarge("request_size", limit, len(request), "bytes")
	}
	x.size = len(request)
	if failed := x.read(request); failed != nil {
		if x.batch == nil {
			x.rejected(ctx, failed)
		}
		return Reply{}, failed
	}
	if x.batch != nil {
		return x.runBatch(ctx)
	}
	if own, ok := x.call.(builtInCall); ok {
		return own.reply(ctx, x)
	}
	if failed := x.admit(ctx); failed != nil {
		return Reply{}, failed
	}
	w := x.newWriter()
	if failed := x.run(ctx, w); failed != nil {
		return Reply{}, failed
	}
	return x.reply(w), nil
}
