package mcpserver

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/aqltag/aqltag/runtime/mcpserver/internal/front"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// webSession is a session over HTTP.
type webSession struct {
	connection *mcp.ServerSession
	owner      string         // who began it; nobody else may use it; empty: it is not known
	client     *client        // what it said of itself; nil: its calls are the SDK's
	requests   front.Requests // that are not answered yet
	peer       string         // who began it, for the bounds of each caller
	streams    atomic.Int32   // event streams that are open

	mu      sync.Mutex
	used    bool // it had a request, or will: its client has said that it is initialized
	ended   bool // it takes no more requests
	running int  // requests
	reading int  // of these, whose bodies have not come yet
	calls   map[*http.Request]context.CancelFunc
	last    time.Time
	idle    time.Duration // after which the session ends
	timer   *time.Timer   // nil: the session never ends for being idle
	forget  func()        // takes it out of the sessions that are known
}

// newWebSession returns a session that has begun.
func newWebSession(connection *mcp.ServerSession, owner string, idle time.Duration, forget func()) *webSession {
	s := &webSession{connection: connection, owner: owner, last: time.Now(), idle: idle, forget: forget}
	if begun := connection.InitializeParams(); begun != nil && begun.ProtocolVersion < sessionless {
		s.client = clientOf(begun)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if idle > 0 {
		s.timer = time.AfterFunc(idle, s.expire)
	}
	return s
}

// belongsTo reports whether the caller of a request began the session.
func (s *webSession) belongsTo(r *http.Request) bool {
	if s.owner == "" {
		return true
	}
	info := auth.TokenInfoFromContext(r.Context())
	return info != nil && info.UserID == s.owner
}

// begin is called when a request of the session arrives, and end when it is answered. Both are activity. begin returns
// false if the session has ended meanwhile; end is not called then.
func (s *webSession) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running++
	s.reading++
	return true
}

// arrived is called when the body of a request has come.
func (s *webSession) arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading--
}

func (s *webSession) end(r *http.Request) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.last = now
	delete(s.calls, r)
}

// use notes that the client goes on with its session.
func (s *webSession) use(m *rpc.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used || m.Method != "initialize"
}

// run notes a call that is answered here, and that cancel cancels. It returns false if the session has ended meanwhile.
func (s *webSession) run(r *http.Request, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if s.calls == nil {
		s.calls = make(map[*http.Request]context.CancelFunc)
	}
	s.calls[r] = cancel
	return true
}

// cancel has the session take no more requests, and cancels the calls that run.
func (s *webSession) cancel() {
	s.stop(func(_ *http.Request, cancel context.CancelFunc) { cancel() })
}

// drain has the session take no more requests. Its calls end when they are done, or when their clients disconnect:
// these have no session to go on with.
func (s *webSession) drain() {
	s.stop(func(r *http.Request, cancel context.CancelFunc) { context.AfterFunc(r.Context(), cancel) })
}

func (s *webSession) stop(each func(*http.Request, context.CancelFunc)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for r, cancel := range s.calls {
		each(r, cancel)
	}
}

// expire ends the session if it is idle, or else looks again when it may be.
func (s *webSession) expire() {
	s.mu.Lock()
	rest := s.idle - time.Since(s.last)
	if s.running > 0 {
		rest = s.idle
	}
	if s.ended {
		s.mu.Unlock()
		return
	}
	if s.ended = rest <= 0; !s.ended {
		s.timer.Reset(rest)
	}
	s.mu.Unlock()
	if rest <= 0 {
		s.forget()
		_ = s.connection.Close() // the error does not matter
	}
}

// compareIdle compares two sessions by who is to give way first: one that was never used, one without an event stream,
// one that is idle for longer.
func (s *webSession) compareIdle(other *webSession) int {
	rank := func(s *webSession) (rank int, last time.Time) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.used {
			rank += 2
		}
		if s.streams.Load() > 0 {
			rank++
		}
		return rank, s.last
	}
	mine, last := rank(s)
	theirs, otherLast := rank(other)
	return cmp.Or(mine-theirs, last.Compare(otherLast))
}

// endIdle has the session take no more requests. It returns false if one runs whose body has come.
func (s *webSession) endIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.running > s.reading {
		return false
	}
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	return true
}

// clientFor returns the client of a call of the session; nil: the SDK has to answer the call.
func (s *webSession) clientFor(m *rpc.Message, known *clients) *client {
	if said := known.of(&m.Call.Meta); said == nil || said.sessionless {
		return nil
	}
	return s.client
}
