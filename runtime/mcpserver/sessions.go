package mcpserver

import (
	"container/list"
	"maps"
	"slices"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions finds the adapter's session that a request belongs to. Where the transport has sessions it is the
// connection's, and ends with it. On the sessionless protocol it is the caller's, by the identity that the transport
// verified; what a request claims about itself counts nothing (MCP-AQL core §2.3.5).
type sessions struct {
	adapter *aql.Adapter
	owner   aql.Caller // of this process
	limit   int

	mu      sync.Mutex
	bound   map[*mcp.ServerSession]*aql.Session
	callers map[string]*list.Element // of caller
	recent  *list.List               // most recent first
}

type caller struct {
	identity string
	session  *aql.Session
}

func newSessions(adapter *aql.Adapter, limit int) *sessions {
	return &sessions{
		adapter: adapter, owner: identity.Owner(), limit: limit, bound: make(map[*mcp.ServerSession]*aql.Session),
		callers: make(map[string]*list.Element), recent: list.New(),
	}
}

func (s *sessions) of(request *mcp.CallToolRequest) (*aql.Session, aql.Caller) {
	extra := request.GetExtra()
	if extra == nil || extra.Header == nil { // a pipe: whoever started the process
		return s.ofConnection(request.Session), s.owner
	}
	var caller aql.Caller
	if extra.TokenInfo != nil {
		caller, _ = extra.TokenInfo.Extra[callerInfo].(aql.Caller)
	}
	if request.Session.ID() == "" {
		return s.ofCaller(caller.Key()), caller
	}
	return s.ofConnection(request.Session), caller
}

func (s *sessions) ofConnection(connection *mcp.ServerSession) *aql.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session, ok := s.bound[connection]; ok {
		return session
	}
	session := s.adapter.NewSession()
	s.bound[connection] = session
	// The SDK has no hook for the end of a session; waiting for it is the one way that works on every transport.
	go func() {
		_ = connection.Wait() // how it ended makes no difference
		session.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.bound, connection)
	}()
	return session
}

func (s *sessions) ofCaller(identity string) *aql.Session {
	session, oldest := s.remember(identity)
	if oldest != nil {
		oldest.Close() // not under the lock: it may have to wait for a store
	}
	return session
}

// remember finds the session of a caller or makes one, which may push out the one that was used longest ago.
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
	c := &caller{identity: identity, session: s.adapter.NewSession()}
	s.callers[identity] = s.recent.PushFront(c)
	return c.session, oldest
}

func (s *sessions) close() {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.callers))
	clear(s.callers)
	s.recent.Init()
	s.mu.Unlock()
	for _, element := range open {
		element.Value.(*caller).session.Close()
	}
}
