package aql

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/fingerprint"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
)

// Options configures an adapter. The zero value is a good one: semantic mode with the CRUDE profile, the protocol's
// limits, and confirmation before everything destructive.
type Options struct {
	Name    string // of the service; shown to MCP clients
	Version string // of the service

	Mode              string             // semantic (default), single or all
	Profile           string             // crude (default), crude_authorize, semantic, or one of Profiles
	Profiles          []describe.Profile // custom profiles
	Prefix            string             // in front of every tool name, such as "github_"
	OmitEmptyFamilies bool               // registers no tool for a family without operations

	Limits Limits
	// InWork bounds the bytes of large requests, of 64 KiB and more, that are in work at the same time; the others wait.
	// Default: 8 times the limit of one request. Memory under attack grows with it. A
	// handler that sends large requests to its own adapter needs room for them too.
	InWork int
	// Timeout bounds a handler's run where its operation sets none; zero means no bound.
	Timeout time.Duration
	// Concurrency is what the adapter promises and keeps (MCP-AQL core §9.3.1).
	Concurrency Concurrency
	// SupportsETag says that updates honour if_match; it is shown in introspection and changes nothing else.
	SupportsETag bool

	// OmitUnknownFields leaves out the fields that a request asks for and that results do not have, where it would be
	// refused otherwise.
	OmitUnknownFields bool
	// SkipUnconfirmed makes a batch go on behind an operation that asks for confirmation, where it would halt otherwise.
	// Only for operations that do not depend on each other (MCP-AQL operations §7.5.4).
	SkipUnconfirmed bool
	// SlowAfter is how long an operation may take before its answer warns of it; zero: as long as it likes.
	SlowAfter time.Duration
	// ResponseMeta adds _meta to answers: the request's id and how many milliseconds the handler took.
	ResponseMeta bool

	// Confirmation is how the adapter asks before an operation runs: before everything destructive, where nothing is set.
	Confirmation Confirmation
	// Trust makes the adapter's trust level decide what it may do; nil: it does not (MCP-AQL trust levels).
	Trust *trust.Options
	// Policy are rules about operations, callers and parameters; nil: none. SetPolicy replaces it.
	Policy *policy.Policy
	// Quota are the limits of the API behind the adapter, and the quotas of its callers.
	Quota quota.Options
	// Audit keeps on record what was asked for, allowed and denied; nil: that goes to Logger.
	Audit *audit.Log
	// State keeps confirmation tokens and counters; nil: in memory, where they end with the process. The adapter does not
	// close it.
	State store.Store
	// StateTimeout bounds how long a request waits for State; default 2 seconds. Then it is refused.
	StateTimeout time.Duration
	// AdapterInfo and QuotaStatus let introspect tell of the adapter, by which definitions it was built and how far it is
	// trusted, and of the caller's quotas, with the queries adapter_info and quota_status.
	AdapterInfo, QuotaStatus bool
	// GetManifest adds the READ operation get_manifest, which tells what the service can do as a declaration: Manifest. The
	// service cannot have an operation of this name then.
	GetManifest bool

	// IsErrorOnFailure marks every failure as an MCP tool error, also those an agent can recover from.
	IsErrorOnFailure bool
	// MVPErrorCodes reports broken constraints with VALIDATION_INVALID_TYPE, for consumers that know only the protocol's
	// first set of codes (requirements T-25).
	MVPErrorCodes bool

	// Logger receives what is not shown to agents; nil discards it.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Confirmation is how an adapter asks before an operation runs.
type Confirmation = gate.Confirmation

// Concurrency is a concurrency model of MCP-AQL core §9.3.1.
type Concurrency string

// The concurrency models. The zero value is FullyConcurrent.
const (
	FullyConcurrent Concurrency = "fully-concurrent" // calls run side by side
	Serialized      Concurrency = "serialized"       // one call at a time
	ReadConcurrent  Concurrency = "read-concurrent"  // READ operations side by side, all others alone
	ResourceLocked  Concurrency = "resource-locked"  // calls run side by side; the handlers lock what they touch
)

// Adapter is a set of operations that is ready to answer requests. It is safe for concurrent use.
type Adapter struct {
	options     Options
	view        atomic.Pointer[view]
	calls       []func(*slots) call // of the operations, in their order
	directory   directory           // without operations
	definitions gen.Adapter
	fingerprint func() string
	manifest    []byte // the answer to get_manifest; nil: there is no such operation
	tools       []describe.Tool
	surface     describe.Surface
	log         *slog.Logger
	runner      runner
	inFlight    inFlight
	changing    sync.Mutex // held while the view is replaced
}

// New makes an adapter. It fails, saying everything that is wrong, on faults of the registry (Merge) and on options that
// are out of range or name a mode, profile or prefix that does not exist.
func New(registry *Registry, options Options) (*Adapter, error) {
	faults := append([]error(nil), registry.faults...)
	limits, err := options.Limits.withDefaults()
	if err != nil {
		faults = append(faults, err)
	}
	options.Limits = limits
	waiting, err := newInFlight(options.InWork, limits)
	if err != nil {
		faults = append(faults, err)
	}
	if options.Concurrency == "" {
		options.Concurrency = FullyConcurrent
	}
	switch options.Concurrency {
	case FullyConcurrent, Serialized, ReadConcurrent, ResourceLocked:
	default:
		faults = append(faults, fmt.Errorf("concurrency %q is none of fully-concurrent, serialized, read-concurrent, resource-locked", options.Concurrency))
	}
	surface, err := newSurface(options)
	if err != nil {
		faults = append(faults, err)
	}
	var calls []func(*slots) call
	if len(registry.faults) == 0 {
		calls, err = registry.compile(options)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
	}

	a := &Adapter{options: options, surface: surface, log: options.Logger, inFlight: waiting, calls: calls}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.options.Now == nil {
		a.options.Now = time.Now
	}
	a.definitions = registry.Definitions()
	a.definitions.Name, a.definitions.Version = options.Name, options.Version
	a.fingerprint = sync.OnceValue(func() string { return fingerprint.Of(&a.definitions) })
	if a.tools, err = a.surface.Tools(&a.definitions); err != nil {
		return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
	}
	a.directory = newDirectory(&a.definitions, &a.surface, a.tools)
	a.runner.timeout, a.runner.concurrency = options.Timeout, options.Concurrency
	if options.ResponseMeta || options.SlowAfter > 0 {
		a.runner.now = a.options.Now
	}
	if options.GetManifest {
		if a.manifest, err = a.renderManifest(); err != nil {
			return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
		}
	}
	g, err := gate.New(a.gateOptions(), &a.definitions)
	if err == nil {
		err = a.show(g, options.Policy)
	}
	if err != nil {
		return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
	}
	return a, nil
}

func newSurface(options Options) (describe.Surface, error) {
	surface := describe.Surface{Prefix: options.Prefix, OmitEmptyFamilies: options.OmitEmptyFamilies, GetManifest: options.GetManifest}
	var err error
	if surface.Mode, err = describe.ParseMode(options.Mode); err != nil {
		return surface, err
	}
	if surface.Profile, err = describe.FindProfile(options.Profile, options.Profiles); err != nil {
		return surface, err
	}
	return surface, nil
}

// conformance is the level that the adapter claims: both modes, batches and field selection make the second one
// (requirements T-74).
func (a *Adapter) conformance() string {
	if a.selectsFields() {
		return "level-2"
	}
	return "level-1"
}

// selectsFields reports whether an operation lets agents select fields.
func (a *Adapter) selectsFields() bool {
	return slices.ContainsFunc(a.definitions.Operations, func(o gen.Operation) bool {
		return slices.ContainsFunc(o.Params, func(p gen.Param) bool { return p.Type == gen.TypeSelection })
	})
}

// Name returns the name of the service.
func (a *Adapter) Name() string { return a.options.Name }

// Version returns the version of the service.
func (a *Adapter) Version() string { return a.options.Version }

// Fingerprint tells by which definitions the adapter was built: "sha256:" and 64 hexadecimal digits (requirements REQ-GE-06).
// For the operations of one package it is what stands in the header of the package's generated file; for those of several,
// merged, it covers them all and stands in none. introspect tells it with the query adapter_info, where Options.AdapterInfo
// is set.
func (a *Adapter) Fingerprint() string { return a.fingerprint() }

// Logger returns the logger of the options, or one that discards.
func (a *Adapter) Logger() *slog.Logger { return a.log }

// Limits returns the limits in force.
func (a *Adapter) Limits() Limits { return a.options.Limits }

// Tools returns the MCP tools through which the adapter is reached.
func (a *Adapter) Tools() []describe.Tool { return a.tools }

// Tool returns the name of the MCP tool through which an operation is called, as introspection tells it; empty where there
// is no such operation.
func (a *Adapter) Tool(operation string) string {
	if o := a.view.Load().directory.operations[operation]; o != nil {
		return o.tool
	}
	return ""
}
