package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/internal/gate"
)

// Session is one connection to an adapter (MCP-AQL core §2.3). It is safe for concurrent use.
type Session struct {
	adapter *Adapter
	gate    *gate.Session
	open    context.Context // ends with the session, where the adapter has executions
	end     context.CancelFunc
}

// NewSession begins the session of a connection. A question that a human is asked in it can be answered only in it.
func (a *Adapter) NewSession() *Session {
	return a.newSession(a.view.Load().gate.NewSession())
}

// NewCallerSession begins the session of a caller over a protocol without sessions, whose requests may reach any
// replica. A question that a human is asked in it can be answered in every such session of the caller, in all adapters
// that share Options.State: who has the caller's credentials, and what Session.Seal returned, can answer it.
func (a *Adapter) NewCallerSession() *Session {
	return a.newSession(a.view.Load().gate.NewCallerSession())
}

func (a *Adapter) newSession(of *gate.Session) *Session {
	s := &Session{adapter: a, gate: of}
	if a.executing != nil {
		s.open, s.end = context.WithCancel(context.Background())
	}
	return s
}

// ID returns a random identifier of the session, for logs. It proves nothing about the caller.
func (s *Session) ID() string { return s.gate.ID }

// Close ends the session. The confirmation tokens that only this session can use become unknown, and
// its executions that are not durable are cancelled (MCP-AQL core §2.3.3).
func (s *Session) Close() {
	s.gate.Close()
	if s.end != nil {
		s.end()
	}
}

// Call answers one request that arrived through the MCP tool of this name. It never fails and never panics: for all
// bytes the reply is a complete response, and the handler runs only after every check has passed. The request must not
// change until Call returns. Nothing that the handler received points into it.
//
// A handler with a deadline, its operation's or that of ctx, runs in a goroutine of its own, so that Call returns
// although it does not. The handlers of a batch have a goroutine together. Any other one runs in the goroutine of Call:
// if it ends that with runtime.Goexit, Call does not return.
func (s *Session) Call(ctx context.Context, tool string, request []byte) (reply Reply) {
	cancelled := s.adapter.inFlight.enter(ctx, len(request))
	if cancelled == nil {
		defer s.adapter.inFlight.leave(len(request))
	}
	x := s.newExchange(ctx, tool)
	defer x.release()
	defer s.rescue(ctx, x, tool, &reply)
	if cancelled != nil {
		return x.fail(internal(requestCancelled))
	}
	if s.adapter.options.Sanitize != SanitizeNone {
		return x.sanitized(x.reply(ctx, request))
	}
	return x.reply(ctx, request)
}
