package gate

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
)

// longestID bounds a client's request id in records, in bytes: records wait in memory.
const longestID = 128

// record returns the record of an event.
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

// records reports whether something receives records.
func (g *Gate) records(ctx context.Context) bool {
	return g.options.Audit != nil || g.options.Logger.Enabled(ctx, slog.LevelInfo)
}

// write writes records to the audit log, and to the logger if there is none.
func (g *Gate) write(ctx context.Context, records ...audit.Record) error {
	if g.options.Audit == nil {
		return audit.Slog(g.options.Logger).Write(ctx, records)
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.StoreTimeout)
	defer cancel()
	return g.options.Audit.Write(ctx, records...)
}

// Write writes records of what the gate does not decide itself, before it takes effect.
func (g *Gate) Write(ctx context.Context, records ...audit.Record) error {
	return g.write(ctx, records...)
}

// writeRefusal writes the records of one refusal, which the audit log may count instead, also of a request that is
// cancelled. If that fails, the failure is logged: the request is refused anyway.
func (g *Gate) writeRefusal(ctx context.Context, records ...audit.Record) {
	ctx = context.WithoutCancel(ctx)
	write := g.write
	// A token that was consumed is evidence of a consent.
	if g.options.Audit != nil && !slices.ContainsFunc(records, func(r audit.Record) bool {
		return r.Event == audit.TokenValidated || r.Event == audit.ApprovalUsed
	}) {
		write = g.options.Audit.WriteRefusal
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.StoreTimeout)
	defer cancel()
	if err := write(ctx, records...); err != nil {
		g.logFailure(ctx, "a refusal is not on record", err)
	}
}

// identifiers returns the names of the parameters that say what a call of an operation is about: those that are marked
// as identifiers or named like one, and otherwise the required ones.
func identifiers(o *gen.Operation) []string {
	var named, required []string
	for i := range o.Params {
		switch p := &o.Params[i]; {
		case p.ID, p.Name == "id", p.Name == "ids", strings.HasSuffix(p.Name, "_id"), strings.HasSuffix(p.Name, "_ids"):
			named = append(named, p.Name)
		case p.Required:
			required = append(required, p.Name)
		}
	}
	if named != nil {
		return named
	}
	return required
}

// recordPass records that the operation may run. It must not run if recordPass fails.
func (a *admission) recordPass(ctx context.Context) error {
	a.pass.recorded = a.Operation.recorded || a.pass.Confirmed
	if !a.pass.recorded && len(a.consumed)+len(a.approvals) == 0 || !a.gate.records(ctx) {
		return nil
	}
	var records []audit.Record
	for _, id := range a.consumed {
		validated := a.gate.record(a.Request, audit.TokenValidated, audit.Success, "")
		validated.TokenID = id
		records = append(records, validated)
	}
	records = a.recordUsed(records)
	if a.pass.recorded {
		event, outcome, reason := audit.OperationAllowed, audit.Allowed, ""
		if a.pass.Confirmed {
			event, outcome = audit.ConfirmationGranted, audit.Confirmed
			if a.Sealed != "" {
				reason = "a human was asked"
			} else if a.confirmedByInbox {
				reason = "approved by " + approvers(a.approvals[len(a.approvals)-1])
			}
		}
		if a.dry {
			reason = "dry run"
		}
		if a.finds != "" {
			reason = "found execution " + a.finds
		}
		decided := a.gate.record(a.Request, event, outcome, reason)
		decided.Parameters, decided.Identifiers = a.Params.Redacted(), a.Operation.identifies
		switch { // confirmation comes last
		case a.pass.Confirmed && a.confirmedByInbox:
			decided.ApprovalID = a.approvals[len(a.approvals)-1].ID
		case a.pass.Confirmed:
			decided.TokenID = a.consumed[len(a.consumed)-1]
		}
		if a.decision.Rule != nil {
			decided.Rule = a.decision.Rule.Name
		}
		records = append(records, decided)
	}
	return a.gate.write(ctx, records...)
}

// recordUsed adds the records of the approvals that the request has used up.
func (a *admission) recordUsed(records []audit.Record) []audit.Record {
	for _, item := range a.approvals {
		used := a.gate.record(a.Request, audit.ApprovalUsed, audit.Success, "approved by "+approvers(item))
		used.ApprovalID = item.ID
		records = append(records, used)
	}
	return records
}

// approvers returns who approved an item.
func approvers(item *approve.Item) string {
	var names []string
	for _, vote := range item.Votes {
		names = append(names, vote.By.Key())
	}
	return strings.Join(names, ", ")
}

// reasons are the reasons of refusals in records.
var reasons = map[Reason]string{
	DeniedByPolicy: "policy", DeniedByTrust: "danger level", TrustTooLow: "trust level", RateLimited: "rate limit",
	QuotaPaused: "quota pause", QuotaExhausted: "quota exhausted", TokenRefused: "token",
	NotByHuman: "token of no human", Declined: "declined by a human", NobodyToAsk: "nobody can be asked",
	NothingToType:          "nothing that a person can type",
	ReauthenticationNeeded: "not authenticated once more", TooManyTokens: "too many confirmations",
	TooManyWait: "too many requests wait for people",
	Busy:        "state is busy", Unavailable: "state is unavailable",
}

// verdicts are the reasons of refused tokens in records.
var verdicts = map[Verdict]string{
	Unknown: "unknown", Expired: "expired", AlreadyUsed: "already used", ScopeMismatch: "scope mismatch",
	TooEarly: "too early",
}

// recordRefusal records that the operation may not run. If that fails, the failure is logged: the request is refused
// anyway.
func (a *admission) recordRefusal(ctx context.Context, refusal *Refusal) {
	if !a.gate.records(ctx) {
		return
	}
	event, outcome, reason := audit.OperationDenied, audit.Denied, reasons[refusal.Reason]
	if refusal.Reason == ConfirmationNeeded {
		event, outcome = audit.ConfirmationRequired, audit.Denied
	}
	if refusal.Mistyped {
		reason += ", who typed something else"
	}
	decided := a.gate.record(a.Request, event, outcome, reason)
	if a.Operation.recorded || refusal.Rule != nil {
		decided.Parameters = a.Params.Redacted()
	}
	if refusal.Rule != nil {
		decided.Rule = refusal.Rule.Name
	}
	if refusal.Item != nil {
		decided.ApprovalID = refusal.Item.ID
		if denial := refusal.Item.Denial(); denial != nil {
			decided.Reason += ", " + denial.By.Key()
		}
	}
	records := []audit.Record{decided}
	if refusal.Opened {
		opened := a.gate.record(a.Request, audit.ApprovalRequested, audit.Success, "")
		opened.ApprovalID = refusal.Item.ID
		records = append(records, opened)
	}
	records = a.recordUsed(records)
	token := func(event audit.Event, outcome audit.Outcome, id, reason string) {
		r := a.gate.record(a.Request, event, outcome, reason)
		r.TokenID = id
		records = append(records, r)
	}
	switch {
	case refusal.Redeemed.Verdict != Accepted:
		token(audit.TokenRejected, audit.Failure, refusal.Redeemed.ID, verdicts[refusal.Redeemed.Verdict])
	case refusal.Ticket.Token != "":
		token(audit.TokenIssued, audit.Success, TokenID(refusal.Ticket.Token), "")
	}
	for _, id := range a.consumed { // before something else refused the request
		token(audit.TokenValidated, audit.Success, id, "")
	}
	a.gate.writeRefusal(ctx, records...)
}

// Finish counts what an admitted operation has used, and records how it ended: code is its error code, empty if it
// succeeded.
func (g *Gate) Finish(ctx context.Context, r *Request, p *Pass, used quota.Usage, code string) {
	ctx = context.WithoutCancel(ctx) // the operation has run, even if the request was cancelled
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

// Charge counts what an operation has used for a caller after its call has ended.
func (g *Gate) Charge(ctx context.Context, o *Operation, caller identity.Caller, used quota.Usage) {
	if o.gauge == nil || used == (quota.Usage{}) {
		return
	}
	bounded, cancel := g.Bound(context.WithoutCancel(ctx))
	defer cancel()
	if err := o.gauge.AddUsage(bounded, caller.Key(), g.clock.Now(), used); err != nil {
		g.logFailure(ctx, "what an execution has used is not counted", err)
	}
}

// Reject records a request that was refused before Admit, with its error code or another reason.
func (g *Gate) Reject(ctx context.Context, r *Request, reason string) {
	if !g.records(ctx) {
		return
	}
	g.writeRefusal(ctx, g.record(r, audit.OperationDenied, audit.Denied, reason))
}

// RejectHidden records a request for an operation that its caller may not call and does not see.
func (g *Gate) RejectHidden(ctx context.Context, r *Request) {
	reason := DeniedByPolicy
	if r.Operation.Denied() {
		reason = DeniedByTrust
	}
	g.Reject(ctx, r, reasons[reason])
}

func (g *Gate) logFailure(ctx context.Context, message string, err error) {
	g.options.Logger.LogAttrs(ctx, slog.LevelError, message, slog.Any("error", err))
}
