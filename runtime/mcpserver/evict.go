package mcpserver

import (
	"maps"
	"slices"
)

// reserve makes a place for a session over HTTP that a caller begins, which unreserve gives back when the session has
// begun, or has not. Where there is none, it ends one that is idle. It returns false if there is none to end: no caller
// ends the session of one who has fewer.
func (s *sessions) reserve(peer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := maps.Clone(s.pending)
	total := 0
	for _, session := range s.web {
		open[session.peer]++
	}
	for _, n := range open {
		total += n
	}
	own := func(session *webSession) bool { return session.peer == peer }
	fair := func(session *webSession) bool { return own(session) || open[session.peer] > open[peer] }
	switch {
	case peer != "" && open[peer] >= s.each:
		if !s.evictLocked(open, own) {
			return false
		}
	case total >= s.limit:
		if !s.evictLocked(open, fair) {
			return false
		}
	}
	s.pending[peer]++
	return true
}

func (s *sessions) unreserve(peer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[peer]--; s.pending[peer] == 0 {
		delete(s.pending, peer)
	}
}

// evictLocked ends an idle session: of the caller with most sessions, first one that was never used, then one without
// an event stream, of these the one that is idle for longest. It returns false if none is idle.
func (s *sessions) evictLocked(open map[string]int, eligible func(*webSession) bool) bool {
	candidates := slices.Collect(maps.Keys(s.web))
	candidates = slices.DeleteFunc(candidates, func(id string) bool { return !eligible(s.web[id]) })
	slices.SortFunc(candidates, func(a, b string) int {
		one, other := s.web[a], s.web[b]
		if n := open[other.peer] - open[one.peer]; n != 0 {
			return n
		}
		return one.compareIdle(other)
	})
	for _, id := range candidates {
		session := s.web[id]
		if session.endIdle() {
			delete(s.web, id)
			go session.connection.Close() //nolint:errcheck // it has ended; closing waits for what the SDK runs
			return true
		}
	}
	return false
}
