package aql

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/aqltag/aqltag/runtime/words"
)

// admit asks the gate to let the operation through (requirements §0, steps 7 to 10).
func (x *exchange) admit(ctx context.Context) *Error {
	o := x.operation
	if o.gate == nil || o.gate.Idle() {
		return nil
	}
	x.gating = gate.Request{
		Operation: o.gate, Caller: CallerOf(ctx), Session: x.session.gate, RequestID: x.envelope.requestID, Endpoint: o.family,
		Params: params{x}, Presented: x.presented.Presented,
	}
	if answer, ok := ctx.Value(answerKey{}).(Answer); ok && x.batch == nil {
		x.gating.Sealed, x.gating.Approved = answer.State, answer.Approved
	}
	pass, refusal := x.view.gate.Admit(ctx, &x.gating)
	if refusal != nil {
		return x.refused(ctx, refusal)
	}
	x.pass = pass
	for i := range pass.Warnings {
		x.addWarning(ctx, quotaWarning(&pass.Warnings[i]))
	}
	return nil
}

// finish tells the gate what came of an operation that it let through.
func (x *exchange) finish(ctx context.Context, used quota.Usage, failed *Error) {
	o := x.operation
	if o.gate == nil || o.gate.Idle() {
		return
	}
	code := ""
	if failed != nil {
		code = failed.Code
	}
	x.view.gate.Finish(ctx, &x.gating, &x.pass, used, code)
	x.gating, x.pass = gate.Request{}, gate.Pass{}
}

// rejected tells the gate of a request that did not reach it, so that attempts at what is dangerous are on record whatever
// comes of them (requirements REQ-DL-05).
func (x *exchange) rejected(ctx context.Context, failed *Error) {
	if o := cmp.Or(x.operation, x.elsewhere); o != nil && o.gate != nil && o.gate.Recorded() {
		x.view.gate.Reject(ctx, &gate.Request{
			Operation: o.gate, Caller: CallerOf(ctx), Session: x.session.gate, RequestID: strings.Clone(x.envelope.requestID), Endpoint: o.family,
		}, failed.Code)
	}
}

// params are the parameters of a request as the gate sees them.
type params struct{ x *exchange }

func (p params) Value(name string) (string, bool) { return p.x.value(name) }
func (p params) Canonical() []byte                { return p.x.canonicalParams() }
func (p params) Redacted() []byte                 { return p.x.redactedParams() }

// codeConfirm asks for a confirmation.
const codeConfirm = "CONFIRMATION_REQUIRED"

// refused is the failure for a request that the gate does not let through.
func (x *exchange) refused(ctx context.Context, r *gate.Refusal) *Error {
	definition := &x.operation.definition
	name, level := definition.Name, string(definition.Danger)
	switch r.Reason {
	case gate.DeniedByPolicy:
		reason := cmp.Or(ruleReason(r), "the policy of this adapter does not allow operation '"+name+"' with these parameters")
		return Denied(reason).WithDetail("operation", name)
	case gate.DeniedByTrust:
		details := []detail{
			{"operation", name}, {"danger_level", level}, {"adapter_trust", string(r.Level)}, {"minimum_trust_required", string(r.Trust.Required)},
		}
		if len(definition.Reasons) > 0 {
			details = append(details, detail{"reasons", definition.Reasons})
		}
		return failure("PERMISSION_DANGER_LEVEL_DENIED",
			"Operation '"+name+"' (danger: "+level+") denied for adapter trust level '"+string(r.Level)+"'", details...)
	case gate.TrustTooLow:
		return trustTooLow(name, r.Trust.Required, r.Level, definition.Danger.Level())
	case gate.RateLimited:
		b := r.Block
		return failure("RATE_LIMIT_EXCEEDED", "API rate limit exceeded",
			detail{"limit", int(b.Limit.Limit)}, detail{"remaining", int(b.Remaining)}, detail{"window", string(b.Limit.Window)},
			detail{"resets_at", timestamp(b.Resets)}, detail{"retry_after_seconds", x.secondsUntil(b.Resets)})
	case gate.QuotaPaused:
		return x.quotaPaused(r)
	case gate.QuotaExhausted:
		return failure("RATE_LIMIT_QUOTA_EXHAUSTED", "Quota exhausted", append(quotaDetails(r.Block, false),
			detail{"resets_at", timestamp(r.Block.Resets)}, detail{"retry_after_seconds", x.secondsUntil(r.Block.Resets)})...)
	case gate.ConfirmationNeeded:
		return x.confirmationRequired(r)
	case gate.TokenRefused:
		return x.tokenRefused(&r.Redeemed)
	case gate.Declined:
		return Denied("the user was asked and did not approve").WithDetail("operation", name)
	case gate.ReauthenticationNeeded:
		return Denied("operation '"+name+"' needs a fresh authentication of the caller, which did not succeed").WithDetail("operation", name)
	case gate.TooManyTokens:
		return failure("RATE_LIMIT_EXCEEDED", "Too many confirmations were asked for or failed. Wait before asking again.",
			detail{"operation", name}, detail{"retry_after_seconds", int(r.Wait / time.Second)})
	default:
		failed := x.describe(ctx, r.Err, nil, "state is unavailable, so nothing was run; try again later")
		failed.details = append(failed.details, detail{"operation", name})
		return failed
	}
}

// ruleReason is what the policy's author tells the agent about the rule that decided; empty where it is nothing that may be
// shown.
func ruleReason(r *gate.Refusal) string {
	if r.Rule == nil || words.Leak(r.Rule.Reason) != "" {
		return ""
	}
	return r.Rule.Reason
}

func trustTooLow(operation string, required, actual trust.Level, level int) *Error {
	return failure("PERMISSION_TRUST_LEVEL_INSUFFICIENT",
		"Operation '"+operation+"' requires trust level '"+string(required)+"', adapter has '"+string(actual)+"'",
		detail{"operation", operation}, detail{"required_trust", string(required)}, detail{"actual_trust", string(actual)}, detail{"danger_level", level})
}

func (x *exchange) quotaPaused(r *gate.Refusal) *Error {
	x.ask(r, "Quota "+string(r.Block.Quota.Metric)+" has reached its pause threshold. Continue until it resets?", nil)
	details := quotaDetails(r.Block, true)
	if !x.adapter.options.Confirmation.HumanOnly {
		details = append(details, detail{"confirmation_token", r.Ticket.Token}, detail{"expires_at", timestamp(r.Ticket.Expires)})
	}
	return failure("RATE_LIMIT_QUOTA_PAUSE", "Quota pause threshold reached", details...)
}

// ask notes what a human can be asked in place of the answer. The items of a batch are not asked about one by one.
func (x *exchange) ask(r *gate.Refusal, message string, reasons []string) {
	if x.batch != nil {
		return
	}
	definition := &x.operation.definition
	x.question = &Question{
		Operation: definition.Name, DangerLevel: string(definition.Danger), Message: message, Reasons: reasons,
		Params: string(x.redactedParams()), token: strings.Clone(r.Ticket.Token), Expires: r.Ticket.Expires, Wait: r.Wait,
	}
}

// secondsUntil is the time until t in whole seconds, rounded up.
func (x *exchange) secondsUntil(t time.Time) int {
	return max(int(math.Ceil(t.Sub(x.adapter.options.Now()).Seconds())), 1)
}

func quotaDetails(b *quota.Block, pauses bool) []detail {
	details := []detail{{"metric", string(b.Quota.Metric)}, {"current", b.Current}}
	if pauses {
		details = append(details, detail{"pause_threshold", b.Quota.Pause})
	}
	if b.Quota.HardStop > 0 {
		details = append(details, detail{"hard_stop_threshold", b.Quota.HardStop})
	}
	return details
}

func quotaWarning(w *quota.Warning) Warning {
	q := w.Quota
	details := map[string]any{"metric": string(q.Metric), "current": w.Current, "warn_threshold": q.Warn}
	highest := q.Warn
	if q.Pause > 0 {
		details["pause_threshold"], highest = q.Pause, q.Pause
	}
	if q.HardStop > 0 {
		details["hard_stop_threshold"], highest = q.HardStop, q.HardStop
	}
	severity := Medium
	if w.Current > 0.9*highest {
		severity = High
	}
	return Warning{Code: "RATE_LIMIT_QUOTA_WARNING", Message: "Approaching quota limit", Severity: severity, Details: details}
}

func (x *exchange) confirmationRequired(r *gate.Refusal) *Error {
	definition := &x.operation.definition
	details := []detail{{"operation", definition.Name}, {"danger_level", string(definition.Danger)}}
	reasons := definition.Reasons
	if reason := ruleReason(r); reason != "" {
		reasons = append(reasons[:len(reasons):len(reasons)], reason)
	}
	if len(reasons) > 0 {
		details = append(details, detail{"reasons", reasons})
	}
	message := ""
	if definition.Confirm != "" {
		message = gate.Interpolate(definition.Confirm, x.shown)
		details = append(details, detail{"confirmation_message", message})
	}
	details = append(details, detail{"confirmation_token", strings.Clone(r.Ticket.Token)}, detail{"expires_at", timestamp(r.Ticket.Expires)})
	if r.Wait > 0 {
		details = append(details, detail{"retry_after_seconds", int(math.Ceil(r.Wait.Seconds()))})
	}
	x.ask(r, message, reasons)
	if x.adapter.options.Confirmation.HumanOnly {
		return Denied("operation '"+definition.Name+"' needs the approval of the user, who cannot be asked here").WithDetail("operation", definition.Name)
	}
	return failure(codeConfirm, "This operation requires confirmation", details...)
}

// tokenRefused names the token that was presented, cut to the length a token can have.
func (x *exchange) tokenRefused(r *gate.Redemption) *Error {
	const longest = 80
	token := x.gating.Presented.Token
	if token == "" {
		token = x.gating.Presented.Continuation
	}
	token = strings.Clone(strings.ToValidUTF8(token[:min(len(token), longest)], ""))
	refused := func(code, message string, details ...detail) *Error {
		return failure(code, message, append([]detail{{"token", token}}, details...)...)
	}
	switch r.Verdict {
	case gate.Expired:
		return refused("TOKEN_EXPIRED", "Confirmation token has expired",
			detail{"expired_at", timestamp(r.Expires)}, detail{"current_time", timestamp(x.adapter.options.Now())})
	case gate.AlreadyUsed:
		return refused("TOKEN_ALREADY_USED", "Confirmation token has already been used", detail{"consumed_at", timestamp(r.ConsumedAt)})
	case gate.ScopeMismatch:
		return refused("TOKEN_SCOPE_MISMATCH", "Confirmation token scope mismatch",
			detail{"token_operation", r.Operation}, detail{"requested_operation", x.operation.definition.Name})
	default:
		return refused("TOKEN_INVALID", "Invalid confirmation token")
	}
}

// shown is a parameter's value as a confirmation message shows it. Sensitive values, and objects with something sensitive in
// them, are never shown.
func (x *exchange) shown(name string) (string, bool) {
	param, known := x.operation.definition.Param(name)
	if !known {
		return "", false
	}
	text, given := x.value(name)
	switch {
	case param.Sensitive:
		return "***", true
	case !given:
		return "", true
	case !strings.HasPrefix(text, `"`):
		if x.adapter.secretive(param, make(map[string]bool)) {
			w := wire.NewWriter(nil)
			x.writeShown(w, text, name)
			text = string(w.Bytes())
		}
		return words.Clip(text, longestValue), true
	}
	value, _ := wire.NewReader(text, wire.Limits{}).String()
	return words.Clip(value, longestValue), true
}

// longestValue bounds a value in a confirmation message, in characters.
const longestValue = 200

// redactedParams is a JSON object of the parameters for the record: sensitive values are hidden.
func (x *exchange) redactedParams() []byte {
	w := wire.NewWriter(nil)
	w.BeginObject()
	for i := range x.operation.definition.Params {
		param := &x.operation.definition.Params[i]
		text, given := x.value(param.Name)
		if !given {
			continue
		}
		w.KeyEscaped(param.Name)
		switch {
		case param.Sensitive:
			w.String("***")
		case x.operation.secretive:
			x.writeShown(w, text, param.Name)
		default:
			w.Raw(text)
		}
	}
	w.EndObject()
	return w.Bytes()
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
