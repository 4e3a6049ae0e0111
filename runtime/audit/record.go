// Package audit records what an adapter decided and did: denials, confirmations, the use of tokens, and every attempt
// at a destructive or an EXECUTE operation (MCP-AQL gatekeeper §5, danger levels §7.4, confirmation tokens §6.4,
// CRUDE pattern §7.2). Records pass through a bounded queue to sinks:
//
//	file, err := audit.OpenFile(ctx, "audit.jsonl", audit.FileOptions{})
//	if err != nil {
//		return err
//	}
//	log := audit.New(audit.Options{Sinks: []audit.Sink{file, audit.Slog(logger)}, Wait: true})
//	defer log.Close(ctx)
//	adapter, err := aql.New(registry, aql.Options{Audit: log})
//
// In an audit file each line has the hash of the line before, so that Verify finds what was changed, removed or added.
//
// # What the chain of hashes proves
//
// Without a key, the chain shows mistakes, damage, and changes by those who do not know about it: whoever may write the
// file can also compute the hashes again. With a key that they cannot read (FileOptions.Key) they cannot. In neither
// case does a file show that records are missing at its end. For that, store the last hash of a verified file elsewhere
// (Summary.Head) and demand it later (VerifyOptions.Head).
package audit

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Event is what a record is about.
type Event string

// The events of MCP-AQL gatekeeper §5 and confirmation tokens §6.4, and more of the runtime's own.
const (
	OperationAllowed     Event = "OPERATION_ALLOWED"
	OperationDenied      Event = "OPERATION_DENIED"
	ConfirmationRequired Event = "CONFIRMATION_REQUIRED"
	ConfirmationGranted  Event = "CONFIRMATION_GRANTED"
	TokenIssued          Event = "TOKEN_ISSUED"
	TokenValidated       Event = "TOKEN_VALIDATED"
	TokenRejected        Event = "TOKEN_REJECTED"
	TokenRevoked         Event = "TOKEN_REVOKED"
	// ApprovalRequested, ApprovalGranted, ApprovalDenied and ApprovalUsed are about items of the inbox (package approve):
	// one was opened, a person voted for or against it or its approval was revoked, and a request used it up.
	ApprovalRequested Event = "APPROVAL_REQUESTED"
	ApprovalGranted   Event = "APPROVAL_GRANTED"
	ApprovalDenied    Event = "APPROVAL_DENIED"
	ApprovalUsed      Event = "APPROVAL_USED"
	// The challenges of agents that are held until a person has looked (package verify): one was opened, its code was
	// shown to a person, it was passed, it was tried in vain, and it has expired. AdminOverride is the record of a person
	// who has let an agent go on without its code.
	ChallengeOpened   Event = "CHALLENGE_OPENED"
	ChallengeShown    Event = "CHALLENGE_SHOWN"
	ChallengeVerified Event = "CHALLENGE_VERIFIED"
	ChallengeFailed   Event = "CHALLENGE_FAILED"
	ChallengeExpired  Event = "CHALLENGE_EXPIRED"
	AdminOverride     Event = "ADMIN_OVERRIDE"
	// RoleGiven, SessionsEnded and LinkUsed are about people who decide (packages operator and console): one is given a
	// role, or all sessions of one in consoles end, which are allowed before that is done, and one logs in to a console by
	// a link.
	RoleGiven     Event = "ROLE_GIVEN"
	SessionsEnded Event = "SESSIONS_ENDED"
	LinkUsed      Event = "LINK_USED"
	// The execution safety loop: an agent was started, what it has reported was evaluated, it was blocked, and no longer
	// is.
	AgentStarted      Event = "AGENT_STARTED"
	StepEvaluated     Event = "STEP_EVALUATED"
	AgentBlocked      Event = "AGENT_BLOCKED"
	AgentUnblocked    Event = "AGENT_UNBLOCKED"
	AgentEnded        Event = "AGENT_ENDED"
	OperationFinished Event = "OPERATION_FINISHED"
	// PasskeyRegistered and PasskeyRemoved are about a passkey of a person (package console), who gets one, or gives one
	// up: that is allowed before it is done.
	PasskeyRegistered Event = "PASSKEY_REGISTERED"
	PasskeyRemoved    Event = "PASSKEY_REMOVED"
	// RecordsDropped replaces the records that a Log with the option Drop had no space for.
	RecordsDropped Event = "RECORDS_DROPPED"
	// RefusalsCounted replaces the records of requests that were refused one after the other; see Log.WriteRefusal.
	RefusalsCounted Event = "REFUSALS_COUNTED"
	// FileClosed is the last record of a File that was rotated, and FileOpened the first of the next one.
	FileClosed Event = "FILE_CLOSED"
	FileOpened Event = "FILE_OPENED"
)

// token reports whether e is an event of MCP-AQL confirmation tokens §6.4, which names the reason of failures
// differently.
func (e Event) token() bool {
	return e == TokenIssued || e == TokenValidated || e == TokenRejected || e == TokenRevoked
}

// Outcome is a decision (allowed, confirmed, denied) or a result (success, failure).
type Outcome string

// The outcomes of MCP-AQL danger levels §7.4 and confirmation tokens §6.4.
const (
	Allowed   Outcome = "allowed"
	Confirmed Outcome = "confirmed"
	Denied    Outcome = "denied"
	Success   Outcome = "success"
	Failure   Outcome = "failure"
)

// Record is one entry of the audit log. The JSON form leaves out empty fields, except for the event, the operation, the
// danger level and the outcome.
type Record struct {
	Time time.Time // zero: Log.Write sets it
	// ID identifies the record among those of the same time, and in several sinks; zero: Log.Write chooses one.
	ID        uint64
	Event     Event
	Adapter   string
	Operation string
	Endpoint  string
	// DangerLevel is the number of the operation's danger level, from 0, safe, to 4, forbidden.
	DangerLevel int
	Trust       string // the adapter's trust level; empty if trust levels are not used
	Outcome     Outcome
	Reason      string
	Rule        string // the policy rule that decided
	TokenID     string // the first digits of a token's digest; not the token
	ApprovalID  string // of an item of the inbox
	ChallengeID string // of a challenge; not its code
	Agent       string // the name that the caller has given an agent
	Caller      identity.Caller
	SessionID   string
	RequestID   string
	// Parameters are the parameters of the request as JSON, with sensitive values masked by the caller of Log.Write. They
	// must not change after that call. If they are longer than 64 KiB, texts of more than 4 KiB in them are cut; every
	// other value is recorded. In the record of a request that was denied, these bounds are 2 KiB and 256 bytes, and if
	// more than 4 KiB remain, only length and SHA-256 are recorded, as of parameters that are not JSON.
	Parameters json.RawMessage
	// Identifiers are the names of parameters that say what the operation is about. They are never cut in a record of what
	// may run.
	Identifiers []string
	// Cuts are the values that were cut. Log.Write sets it.
	Cuts []Cut
	// Digest replaces parameters of which nothing else can be recorded. Log.Write sets it.
	Digest  *Digest
	Dropped uint64 // of RecordsDropped: how many records
	// Refused is what a record of RefusalsCounted is about.
	Refused *Refused
	// File is the number of the file that FileClosed and FileOpened are about, from 1. Oldest is the number of the oldest
	// file that is kept when it is opened.
	File, Oldest uint64
}

// maxText bounds the other texts of a record, in bytes.
const maxText = 4 << 10

// timeLayout has a fixed width, so that lines sort by time and a reader finds it without parsing.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// opening begins every record's JSON form.
const opening = `{"timestamp":"`

// AppendJSON appends the record as one JSON object without line breaks and returns the extended buffer. The form is
// stable: the same record gives the same bytes. Texts longer than 4 KiB are cut off.
func (r *Record) AppendJSON(dst []byte) []byte {
	return append(r.appendOpen(dst), '}')
}

// appendOpen appends the object without its closing brace.
func (r *Record) appendOpen(dst []byte) []byte {
	w := recordWriter{*wire.NewWriter(dst)}
	w.BeginObject()
	w.Key("timestamp")
	var stamp [len(timeLayout)]byte
	w.String(string(timeOf(r.Time).AppendFormat(stamp[:0], timeLayout)))
	w.text("event", string(r.Event))
	if r.ID != 0 {
		var id [8]byte
		binary.BigEndian.PutUint64(id[:], r.ID)
		w.text("record_id", hex.EncodeToString(id[:]))
	}
	w.optional("adapter_name", r.Adapter)
	w.text("operation", r.Operation)
	w.optional("endpoint", r.Endpoint)
	w.Key("danger_level")
	w.Int(int64(r.DangerLevel))
	w.optional("adapter_trust", r.Trust)
	w.text("outcome", string(r.Outcome))
	w.optional(r.reasonKey(), r.Reason)
	w.optional("rule", r.Rule)
	w.optional("token_id", r.TokenID)
	w.optional("approval_id", r.ApprovalID)
	w.optional("challenge_id", r.ChallengeID)
	w.optional("agent", r.Agent)
	w.optional("request_id", r.RequestID)
	if r.SessionID != "" || !r.Caller.Anonymous() {
		w.Key("client_context")
		w.BeginObject()
		w.optional("session_id", r.SessionID)
		if !r.Caller.Anonymous() {
			w.optional("user_id", r.Caller.Subject)
			w.optional("issuer", r.Caller.Issuer)
		}
		w.EndObject()
	}
	r.writeParameters(&w)
	if r.Dropped > 0 {
		w.Key("dropped")
		w.Uint(r.Dropped)
	}
	r.Refused.write(&w)
	if r.File > 0 {
		w.Key("file")
		w.Uint(r.File)
	}
	if r.Oldest > 0 {
		w.Key("oldest_file")
		w.Uint(r.Oldest)
	}
	return w.Bytes()
}

// reasonKey returns the name of the reason, which is another one for tokens that were refused.
func (r *Record) reasonKey() string {
	if r.Event.token() && r.Outcome == Failure {
		return "failure_reason"
	}
	return "reason"
}

// timeOf returns t in UTC, or the zero time if its year has more than four digits.
func timeOf(t time.Time) time.Time {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}
	}
	return t
}

// recordWriter writes the members of a record.
type recordWriter struct{ wire.Writer }

// optional writes a member unless its text is empty.
func (w *recordWriter) optional(name, text string) {
	if text != "" {
		w.text(name, text)
	}
}

// text writes a member, and cuts off a long text.
func (w *recordWriter) text(name, text string) {
	text = clip(text, maxText)
	w.Key(name)
	w.String(text)
}
