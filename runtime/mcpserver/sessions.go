package mcpserver

import (
	"container/list"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions finds the adapter's session of a request. If the transport has sessions, there is one for each connection,
// which ends with it. On the sessionless protocol there is one for each caller, by the identity that the transport has
// verified, and never by what a request claims (MCP-AQL core §2.3.5).
type sessions struct {
	adapter *aql.Adapter
	owner   aql.Caller // of this process
	limit   int
	each    int           // sessions over HTTP of one caller
	idle    time.Duration // after which a session over HTTP ends

	mu      sync.Mutex
	bound   map[*mcp.ServerSession]*aql.Session // by connection
	web     map[string]*webSession              // by id
	pending map[string]int                      // that are beginning, by peer
	callers map[string]*list.Element            // of caller
	recent  *list.List                          // of caller, the most recent first
}

type caller struct {
	identity string
	session  *aql.Session
}

func newSessions(adapter *aql.Adapter, limit, each int) *sessions {
	return &sessions{
		adapter: adapter, owner: identity.Owner(), limit: limit, each: each,
		bound: make(map[*mcp.ServerSession]*aql.Session), web: make(map[string]*webSession),
		pending: make(map[string]int), callers: make(map[string]*list.Element), recent: list.New(),
	}
}

// caller returns who sends a request, as the transport has verified it.
func (s *sessions) caller(_ context.Context, request mcp.Request) (aql.Caller, error) {
	extra := request.GetExtra()
	if extra == nil || extra.Header == nil { // no HTTP: the owner of the process
		return s.owner, nil
	}
	return ownerOf(extra.TokenInfo), nil
}

// ownerOf returns the owner of a token, as Bearer.Verify said; nil: there is no token.
func ownerOf(info *auth.TokenInfo) aql.Caller {
	if info == nil {
		return aql.Caller{}
	}
	caller, _ := info.Extra[callerInfo].(aql.Caller)
	return caller
}

// begun adds a session over HTTP, if its client has initialized it. The SDK keeps the session then, also if middleware
// fails after that.
func (s *sessions) begun(ctx context.Context, request mcp.Request) {
	connection, ok := request.GetSession().(*mcp.ServerSession)
	extra := request.GetExtra()
	if !ok || extra == nil || extra.Header == nil || connection.ID() == "" || connection.InitializeParams() == nil {
		return
	}
	owner := ""
	if extra.TokenInfo != nil {
		owner = extra.TokenInfo.UserID
	}
	id := connection.ID()
	s.mu.Lock()
	if s.web[id] == nil { // it was not initialized before
		session := newWebSession(connection, owner, s.idle, func() { s.forget(id) })
		session.peer = peerOf(ctx)
		s.web[id] = session
	}
	s.mu.Unlock()
	s.ofConnection(connection)
}

// forget removes a session over HTTP that ends, and cancels its calls.
func (s *sessions) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(id)
}

func (s *sessions) forgetLocked(id string) {
	if session := s.web[id]; session != nil {
		session.cancel()
		delete(s.web, id)
	}
}

// drain removes all sessions over HTTP, which end, while their calls go on.
func (s *sessions) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.web {
		session.drain()
	}
	clear(s.web)
}

// ofID returns the session over HTTP with an id; nil: there is none.
func (s *sessions) ofID(id string) *webSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.web[id]
}

// sessionOf returns the session of a request from a caller.
func sessionOf[P mcp.Params](s *sessions, request *mcp.ServerRequest[P], caller aql.Caller) *aql.Session {
	extra := request.GetExtra()
	if extra != nil && extra.Header != nil && request.Session.ID() == "" {
		return s.ofCaller(caller.Key())
	}
	return s.ofConnection(request.Session)
}

func (s *sessions) ofConnection(connection *mcp.ServerSession) *aql.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session, ok := s.bound[connection]; ok {
		return session
	}
	session := s.adapter.NewSession()
	s.bound[connection] = session
	// The SDK has no hook for the end of a session; waiting for it works on every transport.
	go func() {
		_ = connection.Wait() // the error does not matter
		session.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forgetLocked(connection.ID())
		if s.bound[connection] == session { // close forgets it
			delete(s.bound, connection)
		}
	}()
	return session
}

func (s *sessions) ofCaller(identity string) *aql.Session {
	session, oldest := s.remember(identity)
	if oldest != nil {
		oldest.Close() // without the lock: it may wait for a store
	}
	return session
}

// remember returns the session of a caller. If it is new and there are too many, it removes and returns the least
// recently used one.
func (s *sessions) remember(identity string) (session, oldest *aql.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if element, ok := s.callers[identity]; ok {
		s.recent.MoveToFront(element)
		return element.Value.(*caller).session, nil
	}
	if s.recent.Len() >= s.limit {
		last := s.recent.Remove(s.recent.Back()).(*caller)
		delete(s.callers, last.identity)
		oldest = last.session
	}
	c := &caller{identity: identity, session: s.adapter.NewCallerSession()}
	s.callers[identity] = s.recent.PushFront(c)
	return c.session, oldest
}

// close ends all sessions. Requests that come later begin new ones.
func (s *sessions) close() {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.bound))
	for _, element := range s.callers {
		open = append(open, element.Value.(*caller).session)
	}
	clear(s.bound)
	clear(s.callers)
	s.recent.Init()
	s.mu.Unlock()
	for _, session := range open {
		session.Close()
	}
}
