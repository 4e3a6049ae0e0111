package gate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Request is a validated request that asks to be let through.
type Request struct {
	Operation *Operation
	Caller    identity.Caller
	Session   *Session
	RequestID string
	Endpoint  string
	Params    Params
	Presented Presented
	// Sealed is what Seal made of a token that a human was asked about, and Approved their answer. It counts in place of a
	// presented token.
	Sealed   string
	Approved bool
}

// Params are the parameters of a request, after defaults.
type Params interface {
	// Value is the JSON text of a parameter.
	Value(name string) (text string, given bool)
	// Canonical is the canonical form of all parameters: what tokens are bound to.
	Canonical() []byte
	// Redacted is a JSON object of all parameters in which sensitive values are hidden.
	Redacted() []byte
}

// Presented is the tokens that a request carries.
type Presented struct {
	Token        string
	Conflict     bool // two different ones of a kind
	Continuation string
}

// Reason is why a request was not let through.
type Reason int

// The reasons.
const (
	DeniedByPolicy Reason = iota + 1
	DeniedByTrust         // the gating matrix
	TrustTooLow           // a minimum, or introspection alone
	RateLimited
	QuotaPaused
	QuotaExhausted
	ConfirmationNeeded
	TokenRefused
	Declined // by a human who was asked
	ReauthenticationNeeded
	TooManyTokens
	Unavailable // the state or the audit log: nothing is known, so nothing is allowed
)

// Refusal is a request that was not let through.
type Refusal struct {
	Reason   Reason
	Trust    trust.Ruling
	Level    trust.Level // of the adapter
	Rule     *policy.Rule
	Block    *meter.Block
	Ticket   Ticket        // of ConfirmationNeeded and QuotaPaused
	Wait     time.Duration // how long the ticket, or the caller, has to wait
	Redeemed Redemption    // of TokenRefused
	Err      error         // for the log: why it is Unavailable
}

// Pass is a request that was let through.
type Pass struct {
	Warnings  []meter.Warning
	Confirmed bool
	taken     meter.Taken
	recorded  bool
}

// Admit decides on a request. Where it lets it through, everything that this uses up is used up and on record before it
// returns; Finish must then be called when the operation has run.
func (g *Gate) Admit(ctx context.Context, r *Request) (Pass, *Refusal) {
	o := r.Operation
	if o.idle {
		return Pass{}, nil
	}
	v := &visit{gate: g, Request: r, now: g.options.Now()}
	refusal := v.judge()
	if refusal == nil {
		refusal = v.admit(ctx)
	}
	if refusal != nil {
		v.recordRefusal(ctx, refusal)
		return Pass{}, refusal
	}
	if err := v.recordPass(ctx); err != nil {
		v.giveBack(ctx)
		return Pass{}, &Refusal{Reason: Unavailable, Err: err}
	}
	return v.pass, nil
}

// visit is one request at the gate.
type visit struct {
	*Request
	gate     *Gate
	now      time.Time
	decision policy.Decision
	// presented is what the request presents, or a human's answer in its place.
	presented Presented
	confirm   bool
	dry       bool
	pass      Pass
	spent     []string // ids of the tokens that were used up
}

// judge decides by trust and policy, and finds out whether confirmation is needed.
func (v *visit) judge() *Refusal {
	o := v.Operation
	switch {
	case o.ruling.Verdict == trust.IntrospectOnly, o.ruling.Verdict == trust.Deny && o.ruling.ByMinimum:
		return &Refusal{Reason: TrustTooLow, Trust: o.ruling, Level: v.gate.options.Trust.Standing.Level}
	case o.ruling.Verdict == trust.Deny:
		return &Refusal{Reason: DeniedByTrust, Trust: o.ruling, Level: v.gate.options.Trust.Standing.Level}
	}
	if o.rules != nil {
		v.decision = o.rules.Decide(policy.Request{Caller: v.Caller, Value: v.Params.Value})
		if v.decision.Effect == policy.Deny {
			return &Refusal{Reason: DeniedByPolicy, Rule: v.decision.Rule}
		}
	}
	if o.dryRun {
		text, _ := v.Params.Value("dry_run")
		v.dry = text == "true" // it changes nothing, so it needs no confirmation and no pause holds it (requirements T-87)
	}
	v.confirm = !v.dry && (o.confirm || v.decision.Effect == policy.Confirm)
	return nil
}

// admit counts the call and redeems its token. What it used up when it refuses in the end is given back, but for tokens.
func (v *visit) admit(ctx context.Context) *Refusal {
	bounded, cancel := v.gate.Bound(ctx)
	defer cancel()
	if refusal := v.answer(ctx, bounded); refusal != nil {
		return refusal
	}
	asks := v.confirm && v.presented.Token == "" && !v.presented.Conflict
	if refusal := v.count(bounded, asks); refusal != nil {
		return refusal
	}
	if !v.confirm {
		return nil
	}
	var refusal *Refusal
	if asks {
		refusal = v.ask(bounded, v.binding(ConfirmationToken), &Refusal{Reason: ConfirmationNeeded, Rule: v.decision.Rule})
	} else {
		refusal = v.redeem(ctx, bounded)
	}
	if refusal != nil {
		v.giveBack(ctx)
	}
	return refusal
}

// answer takes the token that a human was asked about for what the request presents. bounded is ctx with the time that there
// is for the store.
func (v *visit) answer(ctx, bounded context.Context) *Refusal {
	v.presented = v.Presented
	if v.Sealed == "" {
		return nil
	}
	if !v.Session.mayFail(v.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	token, err := v.gate.unseal(bounded, v.Sealed, v.Caller)
	switch {
	case err != nil:
		return &Refusal{Reason: Unavailable, Err: err}
	case token == "":
		return v.refuseUnknown()
	case !v.Approved:
		v.revoke(ctx, token, reasons[Declined])
		return &Refusal{Reason: Declined}
	case strings.HasPrefix(token, string(ContinuationToken)):
		v.presented = Presented{Continuation: token}
	default:
		v.presented = Presented{Token: token}
	}
	return nil
}

// count counts the call, or only asks whether it could be counted. A pause is lifted by the continuation that the request
// carries; none holds a dry run (requirements T-87).
func (v *visit) count(ctx context.Context, ask bool) *Refusal {
	gauge := v.Operation.gauge
	if gauge == nil {
		return nil
	}
	for continued := false; ; continued = true {
		var block *meter.Block
		var err error
		switch {
		case ask:
			block, err = gauge.Check(ctx, v.Caller.Key(), v.now)
		case v.dry:
			v.pass.taken, block, err = gauge.TakeDry(ctx, v.Caller.Key(), v.now)
		default:
			v.pass.taken, block, err = gauge.Take(ctx, v.Caller.Key(), v.now)
		}
		v.pass.Warnings = v.pass.taken.Warnings
		switch {
		case err != nil:
			return &Refusal{Reason: Unavailable, Err: err}
		case block == nil:
			return nil
		case block.Limit != nil:
			return &Refusal{Reason: RateLimited, Block: block}
		case block.Exhausted:
			return &Refusal{Reason: QuotaExhausted, Block: block}
		case continued, v.presented.Continuation == "": // of several quotas each needs its own continuation
			return v.ask(ctx, v.continues(block.Quota), &Refusal{Reason: QuotaPaused, Block: block})
		case v.presented.Conflict:
			return v.refuseUnknown()
		}
		if refusal := v.spend(ctx, v.continues(block.Quota), v.presented.Continuation); refusal != nil {
			return refusal
		}
		if err := v.gate.meter.Lift(ctx, block.Quota, v.Caller.Key(), v.now); err != nil {
			return &Refusal{Reason: Unavailable, Err: err}
		}
	}
}

// ask issues a token with which the request can be made once more.
func (v *visit) ask(ctx context.Context, b Binding, refusal *Refusal) *Refusal {
	if !v.Session.mayAsk(v.now) || !v.gate.allowances.mayAsk(v.Caller.Key(), v.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	grant := Grant{Binding: b, Level: v.Operation.definition.Danger, Lifetime: v.lifetime(), MaxUses: 1}
	if b.Kind == ConfirmationToken {
		grant.MaxUses = v.gate.options.Confirmation.MaxUses
		grant.Cooldown = min(max(v.gate.options.Confirmation.Cooldown[grant.Level], v.decision.Cooldown), grant.Lifetime-time.Second)
		refusal.Wait = grant.Cooldown
	}
	ticket, err := v.gate.tokens.Issue(ctx, grant, v.now)
	if err != nil {
		return &Refusal{Reason: Unavailable, Err: err}
	}
	if v.gate.Scope() == SessionScope && !v.Session.keep(ticket.Token) {
		v.revoke(ctx, ticket.Token, sessionEnded)
	}
	refusal.Ticket = ticket
	return refusal
}

func (v *visit) lifetime() time.Duration {
	if v.Operation.definition.Danger == gen.Forbidden {
		return v.gate.options.Confirmation.LifetimeForbidden
	}
	return v.gate.options.Confirmation.Lifetime
}

func (v *visit) binding(kind Kind) Binding {
	b := Binding{
		Kind: kind, Adapter: v.gate.adapter, Caller: v.Caller.Key(), Operation: v.Operation.definition.Name, Params: Hash(v.Params.Canonical()),
	}
	if v.gate.Scope() == SessionScope {
		b.Session = v.Session.ID
	}
	return b
}

// continues is what a continuation stands for that lifts the pause of a quota, and of no other (requirements T-63).
func (v *visit) continues(q *quota.Quota) Binding {
	b := v.binding(ContinuationToken)
	b.Params = Hash(fmt.Appendf(b.Params[:], "%s %t", q.Metric, q.Shared))
	return b
}

// redeem lets the request through with the token it carries. bounded is ctx with the time that there is for the store.
func (v *visit) redeem(ctx, bounded context.Context) *Refusal {
	if v.presented.Conflict {
		return v.refuseUnknown()
	}
	if v.reauthenticates() {
		redeemed, err := v.gate.tokens.Check(bounded, v.presented.Token, v.binding(ConfirmationToken), v.now)
		if err != nil {
			return &Refusal{Reason: Unavailable, Err: err}
		}
		if redeemed.Verdict == Accepted {
			// It may take a human some time, which is not the store's, and in which the token may expire.
			if refusal := v.reauthenticate(ctx); refusal != nil {
				return refusal
			}
			var cancel context.CancelFunc
			bounded, cancel = v.gate.Bound(ctx)
			defer cancel()
			v.now = v.gate.options.Now()
		}
	}
	return v.spend(bounded, v.binding(ConfirmationToken), v.presented.Token)
}

// refuseUnknown refuses what is no token that anybody could have been given.
func (v *visit) refuseUnknown() *Refusal {
	v.Session.failed(v.now)
	return &Refusal{Reason: TokenRefused, Redeemed: Redemption{Verdict: Unknown}}
}

// spend checks a token and uses it up.
func (v *visit) spend(ctx context.Context, b Binding, token string) *Refusal {
	if !v.Session.mayFail(v.now) {
		return &Refusal{Reason: TooManyTokens, Wait: time.Minute}
	}
	redeemed, err := v.gate.tokens.Check(ctx, token, b, v.now)
	if err == nil {
		redeemed.last = v.Sealed != "" // a human approves once, however often their agent could present a token
		redeemed, err = v.gate.tokens.Consume(ctx, redeemed, v.now)
	}
	switch {
	case err != nil:
		return &Refusal{Reason: Unavailable, Err: err}
	case redeemed.Verdict == TooEarly:
		return &Refusal{
			Reason: ConfirmationNeeded, Rule: v.decision.Rule, Wait: redeemed.Ready.Sub(v.now),
			Ticket: Ticket{Token: token, Expires: redeemed.Expires}, Redeemed: redeemed,
		}
	case redeemed.Verdict != Accepted:
		v.Session.failed(v.now)
		return &Refusal{Reason: TokenRefused, Redeemed: redeemed}
	}
	v.spent = append(v.spent, redeemed.ID)
	v.pass.Confirmed = v.pass.Confirmed || b.Kind == ConfirmationToken
	return nil
}

// reauthenticates reports whether the level or the policy wants the caller's authentication once more.
func (v *visit) reauthenticates() bool {
	from := v.gate.options.Confirmation.ReauthenticateFrom
	return v.decision.Reauthenticate || from != "" && v.Operation.definition.Danger.Level() >= from.Level()
}

// reauthenticate asks for the caller's authentication once more.
func (v *visit) reauthenticate(ctx context.Context) *Refusal {
	c := &v.gate.options.Confirmation
	if c.Reauthenticate == nil {
		return &Refusal{Reason: ReauthenticationNeeded}
	}
	if err := c.Reauthenticate(ctx, v.Caller, v.Operation.definition.Name); err != nil {
		return &Refusal{Reason: ReauthenticationNeeded, Err: err}
	}
	return nil
}

// giveBack takes back what was counted. The call was not made; where this fails, too, it counts all the same.
func (v *visit) giveBack(ctx context.Context) {
	ctx, cancel := v.gate.Bound(context.WithoutCancel(ctx))
	defer cancel()
	if err := v.pass.taken.GiveBack(ctx, v.gate.options.Now()); err != nil {
		v.gate.logFailure(ctx, "a call that was not made stays counted", err)
	}
	v.pass.taken = meter.Taken{}
}
