// Package gate decides whether a validated request may reach its handler. Today it holds the confirmation tokens of one
// session; trust, policy and quotas join it here.
package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/model"
)

// Prefix starts every confirmation token (confirmation tokens §2).
const Prefix = "conf_"

// Lifetimes of a token and of the memory of it (confirmation tokens §5.1, §5.5).
const (
	lifetime          = 5 * time.Minute
	lifetimeForbidden = 2 * time.Minute
	// A token that is spent or expired is remembered for a while, so that presenting it again gets the answer that
	// tells what happened instead of "unknown".
	remembered = 30 * time.Minute
)

// maxTokens bounds the tokens one session can hold; beyond it the oldest are forgotten.
const maxTokens = 4096

// Binding is what a token stands for: one operation with one set of parameters. Params is the SHA-256 of their
// canonical form (confirmation tokens §3.2).
type Binding struct {
	Operation string
	Params    [sha256.Size]byte
}

// Verdict is the outcome of presenting a token.
type Verdict int

// The verdicts, in the order in which they are checked (requirements T-57).
const (
	Accepted Verdict = iota
	Unknown
	Expired
	AlreadyUsed
	ScopeMismatch
)

// Ticket is an issued token with the moment it expires.
type Ticket struct {
	Token   string
	Expires time.Time
}

// Redemption tells what came of presenting a token. Operation is what the token was issued for, and is empty when the
// token is unknown. ConsumedAt is set when it had been used before.
type Redemption struct {
	Verdict    Verdict
	Operation  string
	ExpiredAt  time.Time
	ConsumedAt time.Time
}

type entry struct {
	binding  Binding
	expires  time.Time
	consumed time.Time
}

// Tokens holds the confirmation tokens of one session, in memory; its zero value is ready. It is safe for concurrent
// use, and of several callers who present one token exactly one is accepted.
type Tokens struct {
	mu      sync.Mutex
	entries map[string]*entry
	order   []string // oldest first
	closed  bool
}

// Issue makes a token of 256 random bits for b. A closed store issues tokens that nothing will accept.
func (t *Tokens) Issue(b Binding, level model.Danger, now time.Time) Ticket {
	var id [32]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	ttl := lifetime
	if level == model.Forbidden {
		ttl = lifetimeForbidden
	}
	ticket := Ticket{Token: Prefix + base64.RawURLEncoding.EncodeToString(id[:]), Expires: now.Add(ttl).UTC().Truncate(time.Millisecond)}

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ticket
	}
	t.purge(now)
	if t.entries == nil {
		t.entries = make(map[string]*entry)
	}
	t.entries[ticket.Token] = &entry{binding: b, expires: ticket.Expires}
	t.order = append(t.order, ticket.Token)
	return ticket
}

// Redeem presents a token for b. An accepted token is spent before Redeem returns: a handler that fails afterwards does
// not give it back (confirmation tokens §5.2).
func (t *Tokens) Redeem(token string, b Binding, now time.Time) Redemption {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[token]
	switch {
	case !ok:
		return Redemption{Verdict: Unknown}
	case !now.Before(e.expires):
		return Redemption{Verdict: Expired, Operation: e.binding.Operation, ExpiredAt: e.expires}
	case !e.consumed.IsZero():
		return Redemption{Verdict: AlreadyUsed, Operation: e.binding.Operation, ConsumedAt: e.consumed}
	case e.binding != b:
		return Redemption{Verdict: ScopeMismatch, Operation: e.binding.Operation}
	}
	e.consumed = now.UTC()
	return Redemption{Verdict: Accepted, Operation: e.binding.Operation}
}

// Close forgets every token: they die with their session (requirements REQ-CT-16).
func (t *Tokens) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.entries, t.order = true, nil, nil
}

// purge forgets the tokens that have been dead for long, and the oldest ones when there are too many.
func (t *Tokens) purge(now time.Time) {
	drop := 0
	for _, token := range t.order {
		if e := t.entries[token]; now.Before(e.expires.Add(remembered)) && len(t.order)-drop < maxTokens {
			break
		}
		delete(t.entries, token)
		drop++
	}
	if drop > 0 {
		t.order = append(t.order[:0], t.order[drop:]...)
	}
}

// Hash is the SHA-256 of a request's canonical parameters.
func Hash(canonical []byte) [sha256.Size]byte { return sha256.Sum256(canonical) }

// Interpolate fills a confirmation template: {name} becomes what value returns for name, and is left as it stands where
// value does not know the name.
func Interpolate(template string, value func(name string) (string, bool)) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(template[open:], '}')
		if end < 0 {
			break
		}
		out.WriteString(template[:open])
		placeholder := template[open : open+end+1]
		if v, ok := value(placeholder[1 : len(placeholder)-1]); ok {
			out.WriteString(v)
		} else {
			out.WriteString(placeholder)
		}
		template = template[open+end+1:]
	}
	out.WriteString(template)
	return out.String()
}
