package gate

import (
	"context"
	"log/slog"
	"strings"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/quota"
)

// longestID bounds what is kept of a client's own name for a request, in bytes: records wait in memory.
const longestID = 128

// record begins the record of an event.
func (g *Gate) record(r *Request, event audit.Event, outcome audit.Outcome, reason string) audit.Record {
	definition := r.Operation.definition
	record := audit.Record{
		Time: g.options.Now(), Event: event, Adapter: g.adapter, Operation: definition.Name, Endpoint: r.Endpoint,
		DangerLevel: definition.Danger.Level(), Outcome: outcome, Reason: reason, Caller: r.Caller, SessionID: r.Session.ID,
		RequestID: strings.Clone(r.RequestID[:min(len(r.RequestID), longestID)]),
	}
	if t := g.options.Trust; t != nil {
		record.Trust = string(t.Standing.Level)
	}
	return record
}

// records reports whether anybody wants records.
func (g *Gate) records(ctx context.Context) bool {
	return g.options.Audit != nil || g.options.Logger.Enabled(ctx, slog.LevelInfo)
}

// write puts records into the log. Without one they go to the logger.
func (g *Gate) write(ctx context.Context, records ...audit.Record) error {
	if g.options.Audit == nil {
		return audit.Slog(g.options.Logger).Write(ctx, records)
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.StoreTimeout)
	defer cancel()
	return g.options.Audit.Write(ctx, records...)
}

// recordPass puts on record that the operation may run, before it does. An error means that it may not.
func (v *visit) recordPass(ctx context.Context) error {
	v.pass.recorded = v.Operation.recorded || v.pass.Confirmed
	if !v.pass.recorded && len(v.spent) == 0 || !v.gate.records(ctx) {
		return nil
	}
	var records []audit.Record
	for _, id := range v.spent {
		validated := v.gate.record(v.Request, audit.TokenValidated, audit.Success, "")
		validated.TokenID = id
		records = append(records, validated)
	}
	if v.pass.recorded {
		event, outcome, reason := audit.OperationAllowed, audit.Allowed, ""
		if v.pass.Confirmed {
			event, outcome = audit.ConfirmationGranted, audit.Confirmed
			if v.Sealed != "" {
				reason = "a human was asked"
			}
		}
		if v.dry {
			reason = "dry run"
		}
		decided := v.gate.record(v.Request, event, outcome, reason)
		decided.Parameters = v.Params.Redacted()
		if v.pass.Confirmed {
			decided.TokenID = v.spent[len(v.spent)-1] // confirmation comes last
		}
		if v.decision.Rule != nil {
			decided.Rule = v.decision.Rule.Name
		}
		records = append(records, decided)
	}
	return v.gate.write(ctx, records...)
}

// reasons are the words that records have for refusals.
var reasons = map[Reason]string{
	DeniedByPolicy: "policy", DeniedByTrust: "danger level", TrustTooLow: "trust level", RateLimited: "rate limit", QuotaPaused: "quota pause",
	QuotaExhausted: "quota exhausted", TokenRefused: "token", Declined: "declined by a human", ReauthenticationNeeded: "not authenticated once more",
	TooManyTokens: "too many confirmations", Unavailable: "state is unavailable",
}

// verdicts are the words that records have for refused tokens.
var verdicts = map[Verdict]string{Unknown: "unknown", Expired: "expired", AlreadyUsed: "already used", ScopeMismatch: "scope mismatch", TooEarly: "too early"}

// recordRefusal puts on record that the operation may not run. The request is refused whatever comes of it, so a record that
// cannot be kept is only logged.
func (v *visit) recordRefusal(ctx context.Context, refusal *Refusal) {
	if !v.gate.records(ctx) {
		return
	}
	event, outcome, reason := audit.OperationDenied, audit.Denied, reasons[refusal.Reason]
	if refusal.Reason == ConfirmationNeeded {
		event, outcome = audit.ConfirmationRequired, audit.Denied
	}
	decided := v.gate.record(v.Request, event, outcome, reason)
	if v.Operation.recorded || refusal.Rule != nil {
		decided.Parameters = v.Params.Redacted()
	}
	if refusal.Rule != nil {
		decided.Rule = refusal.Rule.Name
	}
	records := []audit.Record{decided}
	token := func(event audit.Event, outcome audit.Outcome, id, reason string) {
		r := v.gate.record(v.Request, event, outcome, reason)
		r.TokenID = id
		records = append(records, r)
	}
	switch {
	case refusal.Redeemed.Verdict != Accepted:
		token(audit.TokenRejected, audit.Failure, refusal.Redeemed.ID, verdicts[refusal.Redeemed.Verdict])
	case refusal.Ticket.Token != "":
		token(audit.TokenIssued, audit.Success, TokenID(refusal.Ticket.Token), "")
	}
	for _, id := range v.spent { // used up before something else refused the request
		token(audit.TokenValidated, audit.Success, id, "")
	}
	ctx = context.WithoutCancel(ctx) // who takes a request back does not take its record back
	if err := v.gate.write(ctx, records...); err != nil {
		v.gate.logFailure(ctx, "a refusal is not on record", err)
	}
}

// Finish settles what an operation that was let through has used, and puts on record how it ended: code is that of its
// failure, empty for a success.
func (g *Gate) Finish(ctx context.Context, r *Request, p *Pass, used quota.Usage, code string) {
	ctx = context.WithoutCancel(ctx) // it has run, whoever still waits for the answer
	if p.taken.CountsUsage() {
		bounded, cancel := g.Bound(ctx)
		if err := p.taken.AddUsage(bounded, used); err != nil {
			g.logFailure(ctx, "what a call has used is not counted", err)
		}
		cancel()
	}
	if !p.recorded || !g.records(ctx) {
		return
	}
	outcome := audit.Success
	if code != "" {
		outcome = audit.Failure
	}
	if err := g.write(ctx, g.record(r, audit.OperationFinished, outcome, code)); err != nil {
		g.logFailure(ctx, "the end of an operation is not on record", err)
	}
}

// Reject puts on record a request that was refused before it came to the gate: code is that of its failure.
func (g *Gate) Reject(ctx context.Context, r *Request, code string) {
	if !g.records(ctx) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := g.write(ctx, g.record(r, audit.OperationDenied, audit.Denied, code)); err != nil {
		g.logFailure(ctx, "a refusal is not on record", err)
	}
}

// Recorded reports whether attempts are on record whatever comes of them (requirements REQ-DL-05).
func (o *Operation) Recorded() bool { return o.recorded }

// revoke makes a token unknown that is not to be used, whoever still waits for the answer.
func (v *visit) revoke(ctx context.Context, token, reason string) {
	if _, err := v.gate.RevokeToken(context.WithoutCancel(ctx), token, reason); err != nil {
		v.gate.logFailure(ctx, "a token is not revoked", err)
	}
}

func (g *Gate) logFailure(ctx context.Context, what string, err error) {
	g.options.Logger.LogAttrs(ctx, slog.LevelError, what, slog.Any("error", err))
}
