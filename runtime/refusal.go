package aql

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/aqltag/aqltag/runtime/words"
)

// codeConfirm requires a confirmation.
const codeConfirm Code = "CONFIRMATION_REQUIRED"

// askTheUser tells an agent what to do with a confirmation token.
const askTheUser = "Ask the user. If they agree, send the same request again with this confirmation_token " +
	"in its params."

// What an agent can do about the pause of a quota that no operator is asked about: with a token, and without one.
const (
	continueWithToken = "Ask the user. If they agree to go on, send the same request again with this confirmation_token " +
		"as _quota_continue in its params."
	nobodyLifts = "Nobody can be asked here whether calls go on: wait until the quota resets. Tell the user this: who " +
		"runs the adapter has to start it with -state, and its program needs Operator, so an operator can lift the pause."
	pausedInBatch = "The user is not asked within a batch whether calls go on: send this as a request of its own."
	namelessPause = "People can be asked about callers with a name or a connection alone, and this one has neither: " +
		"wait until the quota resets, or call with a name."
)

// What an agent sends in place of a request whose token was refused.
const (
	withoutToken = "Send the request again without the token. The answer says how to confirm it."
	usedToken    = "A token is good for one request. " + withoutToken
	otherToken   = "A token is good for the operation and params of the request whose answer had it. " + withoutToken
	unknownToken = "Either send the token as the answer had it, with the same params, or none. " + withoutToken
)

// askedOperator and sendAgain tell an agent what to do about a request that waits in the inbox.
const (
	askedOperator = "An operator has been asked to approve this operation. Nothing has run yet."
	sendAgain     = "Tell the user that an operator must approve this. Send exactly the same request again later: " +
		"it runs once it is approved."

	askedInBatch = "An operator has been asked to approve this operation, which has not run yet."
	sendRest     = "Tell the user that an operator must approve this. Send this operation again later, and those of " +
		"pending_operations if there are any, but not what has run already: it runs once it is approved."
)

// pollAfter is how many seconds an agent waits before it asks about a waiting request again.
const pollAfter = 5

// tooManyWait is the message of a request for which the inbox has no room.
const tooManyWait = "Too many requests already wait for people, so this one cannot, and nothing has run. " +
	"Tell the user this: an operator makes room by deciding about them, with 'operator list', 'operator approve' and " +
	"'operator deny'. Otherwise they expire: send the request again then."

// onlyHuman says why a token that an agent presents is refused.
const onlyHuman = "needs the answer of the user, and a token in a request is none"

// stateBusy is the message of a request that the state had no time for.
const stateBusy = "The state of this adapter is busy, so the operation was not run. Try again."

// stateUnavailable is the description of a request that the state could not answer.
const stateUnavailable = "state is unavailable, so the operation was not run; try again later"

// The descriptions of requests for which the state had no time, or that it could not answer, when their tokens were
// consumed already, or may have been.
const (
	spentBusy        = "The state of this adapter is busy, so the operation was not run. The " + spent + "."
	spentUnavailable = "state is unavailable, so the operation was not run; the " + spent + ", later"
	spentNoTurn      = "busy: an earlier operation has not ended, so the operation was not run; the " + spent + ", later"

	spent = "confirmation may be used up: make the request again without a token"
)

// refusal is a request that the gate has refused, on its way to the agent.
type refusal struct {
	*gate.Refusal
	request   *request
	caller    Caller // who is asked about; needed where the refusal has a question
	now       time.Time
	humanOnly bool // agents are given no tokens
	inBatch   bool // humans are not asked about it
	refers    bool // humans are referred to the inbox
	hasInbox  bool
	asksAlone bool // in a batch: humans would be asked about the request alone

	asked gate.Params // what humans are asked about in place of the parameters; nil: about these
}

// about returns the author's question, and the parameters that a human is shown.
func (r *refusal) about() (message string, params []byte) {
	if r.asked != nil {
		return r.asked.Asked()
	}
	return r.request.Asked()
}

// explain returns what the agent learns of a refusal, and what a human can be asked instead; nil: nothing. A refusal
// for the reason gate.Unavailable is not one of the request and has no explanation here.
func (r *refusal) explain() (*Error, *Question) {
	definition := &r.request.operation.definition
	name, level := definition.Name, string(definition.Danger)
	switch r.Reason {
	case gate.ConfirmationNeeded:
		return r.confirmationRequired()
	case gate.QuotaPaused:
		return r.quotaPaused()
	case gate.DeniedByPolicy:
		reason := cmp.Or(r.ruleReason(),
			"the policy of this adapter does not allow this operation with these parameters")
		return r.denied(reason), nil
	case gate.DeniedByTrust:
		details := []detail{
			{"operation", name}, {"danger_level", level},
			{"adapter_trust", string(r.Level)}, {"minimum_trust_required", string(r.Trust.Required)},
		}
		if len(definition.Reasons) > 0 {
			details = append(details, detail{"reasons", definition.Reasons})
		}
		return failure("PERMISSION_DANGER_LEVEL_DENIED",
			"Operation '"+name+"' (danger: "+level+") denied for adapter trust level '"+string(r.Level)+"'", details...), nil
	case gate.TrustTooLow:
		return trustTooLow(name, r.Trust.Required, r.Level, definition.Danger.Level()), nil
	case gate.RateLimited:
		b := r.Block
		return failure(CodeRateLimitExceeded, "API rate limit exceeded",
			detail{"limit", int(b.Limit.Limit)}, detail{"remaining", int(b.Remaining)}, detail{"window", string(b.Limit.Window)},
			detail{"resets_at", timestamp(b.Resets)}, detail{"retry_after_seconds", r.secondsUntil(b.Resets)}), nil
	case gate.QuotaExhausted:
		resets := r.Block.Resets
		return failure("RATE_LIMIT_QUOTA_EXHAUSTED", "Quota exhausted", append(quotaDetails(r.Block, false),
			detail{"resets_at", timestamp(resets)}, detail{"retry_after_seconds", r.secondsUntil(resets)})...), nil
	case gate.TokenRefused:
		return r.tokenRefused(), nil
	case gate.NotByHuman:
		return r.denied("this operation " + onlyHuman + "; leave out the token of the request"), nil
	case gate.Declined:
		return r.declined(), nil
	case gate.NobodyToAsk:
		return r.unasked(), nil
	case gate.NothingToType:
		return r.denied("this operation runs after a person has typed the value of \"" + definition.TypeToConfirm +
			"\", and nobody can type the one of this request: it is blank or long, or it has blanks before or after it, or " +
			"hidden characters"), nil
	case gate.ReauthenticationNeeded:
		return r.denied("this operation needs a fresh authentication of the caller, which did not succeed"), nil
	case gate.Busy:
		message := stateBusy
		if r.Spent {
			message = spentBusy
		}
		return failure(CodeRateLimitExceeded, message,
			detail{"operation", name}, detail{"retry_after_seconds", int(r.Wait / time.Second)}), nil
	case gate.TooManyTokens:
		return failure(CodeRateLimitExceeded, "Too many confirmations were asked for or failed. Wait before asking again.",
			detail{"operation", name}, detail{"retry_after_seconds", int(r.Wait / time.Second)}), nil
	case gate.TooManyWait:
		return failure(CodeRateLimitExceeded, tooManyWait,
			detail{"operation", name}, detail{"retry_after_seconds", int(r.Wait / time.Second)}), nil
	default:
		return internal("unexpected failure"), nil
	}
}

func (r *refusal) denied(reason string) *Error {
	return Denied(reason).WithDetail("operation", r.request.operation.definition.Name)
}

// ruleReason is the reason that the rule of the policy gives the agent; empty where it must not be shown.
func (r *refusal) ruleReason() string {
	if r.Rule == nil {
		return ""
	}
	if _, part := words.Leak(r.Rule.Reason); part != "" {
		return ""
	}
	return r.Rule.Reason
}

func trustTooLow(operation string, required, actual trust.Level, level int) *Error {
	return failure("PERMISSION_TRUST_LEVEL_INSUFFICIENT",
		"Operation '"+operation+"' requires trust level '"+string(required)+"', adapter has '"+string(actual)+"'",
		detail{"operation", operation}, detail{"required_trust", string(required)}, detail{"actual_trust", string(actual)},
		detail{"danger_level", level})
}

func (r *refusal) quotaPaused() (*Error, *Question) {
	details := quotaDetails(r.Block, true)
	if r.Item != nil {
		details = append(details, r.waiting()...)
		return failure("RATE_LIMIT_QUOTA_PAUSE",
			"Quota pause threshold reached. An operator has been asked whether to continue.", details...), nil
	}
	if r.humanOnly {
		details = append(details, detail{"hint", r.lifted()})
	} else {
		details = append(details, detail{"confirmation_token", r.Ticket.Token},
			detail{"expires_at", timestamp(r.Ticket.Expires)}, detail{"hint", continueWithToken})
	}
	var question *Question
	if r.Ticket.Token != "" {
		question = r.question(gate.Continue(r.Block, r.caller), []byte("{}"), nil)
	}
	if question != nil {
		question.Continues = true
	}
	return failure("RATE_LIMIT_QUOTA_PAUSE", "Quota pause threshold reached", details...), question
}

// lifted says how the pause of a quota ends that only a person lifts, where no operator was asked.
func (r *refusal) lifted() string {
	switch {
	case r.asksAlone:
		return pausedInBatch
	case r.hasInbox:
		return namelessPause
	}
	return nobodyLifts
}

func (r *refusal) confirmationRequired() (*Error, *Question) {
	definition := &r.request.operation.definition
	details := []detail{{"operation", definition.Name}, {"danger_level", string(definition.Danger)}}
	reasons := definition.Reasons
	if reason := r.ruleReason(); reason != "" {
		reasons = append(reasons[:len(reasons):len(reasons)], reason)
	}
	if len(reasons) > 0 {
		details = append(details, detail{"reasons", reasons})
	}
	message, params := r.about()
	if message != "" {
		details = append(details, detail{"confirmation_message", message})
	}
	if r.Item != nil {
		asked := askedOperator
		if r.inBatch {
			asked = askedInBatch
		}
		return failure(codeConfirm, asked, append(details, r.waiting()...)...), r.referral(message, params, reasons)
	}
	question := r.question(message, params, reasons)
	if typed := definition.TypeToConfirm; typed != "" && question != nil {
		question.Typing = approve.Typing{Param: typed, Value: r.request.Plain(typed)}
	}
	if r.Personal || r.humanOnly {
		return r.denied("this operation needs the approval of the user"), question
	}
	details = append(details, detail{"confirmation_token", strings.Clone(r.Ticket.Token)},
		detail{"expires_at", timestamp(r.Ticket.Expires)})
	if r.Wait > 0 {
		details = append(details, detail{"retry_after_seconds", int(math.Ceil(r.Wait.Seconds()))})
	}
	details = append(details, detail{"hint", askTheUser})
	return failure(codeConfirm, "This operation requires confirmation", details...), question
}

// unasked says why no person can approve of the request, and who can change that.
func (r *refusal) unasked() *Error {
	const reason = "this operation runs after a person has approved it, and "
	switch {
	case r.asksAlone:
		return r.denied(reason + "the user is not asked within a batch; send it as a request of its own")
	case r.hasInbox:
		return r.denied(reason + "people can be asked about callers with a name or a connection alone, to which an " +
			"approval is bound; this one has neither")
	}
	return r.denied(reason + "nobody can be asked here: the client does not ask its user, and requests cannot wait for " +
		"an operator. Tell the user this: who runs the adapter has to start it with -state, and its program needs Operator")
}

// referral is what a human can be told who is referred to the inbox; nil: nobody is.
func (r *refusal) referral(message string, params []byte, reasons []string) *Question {
	if !r.refers {
		return nil
	}
	question := r.question(message, params, reasons)
	if question != nil {
		question.Approval, question.Expires = r.Item.ID, r.Item.Expires
	}
	return question
}

// waiting tells of the item in the inbox that a request waits for.
func (r *refusal) waiting() []detail {
	after := max(pollAfter, r.secondsUntil(r.Item.Ready))
	hint := sendAgain
	if r.inBatch {
		hint = sendRest
	}
	return []detail{
		{"approval_id", r.Item.ID}, {"expires_at", timestamp(r.Item.Expires)}, {"retry_after_seconds", after},
		{"hint", hint},
	}
}

// declined says that a person did not approve, and the reason that an operator gave.
func (r *refusal) declined() *Error {
	if r.Mistyped {
		return r.denied("the user was asked to type the value of \"" + r.request.operation.definition.TypeToConfirm +
			"\", and typed something else, so nothing was run; tell them, and send the request again only if they want that")
	}
	if r.Item == nil {
		return r.denied("the user was asked and did not approve")
	}
	said := ""
	if denial := r.Item.Denial(); denial != nil {
		said = words.Printable(denial.Reason)
	}
	if _, part := words.Leak(said); part != "" {
		said = ""
	}
	reason := "an operator was asked and did not approve"
	if said != "" {
		reason += ": " + said
	}
	return r.denied(reason).WithDetail("approval_id", r.Item.ID)
}

// question is what a human can be asked. The items of a batch are not asked about one by one.
func (r *refusal) question(message string, params []byte, reasons []string) *Question {
	if r.inBatch {
		return nil
	}
	definition := &r.request.operation.definition
	return &Question{
		Operation: definition.Name, DangerLevel: string(definition.Danger), Message: message, Reasons: reasons,
		Params: string(params),
		token:  strings.Clone(r.Ticket.Token), Expires: r.Ticket.Expires, Wait: r.Wait,
	}
}

// tokenRefused names the token that was presented, cut to the length that a token can have.
func (r *refusal) tokenRefused() *Error {
	const longest = 80
	token := cmp.Or(r.request.tokens.Token, r.request.tokens.Continuation)
	token = strings.Clone(strings.ToValidUTF8(token[:min(len(token), longest)], ""))
	refused := func(code Code, message, hint string, details ...detail) *Error {
		return failure(code, message, append(append([]detail{{"token", token}}, details...), detail{"hint", hint})...)
	}
	switch r.Redeemed.Verdict {
	case gate.Expired:
		return refused("TOKEN_EXPIRED", "Confirmation token has expired", withoutToken,
			detail{"expired_at", timestamp(r.Redeemed.Expires)}, detail{"current_time", timestamp(r.now)})
	case gate.AlreadyUsed:
		return refused("TOKEN_ALREADY_USED", "Confirmation token has already been used", usedToken,
			detail{"consumed_at", timestamp(r.Redeemed.ConsumedAt)})
	case gate.ScopeMismatch:
		return refused("TOKEN_SCOPE_MISMATCH", "Confirmation token scope mismatch", otherToken,
			detail{"token_operation", r.Redeemed.Operation}, detail{"requested_operation", r.request.operation.definition.Name})
	default:
		return refused("TOKEN_INVALID", "Invalid confirmation token", unknownToken)
	}
}

// secondsUntil is the time until t in whole seconds, rounded up.
func (r *refusal) secondsUntil(t time.Time) int {
	return max(int(math.Ceil(t.Sub(r.now).Seconds())), 1)
}

func quotaDetails(b *meter.Block, pauses bool) []detail {
	details := []detail{{"metric", string(b.Quota.Metric)}, {"current", b.Current}}
	if pauses {
		details = append(details, detail{"pause_threshold", b.Quota.Pause})
	}
	if b.Quota.HardStop > 0 {
		details = append(details, detail{"hard_stop_threshold", b.Quota.HardStop})
	}
	return details
}

func quotaWarning(w *meter.Warning) Warning {
	q := w.Quota
	details := []detail{{"metric", string(q.Metric)}, {"current", w.Current}, {"warn_threshold", q.Warn}}
	highest := q.Warn
	if q.Pause > 0 {
		highest = q.Pause
		details = append(details, detail{"pause_threshold", q.Pause})
	}
	if q.HardStop > 0 {
		highest = q.HardStop
		details = append(details, detail{"hard_stop_threshold", q.HardStop})
	}
	severity := SeverityMedium
	if w.Current > 0.9*highest {
		severity = SeverityHigh
	}
	return Warning{
		Code: "RATE_LIMIT_QUOTA_WARNING", Message: "Approaching quota limit", Severity: severity, details: details,
	}
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
