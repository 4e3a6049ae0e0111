package gate

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostTokens bounds the tokens that Close revokes. Older ones expire; no other session can use them.
const mostTokens = 4096

// burst is how many tokens a session can be issued at once, for batches.
const burst = 1000

// Session is the gate's state of one connection. It bounds how many tokens the connection is issued, and revokes its
// own tokens when it ends.
type Session struct {
	ID string

	gate      *Gate
	connected bool // it ends with the connection, or with this process
	shared    bool // it is of a caller, whatever the connection
	questions questions
	issues    *rate.Limiter
	failures  *rate.Limiter

	mu     sync.Mutex
	tokens []string // that Close revokes
	oldest int      // index of the oldest of mostTokens tokens
	closed bool
}

// NewSession returns a new session of a connection.
func (g *Gate) NewSession() *Session {
	limit := issueRate(&g.options.Confirmation)
	return &Session{
		ID: "sess_" + rand.Text(), gate: g, connected: true,
		issues: rate.NewLimiter(limit, burst), failures: rate.NewLimiter(limit, burst),
	}
}

// NewCallerSession returns a new session of a caller, who has no connection: other gates with the same store have
// sessions of the caller, too.
func (g *Gate) NewCallerSession() *Session {
	s := g.NewSession()
	s.shared = true
	s.connected = !g.bounded // no other gate has this memory
	return s
}

// Connection returns what identifies the connection; empty: the session is of a caller, whatever the connection.
func (s *Session) Connection() string {
	if s.shared {
		return ""
	}
	return s.ID
}

// issueRate returns how many tokens a session can be issued in a second.
func issueRate(c *Confirmation) rate.Limit {
	if c.IssuesPerMinute < 0 {
		return rate.Inf
	}
	return rate.Limit(c.IssuesPerMinute) / 60
}

// mayIssue counts a token and reports whether the session can be issued it.
func (s *Session) mayIssue(now time.Time) bool { return s.issues.AllowN(now, 1) }

// mayFail reports whether the session may present another token.
func (s *Session) mayFail(now time.Time) bool { return s.failures.TokensAt(now) >= 1 }

// failed counts a token that was refused.
func (s *Session) failed(now time.Time) { s.failures.AllowN(now, 1) }

// remember adds a token for Close to revoke. It returns false when the session has ended.
func (s *Session) remember(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if len(s.tokens) < mostTokens {
		s.tokens = append(s.tokens, token)
		return true
	}
	s.tokens[s.oldest] = token
	s.oldest = (s.oldest + 1) % mostTokens
	return true
}

// Close ends the session and revokes its tokens (MCP-AQL confirmation tokens §5.3).
func (s *Session) Close() {
	s.mu.Lock()
	tokens := s.tokens
	s.tokens, s.closed = nil, true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.gate.options.StoreTimeout)
	defer cancel()
	for _, token := range tokens {
		// A token that is not revoked is useless: no other session has this id.
		if _, err := s.gate.revokeToken(ctx, token, sessionEnded); err != nil {
			s.gate.options.Logger.LogAttrs(ctx, slog.LevelDebug, "ending the tokens of a session", slog.Any("error", err))
			return
		}
	}
}
