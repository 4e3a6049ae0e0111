package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/internal/gate"
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

// Close ends the session: its confirmation tokens are forgotten (requirements REQ-SE-02).
func (s *Session) Close() { s.gate.Close() }

// Call answers one request that came in through the MCP tool of this name. It never fails and never panics: whatever the
// bytes are, the reply is a complete response, and the handler runs only when every check has passed. The request must not
// change until Call returns; nothing that the handler received points into it.
func (s *Session) Call(ctx context.Context, tool string, request []byte) Reply {
	cancelled := s.adapter.inFlight.enter(ctx, len(request))
	if cancelled == nil {
		defer s.adapter.inFlight.leave(len(request))
	}
	x := s.newExchange(tool)
	defer x.release()
	if cancelled != nil {
		return x.fail(internal("request was cancelled"))
	}
	return x.reply(ctx, request)
}
