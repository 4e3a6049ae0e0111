// Package agents keeps what the execution safety loop of an adapter must not forget (MCP-AQL core §8.6): which agents
// run, what they have reported, what they wait for, and what they are told. Package loop evaluates their reports,
// package verify holds them, package approve asks people, and package execution has their executions.
//
// Whatever the store does not answer, or cannot be read in it, holds an agent up: no report is answered with a
// directive to go on that is not on record.
package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Options configures a Keeper. All but Mode, Inbox, Score, Risks and Channels are required.
type Options struct {
	Adapter string
	Mode    policy.LoopMode // empty: that of the policy
	Store   store.Store     // as the gate has it
	Inbox   approve.Inbox   // nil: nobody can be asked, which only modes allow that ask nobody
	Engine  *execution.Engine
	// Operations are the risks of the adapter's operations.
	Operations map[string]int
	Risks      []loop.Risk // nil: those of package loop
	// Score gives actions a risk of the service's own; nil: none.
	Score    func(ctx context.Context, agent string, r loop.Report) (risk int, why []string, err error)
	Channels []verify.Channel // nil: the terminals of operators, as strong as the policy says they are
	Console  bool             // without Channels, people see codes in a browser, too
	Audit    *audit.Log
	// Write records what must be on record before it takes effect.
	Write  func(ctx context.Context, records ...audit.Record) error
	Logger *slog.Logger
	Now    func() time.Time
}

// Keeper keeps the agents of an adapter. It is safe for concurrent use by all processes that share its store.
type Keeper struct {
	o       Options
	root    string // of all keys
	current atomic.Pointer[settings]
}

// settings are what a policy says.
type settings struct {
	loop *policy.Loop // never nil
	mode policy.LoopMode
	box  *verify.Box
	// digest identifies what reports are evaluated by, in all processes.
	digest string
}

// New returns a keeper, which is to be configured before its first request.
func New(o Options) *Keeper {
	return &Keeper{o: o, root: "loop/" + url.PathEscape(o.Adapter) + "/"}
}

// Configure has the keeper follow a loop from now on; nil: the defaults. It fails, and changes nothing, where nobody
// could decide what the loop leaves to people.
func (k *Keeper) Configure(l *policy.Loop) error {
	if l == nil {
		l = new(policy.Loop)
	}
	s := &settings{loop: l, mode: cmp.Or(k.o.Mode, l.Mode, policy.Enforcing)}
	minimum := verify.Strength(0)
	if s.mode == policy.Enforcing {
		var err error
		if minimum, err = verify.ParseStrength(string(cmp.Or(l.Channel, policy.OtherUser))); err != nil {
			return err
		}
	}
	channels := k.o.Channels
	if channels == nil && k.o.Inbox != nil {
		var err error
		if channels, err = k.channels(l); err != nil {
			return err
		}
	}
	if s.asks() && k.o.Inbox == nil {
		return fmt.Errorf("in the mode %s a person approves of each agent that is started, and this adapter has nowhere to "+
			"ask one: it needs an inbox (serve.Options.Operator, or Confirmation.Inbox), "+
			"and a state that is not in memory (-state)", s.mode)
	}
	var err error
	s.box, err = verify.New(verify.Options{
		Store: k.o.Store, Adapter: k.o.Adapter, Lifetime: cmp.Or(l.ChallengeExpires, policy.DefaultChallengeExpires),
		Remembered: cmp.Or(l.Silence, policy.DefaultSilence),
		Channels:   channels, Minimum: minimum, Audit: k.o.Audit, Logger: k.o.Logger, Now: k.o.Now,
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal([]any{s.mode, l, k.o.Operations})
	if err != nil {
		return fmt.Errorf("encoding a loop: %w", err)
	}
	s.digest = digestOf(string(text))
	k.current.Store(s)
	return nil
}

// channels returns those of an adapter that names none, as strong as a loop says they are.
func (k *Keeper) channels(l *policy.Loop) ([]verify.Channel, error) {
	terminal, err := verify.ParseStrength(string(cmp.Or(l.Terminal, policy.SameUser)))
	if err != nil {
		return nil, err
	}
	channels := []verify.Channel{verify.Terminal(terminal)}
	if !k.o.Console {
		return channels, nil
	}
	console, err := verify.ParseStrength(string(cmp.Or(l.Console, policy.SameUser)))
	return append(channels, verify.Console(console)), err
}

// asks reports whether a person approves of each agent that is started (MCP-AQL core §8.6.2; T-107).
func (s *settings) asks() bool { return s.mode == policy.Enforcing || s.mode == policy.Monitoring }

// WithHolds returns an inbox that has the items of another one, and what holds agents.
func (k *Keeper) WithHolds(inbox approve.Inbox) approve.Inbox {
	return k.current.Load().box.Inbox(inbox)
}

// Mode returns how much the loop does.
func (k *Keeper) Mode() policy.LoopMode { return k.current.Load().mode }

// Asks reports whether a person approves of each agent that is started.
func (k *Keeper) Asks() bool { return k.current.Load().asks() }

// Loop returns what the loop is configured with.
func (k *Keeper) Loop() *policy.Loop { return k.current.Load().loop }

// Strength returns how strong the channel is on which people see codes.
func (k *Keeper) Strength() verify.Strength { return k.current.Load().box.Strength() }

// config returns the configuration of an agent.
func (k *Keeper) config(s *settings, agent string) loop.Config {
	c := loop.For(s.loop, agent)
	c.Mode = s.mode
	c.Operations, c.Risks = k.o.Operations, k.o.Risks
	return c
}

func (k *Keeper) now() time.Time { return k.o.Now().UTC() }

// Who is whose agent a request is about.
type Who struct {
	Caller    identity.Caller
	Encoded   []byte // as executions keep it
	Session   string // of an anonymous caller, who has nothing else
	Agent     string
	Execution string // empty: the only one of the agent
}

// The errors of requests, besides those of package execution.
var (
	// ErrNone says that the agent does not run.
	ErrNone = errors.New("no execution of the agent runs")
	// ErrSeveral says that the agent has several executions, so that one has to be named.
	ErrSeveral = errors.New("several executions of the agent run")
	// ErrUnlisted says that the agent is none of those that the loop lists.
	ErrUnlisted = errors.New("the agent is not listed")
	// ErrUnapproved says that the mode has begun to ask a person of each start after the agent was started.
	ErrUnapproved = errors.New("no person has approved of the start of the agent")
	// ErrBusy says that other reports of the agent were faster.
	ErrBusy = errors.New("several reports of the agent came at the same time")
)

// LimitError says that more steps were asked for than the agent may take.
type LimitError struct{ Most int }

func (e *LimitError) Error() string { return fmt.Sprintf("the agent may take %d steps", e.Most) }

// BlockedError says that an agent is blocked, or its caller may start none.
type BlockedError struct {
	Hold verify.Hold // of the agent that is blocked
	// Directive is what the agent is told.
	Directive *Directive
}

func (e *BlockedError) Error() string { return "the agent is blocked" }

// Directive is what an agent is told (MCP-AQL core §8.7.1).
type Directive struct {
	// Evaluation identifies the evaluation of a report that the directive is the answer to, in records. One that is given
	// again has that of the first time. It is nothing for agents.
	Evaluation    string         `json:"evaluation,omitempty"`
	Execution     string         `json:"execution"`
	Agent         string         `json:"agent"`
	Step          int            `json:"step"`
	Continue      bool           `json:"continue"`
	Stopped       bool           `json:"stopped,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	Factors       []string       `json:"factors"`
	Remaining     *int           `json:"remaining,omitempty"`
	Tier          loop.Tier      `json:"tier,omitempty"`
	Approval      string         `json:"approval,omitempty"` // id of an item
	ApprovalOf    ApprovalOf     `json:"approval_of,omitempty"`
	Notifications []Notification `json:"notifications,omitempty"`
}

// ApprovalOf is what the item is about that an agent waits for.
type ApprovalOf string

// What items are about.
const (
	OfAction  ApprovalOf = "action"  // the action that is reported
	OfSteps   ApprovalOf = "steps"   // as many steps again, whatever they are
	OfFailure ApprovalOf = "failure" // going on after a failure
	OfOther   ApprovalOf = "other"   // an action that was reported before
)

// Notification is something that agents are told (MCP-AQL core §8.7.3).
type Notification struct {
	Type         string    `json:"type"`
	Message      string    `json:"message"`
	Operation    string    `json:"operation,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Level        string    `json:"level,omitempty"`
	Verification string    `json:"verification,omitempty"` // id of a challenge
	At           time.Time `json:"at"`
	Of           string    `json:"of,omitempty"` // what it is over with; agents do not see it
}

// The types of notifications.
const (
	PermissionPending = "permission_pending"
	AutonomyPause     = "autonomy_pause"
	DangerZone        = "danger_zone"
	Status            = "status"
)
