package aql

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gate"
	"github.com/aqltag/aqltag/runtime/wire"
)

// confirm lets an operation of level destructive or above pass only with a confirmation token for exactly this request
// (requirements REQ-CT-03…REQ-CT-06, T-50). Every attempt is logged, whatever comes of it (REQ-DL-05).
func (x *exchange) confirm(ctx context.Context) *Error {
	o := x.operation
	if o.definition.Danger.Level() < gateLevel {
		return nil
	}
	if !o.gated {
		x.logAttempt(ctx, "allowed")
		return nil
	}
	binding := gate.Binding{Operation: o.definition.Name, Params: gate.Hash(x.canonicalParams())}
	now := x.session.now()
	token := x.presented.token
	switch {
	case x.presented.conflict:
		x.logAttempt(ctx, "denied")
		return tokenFailure("TOKEN_INVALID", "Invalid confirmation token", token)
	case token == "":
		x.logAttempt(ctx, "confirmation required")
		return x.confirmationRequired(x.session.tokens.Issue(binding, o.definition.Danger, now))
	}
	redeemed := x.session.tokens.Redeem(token, binding, now)
	if redeemed.Verdict == gate.Accepted {
		x.logAttempt(ctx, "confirmed")
		return nil
	}
	x.logAttempt(ctx, "denied")
	switch redeemed.Verdict {
	case gate.Expired:
		return tokenFailure("TOKEN_EXPIRED", "Confirmation token has expired", token,
			detail{"expired_at", timestamp(redeemed.ExpiredAt)}, detail{"current_time", timestamp(now)})
	case gate.AlreadyUsed:
		return tokenFailure("TOKEN_ALREADY_USED", "Confirmation token has already been used", token,
			detail{"consumed_at", timestamp(redeemed.ConsumedAt)})
	case gate.ScopeMismatch:
		return tokenFailure("TOKEN_SCOPE_MISMATCH", "Confirmation token scope mismatch", token,
			detail{"token_operation", redeemed.Operation}, detail{"requested_operation", binding.Operation})
	default:
		return tokenFailure("TOKEN_INVALID", "Invalid confirmation token", token)
	}
}

// codeConfirm asks for a confirmation.
const codeConfirm = "CONFIRMATION_REQUIRED"

func (x *exchange) confirmationRequired(ticket gate.Ticket) *Error {
	definition := &x.operation.definition
	details := []detail{{"operation", definition.Name}, {"danger_level", string(definition.Danger)}}
	if len(definition.Reasons) > 0 {
		details = append(details, detail{"reasons", definition.Reasons})
	}
	if definition.Confirm != "" {
		details = append(details, detail{"confirmation_message", gate.Interpolate(definition.Confirm, x.shown)})
	}
	return failure(codeConfirm, "This operation requires confirmation", append(details,
		detail{"confirmation_token", ticket.Token}, detail{"expires_at", timestamp(ticket.Expires)})...)
}

// shown is a parameter's value as a confirmation message shows it. Sensitive values are never shown.
func (x *exchange) shown(name string) (string, bool) {
	param, known := x.operation.definition.Param(name)
	if !known {
		return "", false
	}
	if param.Sensitive {
		return "***", true
	}
	text, given := x.value(name)
	if !given {
		return "", true
	}
	if !strings.HasPrefix(text, `"`) {
		return text, true
	}
	value, _ := wire.NewReader(text, wire.Limits{}).String()
	return value, true
}

// logAttempt records what came of an attempt at a destructive operation. Neither the token nor any value is written.
func (x *exchange) logAttempt(ctx context.Context, outcome string) {
	definition := &x.operation.definition
	x.adapter.log.LogAttrs(ctx, slog.LevelInfo, "destructive operation",
		slog.String("operation", definition.Name),
		slog.String("danger_level", string(definition.Danger)),
		slog.String("outcome", outcome),
		slog.String("session_id", x.session.id))
}

// tokenFailure names the token that was presented, cut to the length a token can have.
func tokenFailure(code, message, token string, details ...detail) *Error {
	const longest = 80
	token = strings.ToValidUTF8(token[:min(len(token), longest)], "")
	return failure(code, message, append([]detail{{"token", strings.Clone(token)}}, details...)...)
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
