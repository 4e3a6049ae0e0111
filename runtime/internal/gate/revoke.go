package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// sessionEnded is the reason in the records of tokens that Session.Close revokes.
const sessionEnded = "the session has ended"

// pageSize is how many tokens Revoke lists at a time.
const pageSize = 500

// Revoke revokes all tokens of a caller, and with nil those of all callers. It returns how many could still have been
// used (MCP-AQL confirmation tokens §5.3). Tokens of other adapters stay valid.
func (g *Gate) Revoke(ctx context.Context, caller *identity.Caller) (revoked int, err error) {
	after := ""
	for {
		ctx, cancel := g.Bound(ctx)
		entries, err := g.options.Store.List(ctx, tokenPrefix, after, pageSize)
		for i := 0; err == nil && i < len(entries); i++ {
			key, live := entries[i].Key, false
			switch {
			case key <= after:
				err = errDamaged // it would never end
			case isTokenKey(key):
				live, err = g.revokeEntry(ctx, entries[i], caller, "revoked")
			}
			if live {
				revoked++
			}
			after = key
		}
		cancel()
		if err != nil {
			return revoked, fmt.Errorf("revoking tokens: %w", err)
		}
		if len(entries) < pageSize {
			return revoked, nil
		}
	}
}

// revokeEntry deletes a token if it is one of the caller, and records it if it could still have been used.
func (g *Gate) revokeEntry(
	ctx context.Context, entry store.Entry, caller *identity.Caller, reason string,
) (live bool, err error) {
	for entry.Exists() && ctx.Err() == nil {
		record, err := parseToken(entry.Value)
		if err != nil || record.Adapter != g.adapter || caller != nil && record.Caller != caller.Key() {
			return false, nil //nolint:nilerr // a damaged token cannot be used
		}
		err = g.options.Store.Delete(ctx, entry.Key, entry.Version)
		if err == nil {
			if record.uses >= record.mostUses || !g.clock.Now().Before(record.expires.Add(g.tokens.Skew)) {
				return false, nil
			}
			g.recordRevoked(ctx, entry.Key, &record, reason, g.options.Now())
			return true, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return false, err
		}
		if entry, err = g.options.Store.Get(ctx, entry.Key); err != nil {
			return false, err
		}
	}
	return false, ctx.Err()
}

// RevokeToken revokes one token, and records that with the reason (MCP-AQL confirmation tokens §5.3, §6.4). It reports
// whether the token could still have been used.
func (g *Gate) RevokeToken(ctx context.Context, token, reason string) (bool, error) {
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	return g.revokeToken(ctx, token, reason)
}

func (g *Gate) revokeToken(ctx context.Context, token, reason string) (live bool, err error) {
	entry, err := g.options.Store.Get(ctx, tokenKey(token))
	if err == nil {
		live, err = g.revokeEntry(ctx, entry, nil, reason)
	}
	if err != nil {
		return false, fmt.Errorf("revoking a token: %w", err)
	}
	return live, nil
}

func (g *Gate) recordRevoked(ctx context.Context, key string, record *tokenRecord, reason string, now time.Time) {
	if !g.records(ctx) {
		return
	}
	revoked := audit.Record{
		Time: now, Event: audit.TokenRevoked, Adapter: g.adapter, Operation: record.Operation,
		DangerLevel: record.level.Level(), Outcome: audit.Success, Reason: reason, TokenID: tokenID(key),
		SessionID: record.Session,
	}
	if t := g.options.Trust; t != nil {
		revoked.Trust = string(t.Standing.Level)
	}
	if err := g.write(ctx, revoked); err != nil {
		g.options.Logger.LogAttrs(ctx, slog.LevelError, "a revocation is not on record", slog.Any("error", err))
	}
}
