// Package notify tells people that something waits for them: what is in the inbox of an adapter (package approve), and
// what holds agents (package verify). A service offers the ways to tell them to its users:
//
//	serve.Main(registry, serve.Options{
//		Name: "notes", Stores: sqlite.Drivers(), Operator: operator.Command{},
//		Notify: notify.Teller{Drivers: []notify.Driver{webhook.Driver(), ntfy.Driver()}},
//	})
//
// and they choose from them with the flag -notify. Packages webhook, ntfy and desktop below this one are such ways.
//
// Nobody decides anything where they are told. A notice has no code and no token, and no values of parameters unless
// the operator of the adapter wants them. No call waits for a notice: what is to be told is what the inbox has.
//
// Each item is told once on each channel, whatever number of processes share the store, and however often they are
// started. A process that dies after it has told people and before that is on record leaves another one to tell them
// again.
package notify

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Channel is a way to tell people something.
type Channel interface {
	// Name names the channel in logs and in the store, such as webhook hooks.example.com. There is no secret in it.
	// Channels of the same name are told apart by their order.
	Name() string
	// Strength says what an agent would have to break to read what people are told. Only a channel that is as strong as
	// verify.OtherDevice gets the details of items.
	Strength() verify.Strength
	// Tell sends a notice once. It fails unless the notice has arrived, and is called again later then: after the time of
	// the method RetryAfter() time.Duration of the error, where that has one and it is the longer time. No error has a
	// secret in it.
	Tell(ctx context.Context, n Notice) error
}

// Notice says that something waits for people. Texts of others are in it as they are; Title and Text make them
// printable.
type Notice struct {
	// ID identifies what is news in the notice. It is the same when that is sent again.
	ID      string
	Adapter string
	At      time.Time
	// Waiting is how many items wait, with those that people were told of before.
	Waiting int
	// Items are what is news, the most urgent first, and More is how many others are.
	Items []Item
	More  int
	// Lifted are the blocks that people were told of, and that hold their agents no more.
	Lifted []Lifted
	// Last says that people are told nothing more on this channel for up to an hour: see Options.PerHour.
	Last bool
	// Link is the address where people decide; empty: it is not known.
	Link string
}

// Item is one thing that waits for a person to decide.
type Item struct {
	ID        string
	Kind      approve.Kind
	Operation string // empty where an agent is held
	Danger    gen.Danger
	Caller    identity.Caller // who asks, or whose agent is held
	Agent     string          // the name that the caller has given it; empty: no agent is held
	Opened    time.Time
	Expires   time.Time // zero: it waits until somebody decides
	// Soon says that it expires soon, and that people may have been told before.
	Soon bool
	Link string // where people decide about it; empty: it is not known
	// Details are what people decide by; nil: they are not told.
	Details *Details
}

// Lifted is a block that was lifted.
type Lifted struct {
	ID     string // of its item
	Agent  string // the name that the caller has given it
	Caller identity.Caller
	// By are those who have lifted it; none: the agent has passed its challenge, or it is not known.
	By []identity.Caller
}

// Details are what people decide by.
type Details struct {
	// Message is the question in the words of the operation's author, with values of parameters in them, and Reasons say
	// why it is asked.
	Message string
	Reasons []string
	// Params is a JSON object, which the agent has chosen: the parameters without sensitive values, or what an agent that
	// is held has said.
	Params string
}

// Urgent reports whether an agent is blocked, so that it does nothing until somebody looks.
func (n *Notice) Urgent() bool {
	for i := range n.Items {
		if n.Items[i].Kind == approve.Block {
			return true
		}
	}
	return false
}
