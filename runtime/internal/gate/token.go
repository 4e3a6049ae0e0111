package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// Kind is the kind of a token, and the prefix of its text (MCP-AQL confirmation tokens §2).
type Kind string

// The kinds of tokens.
const (
	ConfirmationToken Kind = "conf_"
	ContinuationToken Kind = "quota_continue_"
)

// idBytes is the number of random bytes in a token.
const idBytes = 32

// retention is how long a consumed or expired token stays in the store, so that presenting it again is answered with
// what happened to it and not with "unknown" (MCP-AQL confirmation tokens §5.5).
const retention = 30 * time.Minute

// Binding is the request that a token is for: one operation with one set of parameters, requested by one caller
// (MCP-AQL confirmation tokens §3.2).
type Binding struct {
	Kind      Kind
	Adapter   string
	Caller    string // identity.Caller.Key
	Session   string // empty: every session of the caller
	Operation string
	Params    [sha256.Size]byte // Hash of the parameters' canonical form
}

// Grant describes a token to issue.
type Grant struct {
	Binding
	Level    gen.Danger
	Lifetime time.Duration
	Cooldown time.Duration // how long the new token is not accepted yet
	MaxUses  int           // default 1
}

// Ticket is an issued token.
type Ticket struct {
	Token   string
	Expires time.Time
}

// Verdict is the outcome of presenting a token.
type Verdict int

// The verdicts, in the order in which they are checked. A token of another caller or session is Unknown, so that its
// existence is not disclosed.
const (
	Accepted Verdict = iota
	Unknown
	Expired
	AlreadyUsed
	ScopeMismatch
	TooEarly
)

// Redemption is the outcome of presenting a token.
type Redemption struct {
	Verdict    Verdict
	ID         string // of the token in audit records; empty if Unknown
	Operation  string // that the token was issued for; empty if Unknown
	Expires    time.Time
	ConsumedAt time.Time // of the last use
	Ready      time.Time // if TooEarly: when the token will be accepted

	key     string
	version store.Version
	record  tokenRecord
	last    bool // Consume consumes all remaining uses
}

// Tokens issues and redeems tokens in a store. However many processes present one token, it is accepted no more often
// than its number of uses.
type Tokens struct {
	Store store.Store
	// Skew is how long after its expiry a token is still accepted, for replicas whose clocks differ.
	Skew time.Duration
}

// Issue issues a token.
func (t *Tokens) Issue(ctx context.Context, g Grant, now time.Time) (Ticket, error) {
	var id [idBytes]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	ticket := Ticket{
		Token:   string(g.Kind) + base64.RawURLEncoding.EncodeToString(id[:]),
		Expires: now.Add(g.Lifetime).UTC().Truncate(time.Millisecond),
	}
	record := tokenRecord{
		Binding: g.Binding, level: g.Level, issued: now, expires: ticket.Expires, mostUses: max(g.MaxUses, 1),
	}
	record.Params = keyedHash(ticket.Token, g.Params)
	if g.Cooldown > 0 {
		record.ready = now.Add(g.Cooldown + time.Millisecond - 1) // the record has whole milliseconds; never earlier
	}
	_, err := t.Store.Put(ctx, tokenKey(ticket.Token), record.encode(), 0, g.Lifetime+t.Skew+retention)
	if err != nil {
		return Ticket{}, fmt.Errorf("storing a token: %w", err)
	}
	return ticket, nil
}

// Check returns the outcome of presenting a token for b. It consumes nothing.
func (t *Tokens) Check(ctx context.Context, token string, b Binding, now time.Time) (Redemption, error) {
	if !wellFormed(token, b.Kind) {
		return Redemption{Verdict: Unknown}, nil
	}
	key := tokenKey(token)
	entry, err := t.Store.Get(ctx, key)
	if err != nil {
		return Redemption{}, fmt.Errorf("looking up a token: %w", err)
	}
	if !entry.Exists() {
		return Redemption{Verdict: Unknown}, nil
	}
	record, err := parseToken(entry.Value)
	if err != nil {
		return Redemption{}, fmt.Errorf("looking up a token: %w", err)
	}
	if record.Caller != b.Caller || record.Session != "" && record.Session != b.Session {
		return Redemption{Verdict: Unknown}, nil
	}
	r := Redemption{
		ID: tokenID(key), Operation: record.Operation, Expires: record.expires, ConsumedAt: record.consumed,
		Ready: record.ready, key: key, version: entry.Version, record: record,
	}
	switch {
	case !now.Before(record.expires.Add(t.Skew)):
		r.Verdict = Expired
	case record.uses >= record.mostUses:
		r.Verdict = AlreadyUsed
	case record.Kind != b.Kind, record.Operation != b.Operation, record.Params != keyedHash(token, b.Params),
		record.Adapter != b.Adapter:
		r.Verdict = ScopeMismatch
	case now.Before(record.ready):
		r.Verdict = TooEarly
	}
	return r, nil
}

// Consume consumes one use of a token that Check accepted. If a concurrent request has consumed the last use, the
// verdict becomes AlreadyUsed. The token is consumed before Consume returns: a handler that fails later does not give
// it back (MCP-AQL confirmation tokens §5.2).
func (t *Tokens) Consume(ctx context.Context, r Redemption, now time.Time) (Redemption, error) {
	for {
		if r.Verdict != Accepted {
			return r, nil
		}
		record := r.record
		record.uses++
		record.consumed = now
		if r.last {
			record.mostUses = record.uses
		}
		keep := record.expires.Add(t.Skew + retention).Sub(now)
		_, err := t.Store.Put(ctx, r.key, record.encode(), r.version, keep)
		if err == nil {
			r.ConsumedAt, r.record = now, record
			return r, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return Redemption{}, fmt.Errorf("consuming a token: %w", err)
		}
		entry, err := t.Store.Get(ctx, r.key)
		if err = cmp.Or(err, ctx.Err()); err != nil { // conflicts are not retried after ctx has ended
			return Redemption{}, fmt.Errorf("consuming a token: %w", err)
		}
		if !entry.Exists() { // revoked meanwhile
			return Redemption{Verdict: Unknown}, nil
		}
		if r.record, err = parseToken(entry.Value); err != nil {
			return Redemption{}, fmt.Errorf("consuming a token: %w", err)
		}
		r.version, r.ConsumedAt = entry.Version, r.record.consumed
		if r.record.uses >= r.record.mostUses {
			r.Verdict = AlreadyUsed
		}
	}
}

// wellFormed reports whether a text may be a token. It saves the store from looking up other texts.
func wellFormed(token string, kind Kind) bool {
	id, ok := strings.CutPrefix(token, string(kind))
	return ok && len(id) == base64.RawURLEncoding.EncodedLen(idBytes)
}

// keyedHash returns what the store holds of the parameters. Without the token, which the store does not hold, a reader
// of the store cannot find out by trial which parameters they were.
func keyedHash(token string, params [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(token), params[:]...))
}

// tokenPrefix begins the keys of tokens.
const tokenPrefix = "token/"

// tokenKey returns the key of a token in the store. It is a digest, so that a reader of the store does not learn the
// token.
func tokenKey(token string) string {
	digest := sha256.Sum256([]byte(token))
	return tokenPrefix + hex.EncodeToString(digest[:])
}

// isTokenKey reports whether a key of the store is one of a token.
func isTokenKey(key string) bool {
	return strings.HasPrefix(key, tokenPrefix) && len(key) == len(tokenPrefix)+hex.EncodedLen(sha256.Size)
}

// tokenID returns the id in audit records of the token with a key. It discloses nothing of the token.
func tokenID(key string) string { return key[len(tokenPrefix) : len(tokenPrefix)+16] }

// TokenID returns the id of a token in audit records.
func TokenID(token string) string { return tokenID(tokenKey(token)) }
