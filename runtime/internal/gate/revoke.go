package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Reasons in the records of what is revoked: by Session.Close, and by Revoke.
const sessionEnded, revokedAll = "the session has ended", "revoked"

// pageSize is how many tokens Revoke lists at a time.
const pageSize = 500

// Revoke revokes all tokens of a caller, and what people have approved for it, and with nil those of all callers. It
// returns how many could still have been used (MCP-AQL confirmation tokens §5.3). Those of other adapters stay valid.
func (g *Gate) Revoke(ctx context.Context, caller *identity.Caller) (revoked int, err error) {
	tokens, err := g.revokeTokens(ctx, caller)
	approvals, failed := g.revokeApprovals(ctx, caller)
	return tokens + approvals, errors.Join(err, failed)
}

func (g *Gate) revokeTokens(ctx context.Context, caller *identity.Caller) (revoked int, err error) {
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
				live, err = g.revokeEntry(ctx, entries[i], caller, revokedAll)
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

// revokeApprovals removes the confirmations and continuations of a caller that people have approved, and those that
// some of them have, so that votes from before the revocation count no more.
func (g *Gate) revokeApprovals(ctx context.Context, caller *identity.Caller) (revoked int, err error) {
	for again := g.inbox != nil; again; {
		again = false
		items, err := g.approvals(ctx, caller)
		if err != nil {
			return revoked, fmt.Errorf("revoking approvals: %w", err)
		}
		for i := range items {
			bounded, cancel := g.Bound(ctx)
			err := g.inbox.Remove(bounded, items[i])
			cancel()
			switch {
			case errors.Is(err, store.ErrConflict): // somebody has voted meanwhile, or a request has used it
				again = true
			case err != nil:
				return revoked, fmt.Errorf("revoking approvals: %w", err)
			case items[i].StateAt(g.clock.Now()) == approve.Approved:
				g.recordTakenBack(ctx, &items[i])
				revoked++
			}
		}
	}
	return revoked, nil
}

// approvals returns the confirmations and continuations of a caller that have votes and can be used, or decided still.
func (g *Gate) approvals(ctx context.Context, caller *identity.Caller) ([]approve.Item, error) {
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	items, err := g.inbox.List(ctx)
	if _, ok := errors.AsType[*approve.UnreadableError](err); ok { // what cannot be read cannot be used
		err = nil
	}
	return slices.DeleteFunc(items, func(item approve.Item) bool {
		return item.Adapter != g.adapter || caller != nil && item.Caller.Key() != caller.Key() || len(item.Votes) == 0 ||
			item.Kind != approve.Confirmation && item.Kind != approve.Continuation ||
			item.State != approve.Open && item.State != approve.Approved
	}), err
}

// recordTakenBack records that an approval was revoked.
func (g *Gate) recordTakenBack(ctx context.Context, item *approve.Item) {
	if !g.records(ctx) {
		return
	}
	record := audit.Record{
		Time: g.options.Now(), Event: audit.ApprovalDenied, Adapter: g.adapter, Operation: item.Operation,
		DangerLevel: item.Danger.Level(), Outcome: audit.Success, Reason: revokedAll, Rule: item.Rule, ApprovalID: item.ID,
	}
	if err := g.write(ctx, record); err != nil {
		g.options.Logger.LogAttrs(ctx, slog.LevelError, "a revocation is not on record", slog.Any("error", err))
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
