package aql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Options configures an adapter. The zero value is a good one: semantic mode with the CRUDE profile, the protocol's
// limits, and confirmation before everything destructive.
type Options struct {
	// The service, as MCP clients see it.

	Name    string
	Version string
	// Description says what the service is, in a few sentences: MCP clients show it to the model, before all else that
	// Adapter.Instructions say, and the tool for all operations has as many of its sentences as 100 characters hold.
	// Default: the first sentence of the comment of each package in the registry.
	Description string

	// The tools through which agents call operations (MCP-AQL core §3, MCP integration §6.4).

	Mode     Mode               // default: ModeSemantic
	Profile  ProfileName        // default: ProfileCrude
	Profiles []describe.Profile // the service's own, which Profile can name
	Prefix   string             // of every tool name, such as "github_"
	// OmitEmptyFamilies leaves out the tools of endpoint families without operations. They cost tokens in every
	// conversation. Without a Profile they are left out in any case; a Profile, ProfileCrude too, has all its tools
	// (MCP-AQL CRUDE pattern §7.1).
	OmitEmptyFamilies bool
	// OperationEnum is up to how many operations a tool lists their names in its input schema. They cost tokens in every
	// conversation, and clients that validate arguments refuse other names before the adapter can help. Default: none.
	OperationEnum int

	// Available switches operations off. Default: all are on.
	Available Available

	// What introspection offers.

	// AdapterInfo adds the query adapter_info: the adapter's name, its Fingerprint, and its trust level.
	AdapterInfo bool
	// SessionID adds session_id to _protocol, the identifier of the session in logs and in audit records (MCP-AQL core
	// §2.3.5). Introspection differs from session to session then.
	SessionID bool
	// QuotaStatus adds the query quota_status: how much of the limits and of the caller's quotas is used.
	QuotaStatus bool
	// GetManifest adds the READ operation get_manifest, which returns Manifest. No operation of the service can have this
	// name then.
	GetManifest bool
	// SupportsETag states that updates honour if_match (MCP-AQL core §9.3.2). It changes nothing else.
	SupportsETag bool

	// Requests.

	Limits Limits
	// MaxInFlightBytes bounds the bytes of large requests, of 64 KiB and more, that are processed at the same time; others
	// wait. Memory under attack grows with it. The default is 8 times Limits.RequestSize. The large requests that a
	// handler sends to its own adapter count too.
	MaxInFlightBytes int
	// Timeout bounds a handler's run where its operation sets none; zero: no bound. With a bound, a handler that ignores
	// its context costs its goroutine and its memory alone: it is given up a second after its deadline, also where the
	// call was cancelled before, and the agent learns that it may still take effect. Without a bound its call waits for
	// it.
	Timeout time.Duration
	// MaxAbandoned is for handlers that were given up and still run: from this number on, calls of all operations are
	// refused, and from a quarter of it those of the same operation. More of one operation than this quarter, and more of
	// one caller who is not anonymous, do not count for all; a caller with this number himself is refused. It is no bound
	// of the number that runs: calls that were let in before may pass it. Default: 64.
	MaxAbandoned int
	// Concurrency is which operations may run at the same time. Default: FullyConcurrent.
	Concurrency Concurrency
	// OmitUnknownFields leaves out the fields that a request selects and that results do not have, with a warning. Without
	// it the request is refused.
	OmitUnknownFields bool
	// AllowUnknownParams ignores parameters that an operation does not have, with a warning in the answer and in the log.
	// It is only for development (MCP-AQL core §4.6.2): an agent that misspells an optional parameter gets another result
	// than it requested. The adapter says so when it is made. Without it such requests are refused.
	AllowUnknownParams bool
	// SkipUnconfirmed makes a batch go on after an operation that requires confirmation. Without it the batch halts. It is
	// only for operations that do not depend on each other (MCP-AQL operations §7.5.4).
	SkipUnconfirmed bool
	// StopOnFailure ends a batch at the first operation that fails: the answer lists those that did not run in
	// pending_operations. Without it they all run, as MCP-AQL operations §7.3 has it.
	StopOnFailure bool

	// Handlers.

	// Intercept are run around each handler, the first one outermost.
	Intercept []Interceptor
	// MapError translates the errors that handlers return, where nobody has made them for agents: those of libraries. It
	// returns an error of NotFound, Errorf and the like, or the error as it was, or nil for that. Errors of a library that
	// the adapter knows (see Error) are then treated as if there were no MapError. It is not called for a failure that is
	// an Error already, or for a panic.
	MapError func(ctx context.Context, operation string, err error) error

	// Collections bounds the queries of operations that embed a Query.
	Collections Collections

	// Executions are those of operations whose handlers take a *Run.
	Executions Executions

	// Loop is the execution safety loop, a *Loop; nil: there is none. Policy configures it.
	Loop SafetyLoop

	// Answers.

	// SlowAfter is how long an operation may take before its answer has a warning; zero: no bound.
	SlowAfter time.Duration
	// ResponseMeta adds _meta to answers: the request's id and the milliseconds that the handler took. Without it they
	// have the id that the client gave, if it did.
	ResponseMeta bool
	// AnswerBudget bounds, in bytes, the answers of operations of the category READ, so that they do not flood a model's
	// context; zero: by Limits.ResponseSize only. An answer beyond three quarters of it has a warning that names the
	// parameters which make it smaller, such as fields and first. One beyond it is refused with these names, before the
	// whole is encoded. In a batch the bound is that of the whole answer, for its items of the category READ.
	AnswerBudget int
	// Sanitize escapes or removes the characters of answers that nobody sees, in results and failures at every depth.
	// Without it answers have them as they are stored.
	Sanitize Sanitize
	// FailuresAreToolErrors marks every failure as an MCP tool error, including those from which an agent can recover.
	FailuresAreToolErrors bool
	// LegacyErrorCodes reports broken constraints as VALIDATION_INVALID_TYPE, for consumers that know only the codes of
	// MCP-AQL error codes §4.
	LegacyErrorCodes bool

	// What may run. The gate applies these in the order trust, policy, quotas, confirmation.

	// Trust gates operations by the adapter's trust level; nil: they are not (MCP-AQL trust levels).
	Trust *trust.Options
	// Policy are rules about operations, callers and parameters; nil: none. SetPolicy replaces it.
	Policy *policy.Policy
	// HideDenied shows a caller only the operations that the policy and the trust level let him call: in tools,
	// introspection, the manifest and suggestions. Any other one is answered like one that does not exist. An operation
	// whose rules depend on parameters, or that needs a confirmation, may be called. Without HideDenied callers see all
	// operations, and learn why they may not call one.
	HideDenied bool
	// Quota are the limits of the API behind the adapter, and the quotas of its callers.
	Quota quota.Options
	// Confirmation is when and how a confirmation is required.
	Confirmation Confirmation
	// Audit records what was requested, allowed and denied; nil: Logger gets it.
	Audit *audit.Log
	// State holds confirmation tokens and counters; nil: they are in memory and end with the process. The adapter does not
	// close it.
	State store.Store
	// StateKey is a secret of 32 bytes or more, the same in all processes that share State and kept elsewhere. With it who
	// can read State finds digests, counters, and which executions there are, and can neither open nor make what clients
	// hold; who can write it can make no confirmation. Without it State holds the secret that it needs.
	StateKey []byte
	// OldStateKeys are keys that were StateKey before: what was made with them stays valid. They are needed for as long as
	// a confirmation is valid, and a month where a quota of costs can be paused.
	OldStateKeys [][]byte
	// StateTimeout is how long a request waits for State before it is refused. Default: 2 seconds.
	StateTimeout time.Duration

	// The process.

	// Observe are hooks that see what happens in the adapter, for metrics and traces; nil: none. New copies them.
	Observe *observe.Hooks
	// Logger receives what agents are not shown; nil: it is discarded.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Mode is which tools an adapter offers (MCP-AQL endpoint modes §3.1).
type Mode = describe.Mode

// The modes.
const (
	ModeSemantic = describe.Semantic // one tool for each endpoint family
	ModeSingle   = describe.Single   // one tool for everything
	ModeAll      = describe.All      // both
	// ModeDiscrete has a tool for each operation, whose arguments are the operation's parameters. It is for clients that
	// search tools themselves, or ask people for permission tool by tool. It costs many tokens elsewhere, has no batches,
	// and is not a mode of the protocol.
	ModeDiscrete = describe.Discrete
)

// ProfileName names a set of endpoint families (MCP-AQL core §3.3).
type ProfileName string

// The profiles that every adapter has.
const (
	ProfileCrude          ProfileName = "crude"           // create, read, update, delete, execute
	ProfileCrudeAuthorize ProfileName = "crude_authorize" // these and authorize
	ProfileSemantic       ProfileName = "semantic"        // discover, query, manage, operate
)

// Concurrency is a concurrency model of MCP-AQL core §9.3.1, which introspection reports. A handler that was given up
// (see Options.Timeout) keeps its turn until it returns: under Serialized nothing runs beside it. Calls that wait for
// their turn are refused at their own deadline, or when their client cancels them.
type Concurrency string

// The concurrency models.
const (
	FullyConcurrent Concurrency = "fully-concurrent" // calls run at the same time
	Serialized      Concurrency = "serialized"       // one call runs at a time
	ReadConcurrent  Concurrency = "read-concurrent"  // READ operations run at the same time, any other one alone
	ResourceLocked  Concurrency = "resource-locked"  // calls run at the same time; the handlers lock what they touch
)

// check fails on a model that does not exist.
func (c Concurrency) check() error {
	switch c {
	case FullyConcurrent, Serialized, ReadConcurrent, ResourceLocked:
		return nil
	}
	return fmt.Errorf("concurrency %q is none of %s, %s, %s, %s",
		c, FullyConcurrent, Serialized, ReadConcurrent, ResourceLocked)
}

// checkBounds fails on bounds below zero, which would bound nothing.
func (o *Options) checkBounds() error {
	var faults []error
	e := &o.Executions
	for _, b := range []struct {
		name  string
		value any
		below bool
	}{
		{"Timeout", o.Timeout, o.Timeout < 0},
		{"SlowAfter", o.SlowAfter, o.SlowAfter < 0},
		{"Executions.Slots", e.Slots, e.Slots < 0},
		{"Executions.Lease", e.Lease, e.Lease < 0},
		{"Executions.Poll", e.Poll, e.Poll < 0},
		{"Executions.Drain", e.Drain, e.Drain < 0},
		{"Executions.Most", e.Most, e.Most < 0},
	} {
		if b.below {
			faults = append(faults, fmt.Errorf("%s of %v: it is not below zero", b.name, b.value))
		}
	}
	return errors.Join(faults...)
}

// withDefaults replaces the zero values that are not those of a package of their own.
func (o Options) withDefaults() Options {
	o.Concurrency = cmp.Or(o.Concurrency, FullyConcurrent)
	o.MaxAbandoned = cmp.Or(o.MaxAbandoned, defaultAbandoned)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Trust != nil && o.Trust.Standing.Level == "" { // MCP-AQL trust levels §6.1
		untested := *o.Trust
		untested.Standing.Level = trust.Untested
		o.Trust = &untested
	}
	return o
}
