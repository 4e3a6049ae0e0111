// Package approve is the inbox of an adapter: what waits for a person to decide. An adapter with an inbox does not need
// a client that can ask its user:
//
//	aql.Options{
//		State:        state, // which the people who decide open, too
//		Confirmation: aql.Confirmation{HumanOnly: true, Inbox: approve.New},
//	}
//
// A request that requires confirmation is then answered with CONFIRMATION_REQUIRED and the id of an Item. People decide
// about items in other processes that share the state: package operator is the command for that, and Inbox what other
// programs are made with. When the item is approved, the agent sends the same request again, and it runs, once. No
// token is made, so there is none that an agent could find.
//
// An approval is good for one caller, one operation and one set of parameters. It is used up by an atomic change of the
// store, however many processes get the request at the same time. That of a Continuation is good for all calls of the
// caller, until the period of one quota ends.
package approve

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Inbox holds items in a store. It is safe for concurrent use by all processes that share the store. Errors of the
// store are those of its methods; after another error than store.ErrConflict it is unknown whether a change was made.
type Inbox interface {
	// Find returns the item about the binding of a question and its caller. If there is none, its ID is empty, and also
	// if it was opened with other needs, another lifetime, another cooldown or another value to type, or a Confirmation
	// under another rule, for other reasons or at another danger level: what people were asked then is not the question.
	// An item that is denied stays one, whatever it needed. The item of an Enquiry is found whatever it needs: what the
	// execution waits for is what was asked.
	Find(ctx context.Context, q Question) (Item, error)
	// Ask returns what Find does if that is open, approved or denied; otherwise it opens an item, in the place of one that
	// Find leaves out. An Enquiry that is used has its answer, and is returned as well; one that is open or approved with
	// other conditions is replaced. It fails with a TooManyError if too many items of the caller wait, and removes those
	// that have expired.
	Ask(ctx context.Context, q Question) (item Item, opened bool, err error)
	// Use uses up an item that Find has returned and that is approved at the time: the request that it is about may run
	// now. It fails with ErrNotApproved if it is not, or another request was faster.
	Use(ctx context.Context, item Item, at time.Time) error
	// Vote adds the vote of a person to an item, and returns the item as it is then. An item that is approved and not used
	// yet can still be denied. Vote fails with one of the errors of this package if the vote does not count. No vote is
	// earlier than its item: the clock of the voter may be behind.
	Vote(ctx context.Context, id string, v Vote) (Item, error)
	// Withdraw removes what the execution of a question has asked and nobody has decided, or it has not taken. It has
	// ended at the time At: what is decided then changes nothing, and what it asks after that, started again, stays.
	// Caller, Session and Execution say which one it is.
	Withdraw(ctx context.Context, q Question) error
	// Remove removes an item that another method has returned, so that nothing was asked or decided. It fails with
	// store.ErrConflict if the item has changed meanwhile.
	Remove(ctx context.Context, item Item) error
	// Get returns an item by its ID. It fails with ErrUnknown if there is none.
	Get(ctx context.Context, id string) (Item, error)
	// Whole returns all parameters of an item that another method has returned, as a JSON object. It fails with ErrNotKept
	// if the item leaves out parts of more than 128 KiB, or of more than is kept of callers without a name, or has
	// expired.
	Whole(ctx context.Context, item Item) (params string, err error)
	// List returns all items that were not forgotten yet, the oldest first. An item is forgotten half an hour after it has
	// expired, or when its caller asks something else, and the decision about an Enquiry after a year. If there are
	// entries that cannot be read, the error is an *UnreadableError, and the items are the others.
	List(ctx context.Context) ([]Item, error)
	// Scan calls visit with all entries of the store that have items, and with a function that decodes the item of each,
	// until visit returns false. It is List for who looks often: an entry with a key, version and value that were there
	// before has the same item, and need not be decoded again. item fails for an entry that cannot be read.
	Scan(ctx context.Context, visit func(entry store.Entry, item func() (Item, error)) bool) error
	// Changes returns a channel that receives when items may have changed: see store.Notifier. A store that is none
	// never sends.
	Changes(ctx context.Context) <-chan struct{}
}

// Binding says what an approval is good for. It is a keyed digest of operation and parameters, or of a quota and its
// period, from which nobody who lacks the key learns them.
type Binding [sha256.Size]byte

// Question is what a person is asked.
type Question struct {
	Binding   Binding
	Kind      Kind
	Adapter   string
	Operation string
	Danger    gen.Danger
	Caller    identity.Caller
	// Session is the connection of an anonymous caller, whom nothing else tells from others; empty: it does not matter.
	Session   string
	Execution string   // that asks, and goes on when there is a decision; empty: a request asks
	Rule      string   // the rule of the policy that demands it; empty: none does
	Message   string   // the words of the operation's author, with values of parameters in them
	Reasons   []string // why it is dangerous
	Params    string   // a JSON object without sensitive values; an item has of long ones the beginning and the end
	Needs     Needs
	Typing    Typing
	At        time.Time
	Lifetime  time.Duration // how long it can be decided, and after that used
	Cooldown  time.Duration // how long it cannot be approved yet
}

// New returns the inbox in a store.
func New(s store.Store) Inbox { return &box{store: s} }
