package aql

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/observe"
)

// Session is one connection to an adapter (MCP-AQL core §2.3). It is safe for concurrent use.
type Session struct {
	adapter *Adapter
	gate    *gate.Session
	open    context.Context // ends with the session, where the adapter has executions
	end     context.CancelFunc
	began   time.Time // of a connection whose end hooks are told
	ended   atomic.Bool
}

// NewSession begins the session of a connection. A question that a human is asked in it can be answered only in it.
func (a *Adapter) NewSession() *Session {
	s := a.newSession(a.view.Load().gate.NewSession())
	if a.observer != nil {
		s.began = time.Now()
	}
	return s
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
	if o := s.adapter.observer; o != nil && !s.began.IsZero() && s.ended.CompareAndSwap(false, true) {
		o.Session(context.Background(), observe.Session{
			Adapter: s.adapter.options.Name, ID: s.ID(), Took: time.Since(s.began),
		})
	}
}

// Call answers one request that arrived through the MCP tool of this name. It never fails and never panics: for all
// bytes the reply is a complete response, and the handler runs only after every check has passed. The request must not
// change until Call returns. Nothing that the handler received points into it.
//
// A handler with a deadline, its operation's or that of ctx, runs in a goroutine of its own, so that Call returns
// although it does not. The handlers of a batch have a goroutine together. Any other one runs in the goroutine of Call:
// if it ends that with runtime.Goexit, Call does not return.
func (s *Session) Call(ctx context.Context, tool string, request []byte) Reply {
	if s.adapter.observer != nil {
		return s.observed(ctx, tool, request)
	}
	return s.answer(ctx, tool, request)
}

// answer is Call without its hook.
func (s *Session) answer(ctx context.Context, tool string, request []byte) (reply Reply) {
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
