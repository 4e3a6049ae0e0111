package aql

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/store"
)

// Confirmation is when and how an adapter requires confirmation (MCP-AQL danger levels, confirmation tokens). The zero
// value requires it before everything destructive, with tokens that one session can use once.
type Confirmation struct {
	// Off requires confirmation only where trust or policy do, or where a person types a value to confirm.
	Off bool
	// TrustSkips leaves the decision to the gating matrix of the trust levels, where Options.Trust is set.
	TrustSkips bool
	// HumanOnly gives agents no tokens, and one that an agent presents counts for nothing: what requires confirmation is
	// denied, unless the transport asks a human, or it can wait for one in the Inbox.
	HumanOnly bool
	// Inbox makes the inbox in which requests wait for people where the transport cannot ask one: approve.New. nil: there
	// is none. It is for HumanOnly, for operations that people confirm by typing a value, and for rules of a policy that
	// say who must approve.
	Inbox func(state store.Store) approve.Inbox
	// Scope is who can use a token. Default: SessionScope where state is in memory, CallerScope where it is in a store.
	Scope TokenScope
	// MaxUses is how often one token confirms the same request. Default: once.
	MaxUses int
	// Lifetime is how long a token is valid, from a second to 15 minutes. Default: 5 minutes.
	Lifetime time.Duration
	// LifetimeForbidden is Lifetime for operations of the danger level forbidden, up to 5 minutes. Default: 2 minutes.
	LifetimeForbidden time.Duration
	// ClockSkew is how long after its expiry a token is still accepted, at most 5 minutes: for replicas whose clocks
	// differ.
	ClockSkew time.Duration
	// Cooldown is how long after its token was issued a confirmation is not accepted yet, by danger level.
	Cooldown map[gen.Danger]time.Duration
	// ReauthenticateFrom is the danger level from which on who confirms authenticates anew; empty: that is not needed. For
	// a token and for the user of a client Reauthenticate must approve of the caller, who is denied without it. In the
	// inbox those who approve show anew who they are: see approve.Needs.
	ReauthenticateFrom gen.Danger
	// Reauthenticate authenticates a caller once more. An error denies the operation.
	Reauthenticate func(ctx context.Context, caller Caller, operation string) error
	// IssuesPerMinute bounds, after the first 1,000, the tokens that a session is given and its failures to present one.
	// A caller is given no more than 10 sessions are. Default: 600. Negative: no bound.
	IssuesPerMinute int
}

// TokenScope is who can use a confirmation token.
type TokenScope string

// The scopes of tokens.
const (
	SessionScope TokenScope = "session" // the session that it was issued to
	CallerScope  TokenScope = "caller"  // every session of the caller that it was issued to
)

func (c Confirmation) forGate() gate.Confirmation {
	return gate.Confirmation{
		Off: c.Off, TrustSkips: c.TrustSkips, HumanOnly: c.HumanOnly, Scope: gate.Scope(c.Scope), MaxUses: c.MaxUses,
		Lifetime: c.Lifetime, LifetimeForbidden: c.LifetimeForbidden, ClockSkew: c.ClockSkew, Cooldown: c.Cooldown,
		ReauthenticateFrom: c.ReauthenticateFrom, Reauthenticate: c.Reauthenticate, IssuesPerMinute: c.IssuesPerMinute,
		Inbox: c.Inbox,
	}
}
