// Package audit keeps a record of what was decided and done: denials, confirmations, what became of tokens, and every
// attempt at a destructive operation (MCP-AQL gatekeeper §5, danger levels §7.4, confirmation tokens §6.4). Records pass
// through a bounded queue to sinks. One of them is a file in which each line carries the hash of the one before, so that
// Verify finds what was changed, removed or added.
//
// # What the chain promises
//
// Without a key, a chain shows mistakes, damage, and changes by those who do not know of it: whoever may write the file
// can also compute it anew. With a key that they cannot read (FileOptions.Key) they cannot. In neither case does a file
// tell that records are missing at its end; for that, keep the last hash of a verified file somewhere else (Summary.Head)
// and ask for it later (VerifyOptions.Head).
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/go-json-experiment/json/jsontext"
)

// Event says what a record is about.
type Event string

// The events: those of gatekeeper §5 and confirmation tokens §6.4, and those that tell the rest of the story.
const (
	OperationAllowed     Event = "OPERATION_ALLOWED"
	OperationDenied      Event = "OPERATION_DENIED"
	ConfirmationRequired Event = "CONFIRMATION_REQUIRED"
	ConfirmationGranted  Event = "CONFIRMATION_GRANTED"
	TokenIssued          Event = "TOKEN_ISSUED"
	TokenValidated       Event = "TOKEN_VALIDATED"
	TokenRejected        Event = "TOKEN_REJECTED"
	TokenRevoked         Event = "TOKEN_REVOKED"
	OperationFinished    Event = "OPERATION_FINISHED"
	// RecordsDropped stands where a Log with the policy Drop had no room for records.
	RecordsDropped Event = "RECORDS_DROPPED"
)

// token reports whether e is an event of confirmation tokens §6.4, which has a name of its own for the reason.
func (e Event) token() bool {
	return e == TokenIssued || e == TokenValidated || e == TokenRejected || e == TokenRevoked
}

// Outcome is what was decided (allowed, confirmed, denied), or what came of it (success, failure).
type Outcome string

// The outcomes of danger levels §7.4 and confirmation tokens §6.4.
const (
	Allowed   Outcome = "allowed"
	Confirmed Outcome = "confirmed"
	Denied    Outcome = "denied"
	Success   Outcome = "success"
	Failure   Outcome = "failure"
)

// Record is one entry of the audit log. Fields that are empty do not appear in its JSON form, but for the operation, the
// danger level and the outcome.
type Record struct {
	Time time.Time // zero: Log.Write takes the clock's
	// ID tells records of one moment apart, and the same record in several sinks together; zero: Log.Write chooses one.
	ID        uint64
	Event     Event
	Adapter   string
	Operation string
	Endpoint  string
	// DangerLevel is the number of the operation's danger level, from 0, safe, to 4, forbidden.
	DangerLevel int
	Trust       string // the adapter's trust level; empty where trust is off
	Outcome     Outcome
	Reason      string
	Rule        string // the policy rule that decided
	TokenID     string // the beginning of a token's digest, never of the token
	Caller      identity.Caller
	SessionID   string
	RequestID   string
	// Parameters are those of the request as JSON, in which the caller has masked what is sensitive. They must not change
	// after they were given to a Log. What is longer than 64 KiB, or no JSON, is told by its length and SHA-256 only.
	Parameters json.RawMessage
	// Digest stands for parameters that are too long for a line. Log.Write puts it in their place.
	Digest  *Digest
	Dropped uint64 // how many records a record of RecordsDropped stands for
}

// Digest is what is told of parameters that cannot stand in a line.
type Digest struct {
	Bytes  int
	SHA256 [sha256.Size]byte
}

func digestOf(parameters []byte) *Digest {
	return &Digest{Bytes: len(parameters), SHA256: sha256.Sum256(parameters)}
}

// condense lets go of long parameters, so that a queue of records stays small.
func (r *Record) condense() {
	if len(r.Parameters) > maxParameters {
		r.Digest, r.Parameters = digestOf(r.Parameters), nil
	}
}

// Bounds that keep every line far below maxLine.
const (
	maxText       = 4 << 10
	maxParameters = 64 << 10
)

// timeLayout has a fixed width, so that lines sort by time and a reader finds it without parsing.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// opening begins every record's JSON form.
const opening = `{"timestamp":"`

// AppendJSON appends the record as one JSON object without line breaks and returns the extended buffer. The form is stable:
// the same record gives the same bytes. Texts longer than 4 KiB are cut.
func (r *Record) AppendJSON(dst []byte) []byte {
	return append(r.appendOpen(dst), '}')
}

// appendOpen appends the object without its closing brace.
func (r *Record) appendOpen(dst []byte) []byte {
	dst = append(dst, opening...)
	dst = timeOf(r.Time).AppendFormat(dst, timeLayout)
	dst = append(dst, `","event":`...)
	dst = appendText(dst, string(r.Event))
	if r.ID != 0 {
		dst = append(dst, `,"record_id":"`...)
		dst = appendID(dst, r.ID)
		dst = append(dst, '"')
	}
	dst = appendMember(dst, `,"adapter_name":`, r.Adapter)
	dst = append(dst, `,"operation":`...)
	dst = appendText(dst, r.Operation)
	dst = appendMember(dst, `,"endpoint":`, r.Endpoint)
	dst = append(dst, `,"danger_level":`...)
	dst = strconv.AppendInt(dst, int64(r.DangerLevel), 10)
	dst = appendMember(dst, `,"adapter_trust":`, r.Trust)
	dst = append(dst, `,"outcome":`...)
	dst = appendText(dst, string(r.Outcome))
	dst = appendMember(dst, `,"reason":`, r.reason(false))
	dst = appendMember(dst, `,"failure_reason":`, r.reason(true))
	dst = appendMember(dst, `,"rule":`, r.Rule)
	dst = appendMember(dst, `,"token_id":`, r.TokenID)
	dst = appendMember(dst, `,"request_id":`, r.RequestID)
	if r.SessionID != "" || !r.Caller.Anonymous() {
		dst = append(dst, `,"client_context":{`...)
		from := len(dst)
		dst = appendMember(dst, `,"session_id":`, r.SessionID)
		if !r.Caller.Anonymous() {
			dst = appendMember(dst, `,"user_id":`, r.Caller.Subject)
			dst = appendMember(dst, `,"issuer":`, r.Caller.Issuer)
		}
		dst = append(dst[:from], dst[from+1:]...) // the first comma
		dst = append(dst, '}')
	}
	dst = r.appendParameters(dst)
	if r.Dropped > 0 {
		dst = append(dst, `,"dropped":`...)
		dst = strconv.AppendUint(dst, r.Dropped, 10)
	}
	return dst
}

// reason is the reason where it bears the name that is asked for: failed tokens have another than everything else.
func (r *Record) reason(failure bool) string {
	if failure == (r.Event.token() && r.Outcome == Failure) {
		return r.Reason
	}
	return ""
}

// appendParameters appends the parameters, or what is told of them where they cannot stand in a line.
func (r *Record) appendParameters(dst []byte) []byte {
	digest := r.Digest
	if len(r.Parameters) == 0 && digest == nil {
		return dst
	}
	if digest == nil && len(r.Parameters) <= maxParameters {
		from := len(dst)
		dst = append(dst, `,"parameters":`...)
		if whole, err := jsontext.AppendFormat(dst, r.Parameters); err == nil {
			return whole
		}
		dst = dst[:from]
	}
	if digest == nil {
		digest = digestOf(r.Parameters)
	}
	dst = append(dst, `,"parameters_bytes":`...)
	dst = strconv.AppendInt(dst, int64(digest.Bytes), 10)
	dst = append(dst, `,"parameters_sha256":"`...)
	dst = hex.AppendEncode(dst, digest.SHA256[:])
	return append(dst, '"')
}

// timeOf is t in UTC, or the zero time where its year does not fit into four digits.
func timeOf(t time.Time) time.Time {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}
	}
	return t
}

func appendID(dst []byte, id uint64) []byte {
	var digits [8]byte
	for i := range digits {
		digits[i] = byte(id >> (56 - 8*i))
	}
	return hex.AppendEncode(dst, digits[:])
}

func appendMember(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendText(append(dst, name...), text)
}

// appendText appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendText(dst []byte, text string) []byte {
	if len(text) > maxText {
		cut := maxText
		for cut > maxText-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	dst, _ = jsontext.AppendQuote(dst, text) // its error says that there were such bytes
	return dst
}
