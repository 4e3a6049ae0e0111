package gate

import (
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Request is a validated request for Admit to decide on.
type Request struct {
	Operation *Operation
	Caller    identity.Caller
	Session   *Session
	RequestID string
	Endpoint  string
	Params    Params
	Presented Presented
	// Sealed is what Session.Seal returned for the token that a person was asked about, and Approved is the answer. They
	// replace a presented token.
	Sealed   string
	Approved bool
	// Typed is what that person has typed. It is the answer, in place of Approved, where the operation has people type.
	Typed string
	// CanAsk reports that the user of the client can be asked about the refusal. Without it no token is issued for what
	// only people can confirm.
	CanAsk bool
	// CanRefer reports that the user of the client can be referred to a page where the inbox is decided.
	CanRefer bool
}

// Params are the parameters of a request, after defaults.
type Params interface {
	// Value returns the JSON text of a parameter.
	Value(name string) (text string, given bool)
	// Seen returns the JSON text of the value that the handler sees, in its canonical form; see policy.Form.
	Seen(name string) (text string, given bool)
	// Plain returns the value of a text, number or boolean that the handler sees, as a person reads and types it. It is
	// empty if nobody can: if it is blank, long, or has blanks at its ends or characters that cannot be seen.
	Plain(name string) string
	// Canonical returns the canonical form of all parameters, which tokens are bound to.
	Canonical() []byte
	// Redacted returns all parameters as a JSON object in which sensitive values are hidden.
	Redacted() []byte
	// Asked returns the author's question to a person who is to confirm the request, and the parameters to show with it,
	// both without sensitive values.
	Asked() (message string, params []byte)
}

// Presented are the tokens in a request.
type Presented struct {
	Token        string
	Conflict     bool // the request has two different tokens of a kind
	Continuation string
}

// Reason is why a request was refused.
type Reason int

// The reasons.
const (
	DeniedByPolicy Reason = iota + 1
	DeniedByTrust         // by the gating matrix
	TrustTooLow           // for a required minimum, or for anything but introspection
	RateLimited
	QuotaPaused
	QuotaExhausted
	ConfirmationNeeded
	TokenRefused
	NotByHuman // a token in the request, where only the answer of a human counts
	Declined   // by a person; Item has the reason, if it was in the inbox
	// NobodyToAsk is the reason if only people can confirm the request, and it can reach none.
	NobodyToAsk
	// NothingToType is the reason if people cannot type the value that confirms the request.
	NothingToType
	ReauthenticationNeeded
	TooManyTokens
	TooManyWait // in the inbox
	Busy        // the store or the audit log has no time, and may have later
	Unavailable // the store or the audit log fails
)

// Refusal is the answer to a request that was refused.
type Refusal struct {
	Reason   Reason
	At       time.Time // of the decision, by the clock that tokens expire by
	Trust    trust.Ruling
	Level    trust.Level // of the adapter
	Rule     *policy.Rule
	Block    *meter.Block
	Ticket   Ticket        // for ConfirmationNeeded and QuotaPaused
	Wait     time.Duration // until the ticket is accepted, or the caller may try again
	Redeemed Redemption    // for TokenRefused
	Forged   bool          // for TokenRefused: Sealed is nothing that Session.Seal returned for the caller
	Item     *approve.Item // for ConfirmationNeeded, QuotaPaused and Declined: what waits in the inbox; nil: nothing
	Opened   bool          // for Item: this request opened it
	Mistyped bool          // for Declined: the person has typed something else than the value
	Personal bool          // for ConfirmationNeeded: only a person can confirm the request
	Named    bool          // for ConfirmationNeeded, of Judge: people confirm this request by itself, in the inbox
	Err      error         // for the log, if Busy or Unavailable
	Spent    bool          // for both: a token of the request is, or may be, used up
}

// Pass is the answer to a request that was admitted.
type Pass struct {
	Warnings  []meter.Warning
	Confirmed bool
	Rule      *policy.Rule // of the policy, that was decided by; nil: none
	taken     meter.Taken
	recorded  bool
}

// Used yields each quota that counts the request, and the share of it that is used; see meter.Taken.
func (p *Pass) Used(yield func(quota.Metric, float64) bool) { p.taken.Used(yield) }
