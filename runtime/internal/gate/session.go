package gate

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostTokens bounds the tokens that a session ends when it ends; older ones end by their own time, and no other session can use
// them.
const mostTokens = 4096

// burst is how many tokens a session is given at once, for batches.
const burst = 1000

// Session is what the gate knows of one connection. It bounds how many tokens it asks for, and ends those that are its own
// when it ends.
type Session struct {
	ID string

	gate    *Gate
	asking  *rate.Limiter
	failing *rate.Limiter
	mu      sync.Mutex
	tokens  []string // that are its own
	oldest  int      // of them, once there are as many as there can be
	closed  bool
}

// NewSession begins a session.
func (g *Gate) NewSession() *Session {
	limit := g.options.Confirmation.rate()
	return &Session{ID: "sess_" + rand.Text(), gate: g, asking: rate.NewLimiter(limit, burst), failing: rate.NewLimiter(limit, burst)}
}

// rate is how many tokens a session is given in a second.
func (c *Confirmation) rate() rate.Limit {
	if c.IssuesPerMinute < 0 {
		return rate.Inf
	}
	return rate.Limit(c.IssuesPerMinute) / 60
}

func (s *Session) mayAsk(now time.Time) bool  { return s.asking.AllowN(now, 1) }
func (s *Session) mayFail(now time.Time) bool { return s.failing.TokensAt(now) >= 1 }
func (s *Session) failed(now time.Time)       { s.failing.AllowN(now, 1) }

// keep remembers a token that ends with the session. It reports false when the session has ended.
func (s *Session) keep(token string) bool {
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

// Close ends the session: its tokens are unknown from now on (requirements REQ-CT-15, REQ-CT-16, REQ-SE-02).
func (s *Session) Close() {
	s.mu.Lock()
	tokens := s.tokens
	s.tokens, s.closed = nil, true
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.gate.options.StoreTimeout)
	defer cancel()
	for _, token := range tokens {
		// One that stays is of no use to anybody: no other session has this one's name.
		if _, err := s.gate.revokeToken(ctx, token, sessionEnded); err != nil {
			s.gate.options.Logger.LogAttrs(ctx, slog.LevelDebug, "ending the tokens of a session", slog.Any("error", err))
			return
		}
	}
}
