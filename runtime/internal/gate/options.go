package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Options configures a gate. The zero value requires confirmation of every destructive operation, and keeps its state
// in memory.
type Options struct {
	// Store holds tokens and counters; nil: memory does.
	Store store.Store
	// StateKeys are secrets that sign what the store holds, and seal what clients hold. The first one does; all of them
	// open. None: entries are not sealed, and the store holds the secret of seals.
	StateKeys [][]byte
	// StoreTimeout bounds how long a request waits for the store; default 2 seconds. After it the request is refused.
	StoreTimeout time.Duration
	// Trust makes the adapter's trust level decide, too; nil: it does not.
	Trust        *trust.Options
	Confirmation Confirmation
	Quota        quota.Options
	// Audit records decisions; nil: Logger does.
	Audit  *audit.Log
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Confirmation configures how calls are confirmed. The fields are those of aql.Confirmation.
type Confirmation struct {
	Off                         bool
	TrustSkips                  bool
	HumanOnly                   bool
	Scope                       Scope
	MaxUses                     int
	Lifetime, LifetimeForbidden time.Duration
	ClockSkew                   time.Duration
	Cooldown                    map[gen.Danger]time.Duration
	ReauthenticateFrom          gen.Danger
	Reauthenticate              func(ctx context.Context, caller identity.Caller, operation string) error
	IssuesPerMinute             int
	Inbox                       func(store.Store) approve.Inbox // nil: there is none
}

// Scope is who can use a token.
type Scope string

// The scopes of tokens.
const (
	SessionScope Scope = "session" // the session that it was issued to
	CallerScope  Scope = "caller"  // every session of the caller that it was issued to
)

// Defaults and bounds of tokens (MCP-AQL confirmation tokens §5.1).
const (
	defaultLifetime          = 5 * time.Minute
	defaultLifetimeForbidden = 2 * time.Minute
	longestLifetime          = 15 * time.Minute
	longestLifetimeForbidden = 5 * time.Minute
	longestSkew              = 5 * time.Minute
	defaultIssues            = 600 // per minute
)

// setDefaults sets what is not given.
func (o *Options) setDefaults() {
	c := &o.Confirmation
	if o.Store == nil {
		o.Store = &store.Memory{Now: o.Now}
		c.Scope = cmp.Or(c.Scope, SessionScope)
	}
	c.Scope = cmp.Or(c.Scope, CallerScope)
	c.MaxUses = min(max(c.MaxUses, 1), math.MaxInt32)
	c.Lifetime = cmp.Or(c.Lifetime, defaultLifetime)
	c.LifetimeForbidden = cmp.Or(c.LifetimeForbidden, defaultLifetimeForbidden)
	c.IssuesPerMinute = cmp.Or(c.IssuesPerMinute, defaultIssues)
	o.StoreTimeout = cmp.Or(o.StoreTimeout, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// validate returns what is wrong with the options.
func (o *Options) validate() error {
	c := &o.Confirmation
	var faults []error
	within := func(title string, value, most time.Duration) {
		if value < 0 || value > most {
			faults = append(faults, fmt.Errorf("%s of %v: it is between 0 and %v", title, value, most))
		}
	}
	lifetime := func(title string, value, most time.Duration) {
		if value != 0 && (value < time.Second || value > most) {
			faults = append(faults, fmt.Errorf("%s of %v: it is between %v and %v", title, value, time.Second, most))
		}
	}
	lifetime("token lifetime", c.Lifetime, longestLifetime)
	lifetime("token lifetime for level forbidden", c.LifetimeForbidden, longestLifetimeForbidden)
	within("clock skew", c.ClockSkew, longestSkew)
	within("store timeout", o.StoreTimeout, time.Minute)
	for level, cooldown := range c.Cooldown {
		if level.Level() < 0 {
			faults = append(faults, fmt.Errorf("cooldown for %q, which is no danger level", level))
		}
		most := cmp.Or(c.Lifetime, defaultLifetime)
		if level == gen.Forbidden {
			most = cmp.Or(c.LifetimeForbidden, defaultLifetimeForbidden)
		}
		within(fmt.Sprintf("cooldown for %s", level), cooldown, most-time.Second)
	}
	switch c.Scope {
	case "", SessionScope, CallerScope:
	default:
		faults = append(faults, fmt.Errorf("token scope %q is none of session, caller", c.Scope))
	}
	if from := c.ReauthenticateFrom; from != "" && from.Level() < 0 {
		faults = append(faults, fmt.Errorf("%q, from which on callers authenticate once more, is no danger level", from))
	}
	if o.Trust != nil {
		faults = append(faults, o.Trust.Check())
	}
	return errors.Join(faults...)
}
