package approve

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Kind is what an item is about.
type Kind string

// The kinds of items.
const (
	Confirmation Kind = "confirmation" // a request that requires confirmation
	Continuation Kind = "quota"        // going on after a quota has reached its pause threshold
	Enquiry      Kind = "question"     // what an execution asks before it goes on
	Step         Kind = "step"         // what an agent will do next, or that it goes on at all
	// Pause and Block are about an agent that is held until somebody has looked: see package verify. To approve one is to
	// lift it. It cannot be denied.
	Pause Kind = "verify" // of one execution
	Block Kind = "block"  // of the agent, in all its executions
)

// State is how far an item has come.
type State string

// The states of items. An open item becomes approved, denied or expired, and an approved one used, denied or
// expired.
const (
	Open     State = "open"
	Approved State = "approved"
	Denied   State = "denied"
	Used     State = "used"
	Expired  State = "expired"
)

// Item is one thing that waits, or waited, for a person to decide.
type Item struct {
	ID        string          `json:"id"`
	Kind      Kind            `json:"kind"`
	Adapter   string          `json:"adapter"`
	Operation string          `json:"operation"` // of a Continuation: the one whose call met the pause
	Danger    gen.Danger      `json:"danger_level"`
	Caller    identity.Caller `json:"caller"` // who asks, or whose agent is held
	Agent     string          `json:"agent,omitempty"`
	// Execution is the one that asks, and goes on when there is a decision, or that is paused.
	Execution string   `json:"execution,omitempty"`
	Challenge string   `json:"challenge_id,omitempty"` // of a Pause or a Block
	Rule      string   `json:"rule,omitempty"`
	Message   string   `json:"message,omitempty"`
	Reasons   []string `json:"reasons,omitempty"`
	// Params is a JSON object. In place of a long value it has a text with the beginning and the end of that, and between
	// them how much is left out: … (69502 bytes left out) …
	Params string `json:"params,omitempty"`
	// Whole is the size of all parameters as JSON, in bytes, if Params leaves out parts of them; zero: it does not.
	Whole  int       `json:"whole,omitempty"`
	State  State     `json:"state"`
	Needs  Needs     `json:"needs,omitzero"`
	Typing Typing    `json:"typing,omitzero"`
	Votes  []Vote    `json:"votes,omitempty"`
	Opened time.Time `json:"opened"`
	Ready  time.Time `json:"ready,omitzero"` // before this time it cannot be approved
	// Expires is until when an open item can be decided, an approved one used, and a denied one is remembered. An Enquiry
	// that was decided in time does not expire, and a Block has none.
	Expires  time.Time     `json:"expires,omitzero"`
	Lifetime time.Duration `json:"lifetime,omitzero"`
	UsedAt   time.Time     `json:"used_at,omitzero"`

	key     string
	version store.Version
}

// Needs are the conditions of an approval. The zero value needs one vote of anybody.
type Needs struct {
	// Factors must all be met. One vote may count for several of them.
	Factors []Factor `json:"factors,omitempty"`
	// NotRequester refuses the approval of the caller who asks: of the same subject and issuer, at a Terminal and in
	// a Console of the same subject.
	NotRequester bool `json:"not_requester,omitempty"`
	// Reason requires a reason of each vote.
	Reason bool `json:"reason,omitempty"`
	// Reauthenticate requires of each approval that the person has shown anew who it is: see Vote.Authenticated.
	Reauthenticate bool `json:"reauthenticate,omitempty"`
}

// equal reports whether two approvals have the same conditions, in the same order.
func (n *Needs) equal(other *Needs) bool {
	return n.NotRequester == other.NotRequester && n.Reason == other.Reason &&
		n.Reauthenticate == other.Reauthenticate &&
		slices.EqualFunc(n.Factors, other.Factors, func(one, two Factor) bool {
			return one.Count == two.Count && slices.Equal(one.Groups, two.Groups)
		})
}

// Factor requires votes of several people.
type Factor struct {
	Count  int      `json:"count"`            // how many people; less than one counts as one
	Groups []string `json:"groups,omitempty"` // of which each of them must be in one; empty: anybody
}

// Vote is the decision of one person.
type Vote struct {
	By identity.Caller `json:"by"`
	// Name is for people to read beside By; empty: there is none. It identifies nobody.
	Name    string   `json:"name,omitempty"`
	Groups  []string `json:"groups,omitempty"` // in which the person is, as the channel has verified
	Channel string   `json:"channel"`          // where the person was asked, such as Terminal
	Approve bool     `json:"approve"`
	Reason  string   `json:"reason,omitempty"` // a denied agent is told it
	Typed   string   `json:"-"`                // for an approval: see Typing
	// Authenticated says that the person has shown who it is for this approval, such as by a passphrase, as the channel
	// has verified. To be logged in is not enough.
	Authenticated bool `json:"authenticated,omitempty"`
	// Revision is the Revision of the item that the person has judged; empty: whatever it is.
	Revision string    `json:"-"`
	At       time.Time `json:"at"`
}

// Terminal is the channel of votes at a terminal, and Console that of votes in a browser (package console). Both have
// the names of people from the operating system.
const (
	Terminal = "terminal"
	Console  = "console"
)

// of reports whether the vote is of a caller. The operating system and the issuers of tokens name people apart from
// each other, so where the operating system does, the same name is taken for the same person, whatever its letters are,
// small or capital.
func (v *Vote) of(caller identity.Caller) bool {
	return v.By.Key() == caller.Key() ||
		(v.Channel == Terminal || v.Channel == Console) && strings.EqualFold(v.By.Subject, caller.Subject)
}

// ofSame reports whether two votes are of one person.
func (v *Vote) ofSame(other *Vote) bool { return v.of(other.By) || other.of(v.By) }

// Why a vote does not count, or an item cannot be used.
var (
	ErrUnknown     = errors.New("there is no such item; it may have expired, or its execution has ended")
	ErrDecided     = errors.New("the item is decided already")
	ErrExpired     = errors.New("the item has expired; the agent has to ask again")
	ErrChanged     = errors.New("the item has changed since you looked at it")
	ErrTooEarly    = errors.New("the item cannot be approved yet")
	ErrRequester   = errors.New("who asks cannot approve this item")
	ErrNotApprover = errors.New("only members of certain groups can decide about this item")
	ErrVoted       = errors.New("you have approved this item already; it needs somebody else as well")
	ErrNoReason    = errors.New("this item needs a reason")
	ErrMistyped    = errors.New("what you typed is not the value that approves this item")
	ErrNotAnew     = errors.New("who approves this item shows anew who it is, and that was not done")
	ErrLongReason  = errors.New("the reason is longer than 500 bytes")
	ErrHeld        = errors.New("nobody denies what holds an agent: it stays until it is lifted or expires")
	ErrNotApproved = errors.New("the item is not approved, or its approval was used up")
	ErrTooMany     = errors.New("too many items of the caller wait for a decision")
)

// UnreadableError is the error of an inbox that has entries besides its items that cannot be read.
type UnreadableError struct{ Entries int }

func (e *UnreadableError) Error() string {
	what := "1 entry of the inbox cannot be read: it was"
	if e.Entries != 1 {
		what = fmt.Sprintf("%d entries of the inbox cannot be read: they were", e.Entries)
	}
	return what + " written with another state key or with none, or by a later version, or changed"
}

// idPrefix begins the ID of an item. Behind it is what rand.Text returns.
const idPrefix = "ask_"

// TooManyError is the error ErrTooMany, and until when the caller need not ask again.
type TooManyError struct{ Until time.Time }

func (e *TooManyError) Error() string { return ErrTooMany.Error() }

func (e *TooManyError) Unwrap() error { return ErrTooMany }

// longestReason bounds the reason of a vote, in bytes.
const longestReason = 500

// wellFormed reports whether an item from a store has the forms of one that an inbox has put there. Who can write the
// store can put there what looks like one.
func (i *Item) wellFormed() bool {
	return isID(i.ID) && i.hasItsVotes() &&
		(i.Kind == Confirmation || i.Kind == Continuation || i.Kind == Enquiry || i.Kind == Step) &&
		(i.State == Open || i.State == Approved || i.State == Denied || i.State == Used) &&
		!i.Opened.IsZero() && !i.Expires.IsZero() && i.Lifetime > 0
}

// hasItsVotes reports whether the item has the votes that lead to its state.
func (i *Item) hasItsVotes() bool {
	if i.State == Approved || i.State == Used {
		return i.Denial() == nil && len(i.Missing()) == 0
	}
	return (i.State == Denied) == (i.Denial() != nil)
}

// isID reports whether a text has the form of an item's ID.
func isID(text string) bool {
	random, ok := strings.CutPrefix(text, idPrefix)
	return ok && len(random) >= 26 && len(random) <= 64 && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// StateAt returns the state of the item at a time.
func (i *Item) StateAt(now time.Time) State {
	if i.State != Used && !i.awaited() && !i.Expires.IsZero() && !now.Before(i.Expires) {
		return Expired
	}
	return i.State
}

// awaited reports whether an execution goes on with the decision, however late: it may be that no process runs it.
func (i *Item) awaited() bool { return i.Kind == Enquiry && i.State != Open }

// Missing returns how many more votes each factor needs; empty: none. Without factors, one vote is needed.
func (i *Item) Missing() []Factor {
	factors := i.Needs.Factors
	if len(factors) == 0 {
		factors = []Factor{{Count: 1}}
	}
	var missing []Factor
	for _, factor := range factors {
		count := max(factor.Count, 1)
		for _, vote := range i.Votes {
			if vote.Approve && factor.counts(&vote) && (vote.Authenticated || !i.Needs.Reauthenticate) {
				count--
			}
		}
		if count > 0 {
			missing = append(missing, Factor{Count: count, Groups: factor.Groups})
		}
	}
	return missing
}

// counts reports whether a vote is of somebody whom the factor requires.
func (f *Factor) counts(v *Vote) bool {
	return len(f.Groups) == 0 || slices.ContainsFunc(v.Groups, func(group string) bool {
		return slices.Contains(f.Groups, group)
	})
}

// Denial returns the vote that denied the item; nil: none did.
func (i *Item) Denial() *Vote {
	for k := range i.Votes {
		if !i.Votes[k].Approve {
			return &i.Votes[k]
		}
	}
	return nil
}

// votedAt returns when a vote was given: not before there was the item, whatever the clock of its channel says.
func (i *Item) votedAt(v *Vote) time.Time {
	if v.At.Before(i.Opened) {
		return i.Opened
	}
	return v.At.UTC()
}

// Refuses returns why a vote of this person does not count at this time, as one of the errors of this package;
// nil: it counts, once Reason, Typed and Authenticated are as the item needs them, which are not looked at.
func (i *Item) Refuses(v Vote) error {
	v.At = i.votedAt(&v)
	switch i.StateAt(v.At) {
	case Open:
	case Expired:
		return ErrExpired
	case Approved:
		if v.Approve {
			return ErrDecided
		}
	default:
		return ErrDecided
	}
	own := v.of(i.Caller)
	serves := len(i.Needs.Factors) == 0 ||
		slices.ContainsFunc(i.Needs.Factors, func(f Factor) bool { return f.counts(&v) })
	switch {
	case v.Approve && own && i.Needs.NotRequester:
		return ErrRequester
	case !serves && (v.Approve || !own): // who asks may always withdraw
		return ErrNotApprover
	case v.Approve && v.At.Before(i.Ready):
		return ErrTooEarly
	case v.Approve && slices.ContainsFunc(i.Votes, func(other Vote) bool { return other.ofSame(&v) }):
		return ErrVoted
	}
	return nil
}

// Decide adds a vote to the item, if it counts; otherwise it fails with one of the errors of this package. The item is
// changed, and not where it was read from.
func (i *Item) Decide(v Vote) error {
	if err := i.Refuses(v); err != nil {
		return err
	}
	if v.Revision != "" && v.Revision != i.Revision() {
		return ErrChanged
	}
	v.At, v.Reason = i.votedAt(&v), strings.ToValidUTF8(strings.TrimSpace(v.Reason), "�")
	switch {
	case len(v.Reason) > longestReason:
		return ErrLongReason
	case i.Needs.Reason && v.Reason == "":
		return ErrNoReason
	case v.Approve && i.Needs.Reauthenticate && !v.Authenticated:
		return ErrNotAnew
	case v.Approve && !i.Typing.Accepts(v.Typed):
		return ErrMistyped
	}
	i.Votes = append(slices.Clone(i.Votes), v)
	switch {
	case !v.Approve:
		i.State = Denied
	case len(i.Missing()) == 0:
		i.State = Approved
	default:
		return nil
	}
	if i.Kind != Enquiry {
		i.Expires = v.At.Add(i.Lifetime)
	}
	return nil
}
