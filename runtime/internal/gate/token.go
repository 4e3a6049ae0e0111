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

// Kind is what a token is for; it begins the token (confirmation tokens §2).
type Kind string

// The kinds of tokens.
const (
	ConfirmationToken Kind = "conf_"
	ContinuationToken Kind = "quota_continue_"
)

// idBytes is the randomness of a token: 256 bits (requirements REQ-CT-02, T-56).
const idBytes = 32

// remembered is how long a token that is spent or expired is kept, so that presenting it again gets the answer that tells
// what happened instead of "unknown" (confirmation tokens §5.5).
const remembered = 30 * time.Minute

// Binding is what a token stands for: one operation with one set of parameters, asked for by one caller. Params is the
// SHA-256 of the parameters' canonical form (confirmation tokens §3.2).
type Binding struct {
	Kind      Kind
	Adapter   string
	Caller    string // identity.Caller.Key
	Session   string // empty: any of the caller's
	Operation string
	Params    [sha256.Size]byte
}

// Grant is what Issue makes a token of.
type Grant struct {
	Binding
	Level    gen.Danger
	Lifetime time.Duration
	Cooldown time.Duration // how long it cannot be used at first
	MaxUses  int           // default 1
}

// Ticket is an issued token.
type Ticket struct {
	Token   string
	Expires time.Time
}

// Verdict is the outcome of presenting a token.
type Verdict int

// The verdicts, in the order in which they are checked (requirements T-57). A token of another caller or session is
// Unknown, so that nobody learns that it exists.
const (
	Accepted Verdict = iota
	Unknown
	Expired
	AlreadyUsed
	ScopeMismatch
	TooEarly
)

// Redemption tells what came of presenting a token. Operation is what the token was issued for, and is empty when it is
// unknown.
type Redemption struct {
	Verdict    Verdict
	ID         string // names the token in audit records; empty when it is unknown
	Operation  string
	Expires    time.Time
	ConsumedAt time.Time // of the last use
	Ready      time.Time // of a token that is still too early

	key     string
	version store.Version
	record  tokenRecord
	last    bool // whatever uses are left are used up with this one
}

// Tokens issues and redeems tokens, which live in a store. Of all who present one token, in however many processes, no more
// than its number of uses are accepted.
type Tokens struct {
	Store store.Store
	// Skew is how long after its expiry a token is still accepted, for replicas whose clocks differ (requirements T-58).
	Skew time.Duration
}

// Issue makes a token.
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
	record.Params = mixed(ticket.Token, g.Params)
	if g.Cooldown > 0 {
		record.ready = now.Add(g.Cooldown + time.Millisecond - 1) // it is kept in whole milliseconds, and never earlier
	}
	_, err := t.Store.Put(ctx, tokenKey(ticket.Token), record.append(nil), 0, g.Lifetime+t.Skew+remembered)
	if err != nil {
		return Ticket{}, fmt.Errorf("keeping a token: %w", err)
	}
	return ticket, nil
}

// Check says what presenting a token for b would come to, and uses nothing up.
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
		ID: tokenID(key), Operation: record.Operation, Expires: record.expires, ConsumedAt: record.consumed, Ready: record.ready,
		key: key, version: entry.Version, record: record,
	}
	switch {
	case !now.Before(record.expires.Add(t.Skew)):
		r.Verdict = Expired
	case record.uses >= record.mostUses:
		r.Verdict = AlreadyUsed
	case record.Kind != b.Kind || record.Operation != b.Operation || record.Params != mixed(token, b.Params) || record.Adapter != b.Adapter:
		r.Verdict = ScopeMismatch
	case now.Before(record.ready):
		r.Verdict = TooEarly
	}
	return r, nil
}

// Consume uses up what Check accepted. Another who was faster leaves AlreadyUsed. The token is spent before Consume returns:
// a handler that fails afterwards does not give it back (confirmation tokens §5.2).
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
		keep := record.expires.Add(t.Skew + remembered).Sub(now)
		_, err := t.Store.Put(ctx, r.key, record.append(nil), r.version, keep)
		if err == nil {
			r.ConsumedAt, r.record = now, record
			return r, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return Redemption{}, fmt.Errorf("consuming a token: %w", err)
		}
		entry, err := t.Store.Get(ctx, r.key)
		if err = cmp.Or(err, ctx.Err()); err != nil { // nobody goes on for ever about conflicts
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

// wellFormed saves the store from texts that no token has. The answer to them is the same.
func wellFormed(token string, kind Kind) bool {
	id, ok := strings.CutPrefix(token, string(kind))
	return ok && len(id) == base64.RawURLEncoding.EncodedLen(idBytes)
}

// mixed is what the store keeps of the parameters: without the token, which it does not have, nobody can try out which ones
// they were.
func mixed(token string, params [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(token), params[:]...))
}

// tokenPrefix begins the keys of tokens.
const tokenPrefix = "token/"

// tokenKey is where a token lives. It is a digest, so that who reads the store does not hold the tokens in it.
func tokenKey(token string) string {
	digest := sha256.Sum256([]byte(token))
	return tokenPrefix + hex.EncodeToString(digest[:])
}

// tokenID names the token of a key in audit records. It says nothing of the token itself.
func tokenID(key string) string { return key[len(tokenPrefix) : len(tokenPrefix)+16] }

// TokenID is the name that audit records have for a token.
func TokenID(token string) string { return tokenID(tokenKey(token)) }
