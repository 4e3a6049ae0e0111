// Package gate decides whether a validated request may reach its handler. In this order, it checks the adapter's trust
// level, the policy, limits and quotas, and confirmation, and records what it decides. It fails closed: a request about
// which it cannot find out is refused.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// guardedLevel is the danger level from which on an operation needs confirmation and is recorded (MCP-AQL danger levels
// §3).
var guardedLevel = gen.Destructive.Level()

// Gate is the gate of one adapter, with one policy. It is safe for concurrent use.
type Gate struct {
	options    Options
	adapter    string
	tokens     *Tokens
	keys       keyring // nil: there is no state key
	clock      *clock
	allowances *allowances
	meter      *meter.Meter
	inbox      approve.Inbox // nil: there is none
	bounded    bool          // the store is not memory, so waiting for it is bounded
	operations map[string]*Operation
}

// New returns the gate of an adapter. It fails on options that are out of range or contradict each other, and on
// operations whose danger level does not exist.
func New(options Options, definitions *gen.Definitions) (*Gate, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	bounded := options.Store != nil
	options.setDefaults()
	g := &Gate{options: options, adapter: definitions.Name, bounded: bounded}
	c := &g.options.Confirmation
	if c.ClockSkew > time.Minute {
		options.Logger.Warn("tokens are accepted long after they have expired", slog.Duration("clock_skew", c.ClockSkew))
	}
	g.allowances = &allowances{limit: issueRate(c)}
	g.clock = &clock{read: options.Now}
	var err error
	if g.keys, err = newKeyring(options.StateKeys...); err != nil {
		return nil, err
	}
	if g.keys != nil {
		options.Store = sealedStore{options.Store, g.keys}
		g.options.Store = options.Store
	}
	g.tokens = &Tokens{Store: options.Store, Skew: c.ClockSkew}
	if c.Inbox != nil {
		g.inbox = c.Inbox(options.Store)
	}
	if g.meter, err = meter.New(options.Quota, definitions, options.Store); err != nil {
		return nil, err
	}
	g.operations = make(map[string]*Operation, len(definitions.Operations))
	for i := range definitions.Operations {
		d := &definitions.Operations[i]
		if d.Danger.Level() < 0 {
			return nil, fmt.Errorf("operation %s: %q is no danger level; it is one of %v", d.Name, d.Danger, gen.Dangers())
		}
		if err := checkTyped(definitions, d); err != nil {
			return nil, err
		}
		g.operations[d.Name] = g.operation(d)
	}
	return g, nil
}

// WithPolicy returns a gate with a policy, nil for none, that shares everything else with g: counters and issued tokens
// stay valid.
func (g *Gate) WithPolicy(p *policy.Bound) *Gate {
	with := *g
	with.operations = make(map[string]*Operation, len(g.operations))
	for name, operation := range g.operations {
		o := *operation
		o.rules, o.person, o.unheld = nil, 0, false
		if p != nil {
			o.rules = p.For(name)
		}
		with.operations[name] = &o
	}
	return &with
}

// Hold makes calls of operations wait for people in the inbox, for as long as they are given, and others for no
// confirmation, whatever the policy says. It is for a gate that WithPolicy has just returned.
func (g *Gate) Hold(person map[string]time.Duration, unheld []string) {
	for name, within := range person {
		if o := g.operations[name]; o != nil {
			o.person = within
		}
	}
	for _, name := range unheld {
		if o := g.operations[name]; o != nil {
			o.unheld = true
		}
	}
}

// Operation returns the gate's view of an operation; nil if the adapter does not have it.
func (g *Gate) Operation(name string) *Operation { return g.operations[name] }

// Store is where the gate keeps state: sealed, if there is a state key.
func (g *Gate) Store() store.Store { return g.options.Store }

// Meter counts calls; nil if nothing is counted.
func (g *Gate) Meter() *meter.Meter { return g.meter }

// Inbox holds what waits for people; nil: there is none.
func (g *Gate) Inbox() approve.Inbox { return g.inbox }

// Bound returns a context that bounds how long a request waits for the store. Memory needs no bound.
func (g *Gate) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if !g.bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, g.options.StoreTimeout)
}

// sessionTokens reports whether a token can be used only in the session that it was issued to.
func (g *Gate) sessionTokens() bool { return g.options.Confirmation.Scope == SessionScope }

// Operation is the gate's view of one operation.
type Operation struct {
	definition *gen.Operation
	ruling     trust.Ruling
	confirm    bool // calls need confirmation whatever the policy
	rules      *policy.Rules
	gauge      *meter.Gauge
	dryRun     string // the parameter that asks for a dry run; empty: there is none
	humanOnly  bool
	typed      string // the parameter whose value a person types to confirm; empty: there is none
	// person is how long people have to approve a call in the inbox, whatever the policy says; zero: they need not.
	person     time.Duration
	unheld     bool     // no call waits for a confirmation, whatever the policy says
	recorded   bool     // every attempt is recorded
	identifies []string // the parameters that say what a call is about
}

func (g *Gate) operation(definition *gen.Operation) *Operation {
	guarded := definition.Danger.Level() >= guardedLevel
	c := &g.options.Confirmation
	o := &Operation{definition: definition, recorded: guarded, humanOnly: c.HumanOnly, identifies: identifiers(definition)}
	if definition.Category == gen.Execute && g.options.Audit != nil {
		o.recorded = true // MCP-AQL CRUDE pattern §7.2
	}
	byLevel := guarded && !c.Off
	if t := g.options.Trust; t != nil {
		o.ruling = t.Rule(definition)
		byLevel = byLevel && !c.TrustSkips
	}
	o.typed = definition.TypeToConfirm
	o.confirm = byLevel || o.ruling.Verdict == trust.Confirm || o.typed != ""
	if g.meter != nil {
		o.gauge = g.meter.Gauge(definition.Name)
	}
	for i := range definition.Params {
		if p := &definition.Params[i]; p.DryRun {
			o.dryRun = p.Name
		}
	}
	return o
}

// MayConfirm reports whether some call of the operation may need confirmation.
func (o *Operation) MayConfirm() bool {
	return !o.unheld && (o.confirm || o.person > 0 || o.rules.MayConfirm())
}

// ByPerson reports whether a person approves of every call of the operation: by itself, or by a rule of the policy.
func (o *Operation) ByPerson() bool { return o.person > 0 || !o.unheld && o.rules.AlwaysApproved() }

// Confirms reports whether every call of the operation needs confirmation whatever the policy.
func (o *Operation) Confirms() bool { return o.confirm }

// LetsDryRunsPass reports whether no dry run of the operation needs confirmation.
func (o *Operation) LetsDryRunsPass() bool {
	return o.dryRun != "" && !o.humanOnly && !o.rules.MayConfirm()
}

// Ungated reports whether every call of the operation is admitted, without anything to count or record.
func (o *Operation) Ungated() bool {
	return !o.recorded && !o.confirm && o.person == 0 && o.ruling.Verdict == trust.Allow && o.rules == nil &&
		o.gauge == nil
}

// NeedsParams reports whether the gate reads the parameters of the operation's calls.
func (o *Operation) NeedsParams() bool {
	return o.MayConfirm() || o.recorded || o.gauge != nil || o.dryRun != "" || o.rules != nil
}

// Recorded reports whether every attempt to call the operation is recorded (MCP-AQL danger levels §7.4).
func (o *Operation) Recorded() bool { return o.recorded }

// MayRun reports whether some call of the operation by a caller can be admitted.
func (o *Operation) MayRun(caller identity.Caller) bool {
	return !o.Denied() && o.rules.MayAllow(caller)
}

// Denied reports whether the adapter's trust level denies the operation.
func (o *Operation) Denied() bool { return o.ruling.Verdict >= trust.Deny }
