// Package gate decides whether a validated request may reach its handler (requirements §0, steps 7 to 10): trust, policy,
// limits and quotas, confirmation, in this order, and what is kept on record of it. It fails closed: what it cannot find
// out is not allowed.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Options says what the gate goes by. The zero value asks for confirmation before everything destructive, and keeps its
// state in memory.
type Options struct {
	// Store keeps tokens and counters; nil: in memory.
	Store store.Store
	// StoreTimeout bounds how long a request waits for the store; default 2 seconds. Then it is refused.
	StoreTimeout time.Duration
	// Trust makes the gate judge by the adapter's trust level; nil: it does not (requirements T-64).
	Trust        *trust.Options
	Confirmation Confirmation
	Quota        quota.Options
	// Audit keeps decisions on record; nil: they go to Logger.
	Audit  *audit.Log
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Confirmation is how the gate asks before an operation runs. The zero value asks before everything destructive, with tokens
// that one session can use once.
type Confirmation struct {
	// Off asks for nothing but what trust and policy demand.
	Off bool
	// TrustSkips leaves it to the gating matrix alone what is asked for, where trust judges (requirements T-50).
	TrustSkips bool
	// HumanOnly gives no token to agents: what needs confirmation is denied, unless the transport asks a human.
	HumanOnly bool
	// Scope is who can use a token. Default: its session where state is in memory, its caller where it is in a store.
	Scope Scope
	// MaxUses is how often the same request can be made with one token; default once.
	MaxUses int
	// Lifetime of tokens: by default 5 minutes, and 2 for level forbidden; 15 and 5 at most (confirmation tokens §5.1).
	Lifetime, LifetimeForbidden time.Duration
	// ClockSkew is how long after its expiry a token is still accepted, up to 5 minutes; for replicas whose clocks differ.
	ClockSkew time.Duration
	// Cooldown is how long after asking a confirmation is not accepted yet, for levels (danger levels §3.2).
	Cooldown map[gen.Danger]time.Duration
	// ReauthenticateFrom demands of callers of operations of this level and above that Reauthenticate approves of them once
	// more when they confirm; empty: of none. Without Reauthenticate they are denied.
	ReauthenticateFrom gen.Danger
	Reauthenticate     func(ctx context.Context, caller identity.Caller, operation string) error
	// IssuesPerMinute bounds the tokens that a session is given, and the failures to present one, beyond 1,000 at once;
	// default 600. Negative: no bound. A caller is given no more than 10 sessions are, however many it opens.
	IssuesPerMinute int
}

// Scope is who can use a token.
type Scope string

// The scopes.
const (
	SessionScope Scope = "session"
	CallerScope  Scope = "caller"
)

// gateLevel is the danger level from which on an operation asks before it runs, and is on record (requirements REQ-DL-04,
// REQ-DL-05, T-50).
var gateLevel = gen.Destructive.Level()

// Gate is the gate of one adapter, with one policy. It is safe for concurrent use.
type Gate struct {
	options    Options
	adapter    string
	tokens     *Tokens
	allowances *allowances
	meter      *meter.Meter
	bounded    bool // calls of the store are
	policy     *policy.Bound
	operations map[string]*Operation
}

// Operation is what the gate knows of one operation.
type Operation struct {
	definition *gen.Operation
	ruling     trust.Ruling
	confirm    bool // whatever the policy says
	rules      *policy.Rules
	gauge      *meter.Gauge
	dryRun     bool // it has a parameter of that name
	recorded   bool // attempts are, whatever comes of them
	idle       bool // nothing can hold it
}

// MayConfirm reports whether the gate may ask for confirmation of the operation.
func (o *Operation) MayConfirm() bool {
	return o.confirm || o.rules != nil && o.rules.MayConfirm()
}

// Confirms reports whether the gate asks for confirmation of the operation whatever its policy says.
func (o *Operation) Confirms() bool { return o.confirm }

// Idle reports whether nothing can hold the operation.
func (o *Operation) Idle() bool { return o.idle }

// NeedsParams reports whether the gate looks at the parameters of the operation.
func (o *Operation) NeedsParams() bool {
	return o.MayConfirm() || o.recorded || o.gauge != nil || o.dryRun || o.rules != nil
}

// Denied reports whether trust denies the operation.
func (o *Operation) Denied() bool { return o.ruling.Verdict >= trust.Deny }

// New makes the gate of an adapter. It fails on options that are out of range or contradict each other, and on operations
// whose danger nobody knows (requirements REQ-DL-01).
func New(options Options, definitions *gen.Adapter) (*Gate, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	g := &Gate{options: options, adapter: definitions.Name, bounded: options.Store != nil}
	c := &g.options.Confirmation
	if g.options.Store == nil {
		g.options.Store = &store.Memory{Now: options.Now}
		c.Scope = cmp.Or(c.Scope, SessionScope)
	}
	c.Scope = cmp.Or(c.Scope, CallerScope)
	c.MaxUses = max(c.MaxUses, 1)
	c.Lifetime = cmp.Or(c.Lifetime, 5*time.Minute)
	c.LifetimeForbidden = cmp.Or(c.LifetimeForbidden, 2*time.Minute)
	c.IssuesPerMinute = cmp.Or(c.IssuesPerMinute, 600)
	g.options.StoreTimeout = cmp.Or(g.options.StoreTimeout, 2*time.Second)
	if g.options.Now == nil {
		g.options.Now = time.Now
	}
	if g.options.Logger == nil {
		g.options.Logger = slog.New(slog.DiscardHandler)
	}
	if c.ClockSkew > time.Minute {
		g.options.Logger.Warn("tokens are accepted long after they have expired", slog.Duration("clock_skew", c.ClockSkew))
	}
	g.allowances = &allowances{limit: c.rate()}
	g.tokens = &Tokens{Store: g.options.Store, Skew: c.ClockSkew}
	var err error
	if g.meter, err = meter.New(options.Quota, definitions, g.options.Store); err != nil {
		return nil, err
	}
	g.operations = make(map[string]*Operation, len(definitions.Operations))
	for i := range definitions.Operations {
		if d := &definitions.Operations[i]; d.Danger.Level() < 0 {
			return nil, fmt.Errorf("operation %s: %q is no danger level; it is one of %v", d.Name, d.Danger, gen.Dangers())
		}
		o := g.operation(&definitions.Operations[i])
		g.operations[o.definition.Name] = o
	}
	return g, nil
}

// check reports what is wrong with the options.
func (o *Options) check() error {
	c := &o.Confirmation
	var faults []error
	within := func(what string, value, most time.Duration) {
		if value < 0 || value > most {
			faults = append(faults, fmt.Errorf("%s of %v: it is between 0 and %v", what, value, most))
		}
	}
	within("token lifetime", c.Lifetime, 15*time.Minute)
	within("token lifetime for level forbidden", c.LifetimeForbidden, 5*time.Minute)
	within("clock skew", c.ClockSkew, 5*time.Minute)
	within("store timeout", o.StoreTimeout, time.Minute)
	for level, cooldown := range c.Cooldown {
		if level.Level() < 0 {
			faults = append(faults, fmt.Errorf("cooldown for %q, which is no danger level", level))
		}
		longest := cmp.Or(c.Lifetime, 5*time.Minute)
		if level == gen.Forbidden {
			longest = cmp.Or(c.LifetimeForbidden, 2*time.Minute)
		}
		within(fmt.Sprintf("cooldown for %s", level), cooldown, longest-time.Second)
	}
	switch c.Scope {
	case "", SessionScope, CallerScope:
	default:
		faults = append(faults, fmt.Errorf("token scope %q is none of session, caller", c.Scope))
	}
	if c.ReauthenticateFrom != "" && c.ReauthenticateFrom.Level() < 0 {
		faults = append(faults, fmt.Errorf("%q, from which on callers authenticate once more, is no danger level", c.ReauthenticateFrom))
	}
	if o.Trust != nil {
		faults = append(faults, o.Trust.Check())
	}
	return errors.Join(faults...)
}

func (g *Gate) operation(definition *gen.Operation) *Operation {
	o := &Operation{definition: definition, recorded: definition.Danger.Level() >= gateLevel}
	c := &g.options.Confirmation
	byLevel := o.recorded && !c.Off
	if t := g.options.Trust; t != nil {
		o.ruling = t.Judge(definition)
		byLevel = byLevel && !c.TrustSkips
	}
	o.confirm = byLevel || o.ruling.Verdict == trust.Confirm
	if g.meter != nil {
		o.gauge = g.meter.Gauge(definition.Name)
	}
	if p, ok := definition.Param("dry_run"); ok && p.Type == "boolean" {
		o.dryRun = true
	}
	o.settle()
	return o
}

// settle finds out whether anything can hold the operation.
func (o *Operation) settle() {
	o.idle = !o.recorded && !o.confirm && o.ruling.Verdict == trust.Allow && o.rules == nil && o.gauge == nil
}

// WithPolicy returns a gate that goes by a policy, nil for none, and shares everything else with g: what was counted and
// issued counts on.
func (g *Gate) WithPolicy(p *policy.Bound) *Gate {
	with := *g
	with.policy = p
	with.operations = make(map[string]*Operation, len(g.operations))
	for name, operation := range g.operations {
		o := *operation
		o.rules = nil
		if p != nil {
			o.rules = p.For(name)
		}
		o.settle()
		with.operations[name] = &o
	}
	return &with
}

// Operation returns what the gate knows of an operation; nil for one that it was not made for.
func (g *Gate) Operation(name string) *Operation { return g.operations[name] }

// Meter counts calls; nil where nothing is counted.
func (g *Gate) Meter() *meter.Meter { return g.meter }

// Scope is who can use a token.
func (g *Gate) Scope() Scope { return g.options.Confirmation.Scope }

// Bound bounds how long a request waits for the store. Memory needs no bound.
func (g *Gate) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if !g.bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, g.options.StoreTimeout)
}
