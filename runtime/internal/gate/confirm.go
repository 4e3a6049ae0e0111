package gate

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// issue issues a token with which the request can be made again, and adds it to the refusal.
func (a *admission) issue(ctx context.Context, b Binding, refusal *Refusal) *Refusal {
	if !a.Session.mayIssue(a.now) || !a.gate.allowances.mayIssue(a.Caller.Key(), a.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	grant := Grant{Binding: b, Level: a.Operation.definition.Danger, Lifetime: a.lifetime(), MaxUses: 1}
	if c := &a.gate.options.Confirmation; b.Kind == ConfirmationToken {
		grant.MaxUses = c.MaxUses
		grant.Cooldown = min(a.cooldown(), grant.Lifetime-time.Second)
		refusal.Wait = grant.Cooldown
	}
	var ticket Ticket
	var err error
	if a.now, err = a.gate.latest(ctx, a.now); err == nil {
		ticket, err = a.gate.tokens.Issue(ctx, grant, a.now)
	}
	if err != nil {
		return unavailable(err)
	}
	if a.gate.sessionTokens() && !a.Session.remember(ticket.Token) {
		a.revoke(ctx, ticket.Token, sessionEnded)
	}
	refusal.Ticket = ticket
	return refusal
}

func (a *admission) lifetime() time.Duration {
	if a.Operation.definition.Danger == gen.Forbidden {
		return a.gate.options.Confirmation.LifetimeForbidden
	}
	return a.gate.options.Confirmation.Lifetime
}

// redeem admits the request with its token. bounded is ctx with the time limit of the store.
func (a *admission) redeem(ctx, bounded context.Context) *Refusal {
	if a.presented.Conflict {
		return a.refuseUnknown()
	}
	if a.reauthenticates() {
		redeemed, err := a.check(bounded, a.binding(ConfirmationToken), a.presented.Token)
		if err != nil {
			return unavailable(err)
		}
		if redeemed.Verdict == Accepted {
			// This may take a person longer than the time limit of the store, and the token may expire meanwhile.
			if refusal := a.reauthenticate(ctx); refusal != nil {
				return refusal
			}
			var cancel context.CancelFunc
			bounded, cancel = a.gate.Bound(ctx)
			defer cancel()
			a.now = a.gate.clock.Now()
		}
	}
	return a.consume(bounded, a.binding(ConfirmationToken), a.presented.Token)
}

// refuseUnknown refuses a text that is not a token of this caller.
func (a *admission) refuseUnknown() *Refusal {
	a.Session.failed(a.now)
	return &Refusal{Reason: TokenRefused, Redeemed: Redemption{Verdict: Unknown}}
}

// refuseAgent refuses a token that the request has, where only the answer of a human counts: whether it is a token is
// not looked up.
func (a *admission) refuseAgent() *Refusal {
	if !a.Session.mayFail(a.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	a.Session.failed(a.now)
	return &Refusal{Reason: NotByHuman}
}

// consume checks a token and consumes it.
func (a *admission) consume(ctx context.Context, b Binding, token string) *Refusal {
	if !a.Session.mayFail(a.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	redeemed, err := a.check(ctx, b, token)
	if err == nil {
		redeemed.last = a.Sealed != "" // a person approves one call, however many uses the token has
		accepted := redeemed.Verdict == Accepted
		redeemed, err = a.gate.tokens.Consume(ctx, redeemed, a.now)
		// A continuation that was consumed has lifted the pause: the token is not looked at again.
		a.spent = a.spent || accepted && (err != nil || b.Kind == ConfirmationToken)
	}
	switch {
	case err != nil:
		return unavailable(err)
	case redeemed.Verdict == TooEarly:
		return &Refusal{
			Reason: ConfirmationNeeded, Rule: a.decision.Rule, Wait: redeemed.Ready.Sub(a.now),
			Ticket: Ticket{Token: token, Expires: redeemed.Expires}, Redeemed: redeemed, Personal: a.personal(),
		}
	case redeemed.Verdict != Accepted:
		a.Session.failed(a.now)
		return &Refusal{Reason: TokenRefused, Redeemed: redeemed}
	}
	if a.Sealed != "" {
		a.Session.questions.answer(a.Sealed, AlreadyUsed, a.now)
	}
	a.consumed = append(a.consumed, redeemed.ID)
	a.pass.Confirmed = a.pass.Confirmed || b.Kind == ConfirmationToken
	return nil
}

// check checks a token by the latest time that is known.
func (a *admission) check(ctx context.Context, b Binding, token string) (Redemption, error) {
	var err error
	if a.now, err = a.gate.latest(ctx, a.now); err != nil {
		return Redemption{}, err
	}
	return a.gate.tokens.Check(ctx, token, b, a.now)
}

// cooldown is how long a confirmation is not accepted yet, by the danger level and the policy.
func (a *admission) cooldown() time.Duration {
	return max(a.gate.options.Confirmation.Cooldown[a.Operation.definition.Danger], a.decision.Cooldown)
}

// reauthenticates reports whether the danger level or the policy demands that the caller authenticates anew.
func (a *admission) reauthenticates() bool {
	return a.decision.Reauthenticate || a.gate.reauthenticatesFrom(a.Operation.definition.Danger)
}

// reauthenticatesFrom reports whether the author has who confirms something of a danger level authenticate anew.
func (g *Gate) reauthenticatesFrom(danger gen.Danger) bool {
	from := g.options.Confirmation.ReauthenticateFrom
	return from != "" && danger.Level() >= from.Level()
}

// reauthenticate authenticates the caller anew.
func (a *admission) reauthenticate(ctx context.Context) *Refusal {
	c := &a.gate.options.Confirmation
	if c.Reauthenticate == nil {
		return &Refusal{Reason: ReauthenticationNeeded}
	}
	if err := c.Reauthenticate(ctx, a.Caller, a.Operation.definition.Name); err != nil {
		return &Refusal{Reason: ReauthenticationNeeded, Err: err}
	}
	return nil
}

// revoke revokes a token that must not be used, even if the request was cancelled.
func (a *admission) revoke(ctx context.Context, token, reason string) {
	if _, err := a.gate.RevokeToken(context.WithoutCancel(ctx), token, reason); err != nil {
		a.gate.logFailure(ctx, "a token is not revoked", err)
	}
}
