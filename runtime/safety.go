package aql

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/verify"
)

// SafetyLoop is the execution safety loop of an adapter: a *Loop.
type SafetyLoop interface {
	// enclose adds the operations of the loop to a registry, with those that follow executions where e has none. Nothing
	// else leads to the code of the loop: an adapter without one does not link it.
	enclose(registry *Registry, e executing) (*Registry, executing, looping, error)
}

// looping is the execution safety loop of an adapter that has one.
type looping interface {
	// open makes what keeps agents, when the gate is there.
	open(a *Adapter, g *gate.Gate) error
	// configure has the loop follow a policy, and holds calls at a gate that has it.
	configure(p *policy.Policy, g *gate.Gate) error
	// withHolds returns an inbox that has the items of another one, and what holds agents.
	withHolds(inbox approve.Inbox) approve.Inbox
	// describe adds what introspection says of the loop.
	describe(p *describe.Protocol)
	// refuse fails for a request that a block refuses before the gate sees it.
	refuse(ctx context.Context, x *exchange, q *request) *Error
	// asked returns what people are asked about in place of the parameters of a request; nil: about these.
	asked(q *request) gate.Params
	// waits and passes tell agents of the caller that an operation waits for a person, and that it was let through.
	waits(ctx context.Context, x *exchange, q *request, refused *gate.Refusal)
	passes(ctx context.Context, x *exchange, q *request)
	// within returns the context of a request of the loop.
	within(ctx context.Context, x *exchange, q *request) context.Context
}

// Loop is an execution safety loop (MCP-AQL core §8.6): agents that are started with execute_agent report each action
// before it, and are told whether they may go on. What it allows is in the policy: see policy.Loop. A zero Loop is one,
// which enforces the defaults. It needs an inbox (Confirmation.Inbox), in which people approve of agents and of their
// actions, and a channel on which they see the codes of challenges.
//
// Agents report in their own words, and nothing sees what they do elsewhere: the loop holds those that follow it. See
// docs/safety.md.
type Loop struct {
	// Mode counts more than that of the policy; empty: the policy's counts, and without one policy.Enforcing.
	Mode policy.LoopMode
	// Channels are the ways to people; nil: the terminals of operators (package operator), as strong as the policy says
	// that they are. In the mode enforcing one of those that show codes must be as strong as the policy demands:
	// challenge.channel, other_user by default.
	Channels []verify.Channel
	// Console says that people see codes in a console, too (package console), as safe from agents as the policy says:
	// challenge.console. Channels count alone where there are some.
	Console bool
	// Risks replace the table of risky actions; nil: loop.Risks.
	Risks []loop.Risk
	// Score gives an action that an agent reports a risk of the service's own, from 0 to 100, and says why to the agent.
	// It can only raise the risk. An error is logged and counts as 100.
	Score func(ctx context.Context, agent string, r loop.Report) (risk int, why []string, err error)
}

// InMode returns a copy of the loop with another mode; empty: the loop itself. Package serve calls it with what the
// environment says.
func (o *Loop) InMode(mode policy.LoopMode) SafetyLoop {
	if mode == "" {
		return o
	}
	other := *o
	other.Mode = mode
	return &other
}

// WithConsole returns a copy of the loop with a console. Package serve calls it where it serves one.
func (o *Loop) WithConsole() SafetyLoop {
	other := *o
	other.Console = true
	return &other
}

// agentLifetime is how long people have to approve of an agent that is to be started.
const agentLifetime = 30 * time.Minute
