// Package verify stops agents until a person has looked (MCP-AQL core §8.8). What stops one is a hold with a challenge:
// a pause of an execution, or a block of the agent. The agent is told the challenge's id. A person who wants to let it
// go on has the code shown, on a channel that the agent cannot read, and gives it the code, with which the agent passes
// the challenge. Or the person lifts the hold at once.
//
//	box, err := verify.New(verify.Options{Store: state, Adapter: "notes", Channels: …})
//	id, err := box.Open(ctx, verify.Subject{Caller: caller, Agent: "release_bot", Block: true})
//	…
//	shown, err := box.Show(ctx, person, id.String())     // on the channel of a person
//	result, err := box.Verify(ctx, caller, id.String(), typed) // from the agent
//
// A hold is one entry of the store, and there is no other state: as long as the entry is there, Holds returns it, in
// every process and after every restart, and an atomic change of the entry lifts it. Who enforces holds therefore asks
// Holds, and keeps no list of its own.
//
// A code is drawn when a person asks to see it. The store has its digest, and nothing has the code.
package verify

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Options configures a Box. Store is required.
type Options struct {
	// Store has the holds. People open the same one, and sign it with the same key where the adapter has one.
	Store store.Store
	// Adapter is the name of the adapter, for people.
	Adapter string
	// Lifetime is how long a challenge can be passed after it was opened. Default: 5 minutes.
	Lifetime time.Duration
	// Remembered is how long a pause that was lifted is known, for who enforces it: as long as an agent may be silent.
	// Default, and the least: half an hour.
	Remembered time.Duration
	// Failures is how many failures of a caller about one agent are looked at in a minute, or in a longer time for who
	// keeps failing: see TooManyError. Default: 10.
	Failures int
	// Needs says who must approve that a hold is lifted without its code. A reason is always required.
	Needs approve.Needs
	// Channels are the ways to people.
	Channels []Channel
	// Minimum is the strength that one of the channels that show codes must have. Zero demands none: the box of a program
	// for people, which is a channel itself.
	Minimum Strength
	// Audit has records of challenges; nil: there are none. What must be on record does not happen before it is.
	Audit *audit.Log
	// Logger gets failures that nobody else hears of; nil: slog.Default.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Box has the holds of agents. It is safe for concurrent use by all processes that share the store. Errors of the store
// are those of its methods; after one it is unknown whether a change was made, except that nothing is lifted without a
// record.
type Box struct{ o Options }

// New returns the box in a store. It fails if no channel is as strong as it has to be.
func New(o Options) (*Box, error) {
	o.Lifetime, o.Failures = cmp.Or(o.Lifetime, 5*time.Minute), cmp.Or(o.Failures, 10)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Store == nil || o.Lifetime < time.Second || o.Failures < 1 {
		return nil, errors.New("challenges need a store, a lifetime of a second or more, and a failure or more")
	}
	return &Box{o: o}, o.checkChannels()
}

// Strength returns the strength of the strongest channel that shows codes; zero: there is none.
func (b *Box) Strength() Strength { return b.o.strongest() }

// Lifetime is how long a challenge can be passed after it was opened.
func (b *Box) Lifetime() time.Duration { return b.o.Lifetime }

func (b *Box) now() time.Time { return b.o.Now().UTC() }

// Subject is what is held, and why. Caller, Agent, Block, and of a pause Execution say which hold it is.
type Subject struct {
	Caller identity.Caller
	Agent  string // the name that the caller gives it: element_name
	// Execution is the one that is paused. A block is of the agent, in all its executions.
	Execution string
	Block     bool
	// Reasons say why, in the words of those who made the rules.
	Reasons []string
	// Action identifies what is held, for who enforces the hold: lifting it lets go on no more than that. A subject that
	// is held already keeps the one of its hold.
	Action string
	// Says is what the agent has announced. People see all of it, a long text in parts.
	Says string
}

// Hold is what stops, or stopped, an agent.
type Hold struct {
	// Challenge is the id that the agent is told.
	Challenge ID
	Caller    identity.Caller
	Agent     string
	Execution string // of a pause
	Block     bool
	Action    string // of the Subject
	Reasons   []string
	Since     time.Time
	// Expires is until when the challenge can be passed. A pause ends then. A block stays, with another challenge.
	Expires time.Time
	// Lifted reports that it was lifted: by Verify, or else by people, who are By. A pause is forgotten some time after
	// that (Options.Remembered), and a block when Forget is called.
	Lifted   bool
	LiftedAt time.Time
	By       []identity.Caller

	key     string
	version store.Version
}

// Result is what a code was good for.
type Result struct {
	Agent     string
	Execution string // of a pause
	Block     bool   // the agent was blocked, and is no more
}

// Shown is the code of a challenge, for one person's eyes.
type Shown struct {
	Challenge ID
	Code      Code
	Expires   time.Time
	Item      approve.Item // the hold, as the inbox has it
}

// FailedError says that a challenge was not passed. It is the same error for a wrong code, a code that nobody was
// shown, a challenge that has expired or is not known, and one of somebody else.
type FailedError struct {
	// Replacement is the id of the challenge that has taken its place; zero: there is none, or it is not the caller's.
	Replacement ID
}

func (e *FailedError) Error() string { return "the verification failed" }

// TooManyError says that a caller has failed too often: nothing was looked at. Until then nothing is. Each time that
// this happens, the time for which failures are counted doubles, up to an hour; it is a minute again for who has been
// quiet for twice that time.
type TooManyError struct{ Until time.Time }

func (e *TooManyError) Error() string { return "too many verifications failed" }

// The errors of requests, besides those of package approve.
var (
	// ErrNobody says that nobody would be known to have seen a code.
	ErrNobody = errors.New("a code is shown to a person who is known by name")
	// ErrTooMany says that people would no longer look at each pause.
	ErrTooMany = errors.New("too many executions of the caller are paused")
)
