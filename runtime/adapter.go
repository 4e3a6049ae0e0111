package aql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/fingerprint"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/observer"
)

// Adapter is a set of operations that is ready to answer requests. It is safe for concurrent use.
type Adapter struct {
	options     Options
	view        atomic.Pointer[view]
	handlers    map[string]*bound // by operation
	registered  gen.Definitions   // all of the registry, by which the gate goes
	definitions gen.Definitions   // those of them that are available
	types       map[string]*gen.Type
	fingerprint func() string
	surface     describe.Surface
	log         *slog.Logger
	runner      runner
	inFlight    inFlight
	executing   executing          // nil: no operation outlives its call
	looping     looping            // nil: there is no safety loop
	related     relating           // nil: requests can neither follow relations nor select them
	observer    *observer.Observer // nil: nobody observes the adapter
	backlogs    backlogs
	personal    bool       // people confirm some calls: in an inbox, by typing, or all that are to be confirmed
	changing    sync.Mutex // held while the view is replaced
}

// New makes an adapter. The error lists everything that is wrong with the registry and with the options: two operations
// of one name, limits out of range, an unknown mode or profile.
func New(registry *Registry, options Options) (*Adapter, error) {
	a, err := newAdapter(registry, options)
	if err != nil {
		return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
	}
	return a, nil
}

func newAdapter(registry *Registry, options Options) (*Adapter, error) {
	a := &Adapter{options: options.withDefaults()}
	a.log = slog.New(steadyHandler{a.options.Logger.Handler()})
	a.observer = observer.New(options.Observe, a.log)
	a.options.State = observedStore(a.options.State, a.observer)
	var faults [16]error
	faults[0] = registry.Err()
	a.options.Limits, faults[1] = options.Limits.withDefaults()
	a.inFlight, faults[2] = newInFlight(options.MaxInFlightBytes, a.options.Limits)
	faults[3] = a.options.Concurrency.check()
	a.surface, faults[4] = newSurface(options)
	faults[10] = options.checkBounds()
	listings := &cursors{adapter: options.Name}
	listings.options, faults[11] = options.Collections.withDefaults()
	if faults[0] == nil {
		registry, a.related, faults[12] = relate(registry, listings)
	}
	if faults[0] == nil && faults[12] == nil {
		registry, a.executing, faults[13] = execute(registry)
	}
	if faults[0] == nil && faults[12] == nil && faults[13] == nil && options.Loop != nil {
		registry, a.executing, a.looping, faults[15] = options.Loop.enclose(registry, a.executing)
	}
	if faults[0] == nil && faults[12] == nil && faults[13] == nil && faults[15] == nil {
		faults[0] = registry.Err() // of operations that were added
	}
	if faults[0] == nil {
		a.registered = registry.Definitions()
		a.registered.Name, a.registered.Version = options.Name, options.Version
		own := a.registered.Description
		a.registered.Description = cmp.Or(options.Description, own)
		a.fingerprint = sync.OnceValue(func() string {
			generated := a.definitions
			generated.Description = own
			listings.options.restore(&generated)
			return fingerprint.Of(&generated)
		})
		listings.options.describe(&a.registered)
		a.handlers, faults[5] = compile(registry, a.registered.Types, options, listings, a.related)
		if a.related != nil {
			a.related.define(&a.registered)
		}
		if a.executing != nil {
			a.executing.define(&a.registered)
			if faults[10] == nil { // else it fails for the same
				faults[14] = a.executing.open(a)
			}
		}
		if faults[6] = a.restrict(); a.related != nil && faults[5] == nil {
			a.related.keep(&a.definitions)
		}
	}
	faults[7] = a.options.Sanitize.check()
	faults[8] = checkBudget(options.AnswerBudget)
	faults[9] = checkAbandoned(options.MaxAbandoned)
	if err := errors.Join(faults[:]...); err != nil {
		return nil, err
	}

	a.types = make(map[string]*gen.Type, len(a.registered.Types))
	for i := range a.registered.Types {
		a.types[a.registered.Types[i].Name] = &a.registered.Types[i]
	}
	for _, warning := range a.surface.Warnings() {
		a.log.Warn("Some clients may refuse the names of the tools", "reason", warning)
	}
	if options.AllowUnknownParams {
		a.log.Warn("Unknown parameters are ignored instead of refused; do not use AllowUnknownParams in production")
	}
	a.runner.timeout, a.runner.log, a.runner.turns = options.Timeout, a.log, newTurns(a.options.Concurrency)
	a.runner.groupings, a.runner.abandoned.most = newGroupings(), a.options.MaxAbandoned
	if options.ResponseMeta || options.SlowAfter > 0 {
		a.runner.now = a.options.Now
	}
	a.personal = options.Confirmation.HumanOnly || options.Confirmation.Inbox != nil ||
		slices.ContainsFunc(a.registered.Operations, func(o gen.Operation) bool { return o.TypeToConfirm != "" })
	g, err := gate.New(a.gateOptions(), &a.registered)
	if err != nil {
		return nil, err
	}
	g.Renew(context.Background())
	listings.gate = g
	if a.looping != nil {
		if err := a.looping.open(a, g); err != nil {
			return nil, err
		}
	}
	a.logDueValidation()
	if err := a.show(g, options.Policy); err != nil || !options.GetManifest {
		return a, err
	}
	_, err = a.view.Load().manifest()
	return a, err
}

// logDueValidation says that the adapter should have been validated again (MCP-AQL trust levels §4.4).
func (a *Adapter) logDueValidation() {
	if a.options.Trust == nil {
		return
	}
	standing := a.options.Trust.Standing
	if due := standing.Due(); !due.IsZero() && a.options.Now().After(due) {
		a.log.Warn("The adapter is due for validation", "level", standing.Level, "due", due)
	}
}

func newSurface(options Options) (describe.Surface, error) {
	surface := describe.Surface{
		Prefix: options.Prefix, OmitEmptyFamilies: options.OmitEmptyFamilies || options.Profile == "",
		GetManifest:   options.GetManifest,
		OperationEnum: options.OperationEnum,
	}
	var err error
	if surface.Mode, err = describe.ParseMode(string(options.Mode)); err != nil {
		return surface, err
	}
	if surface.Profile, err = describe.FindProfile(string(options.Profile), options.Profiles); err != nil {
		return surface, err
	}
	return surface, nil
}

// conformance is the level that introspection claims: batches are part of every adapter, field selection makes it level
// 2.
func conformance(definitions *gen.Definitions) string {
	if definitions.SelectsFields() {
		return "level-2"
	}
	return "level-1"
}

// Name returns the name of the service.
func (a *Adapter) Name() string { return a.options.Name }

// Version returns the version of the service.
func (a *Adapter) Version() string { return a.options.Version }

// Instructions tell a model what the service is, and how to discover operations, send several requests at once, select
// fields, page, and confirm. An MCP server returns them when a client connects (MCP, initialize).
func (a *Adapter) Instructions() string {
	v := a.view.Load()
	return a.surface.Instructions(v.definitions, a.protocol(v))
}

// Fingerprint identifies the definitions that the adapter was built from: "sha256:" and 64 hexadecimal digits. For the
// operations of one package it is in the header of the generated file. For those of several, which Merge brought
// together, it covers them all, for an adapter with Options.Available what is available, and for one with Options.Loop
// the operations of that too. With Options.AdapterInfo, introspection reports it.
func (a *Adapter) Fingerprint() string { return a.fingerprint() }

// Logger returns the logger of the options, or one that discards everything.
func (a *Adapter) Logger() *slog.Logger { return a.log }

// Limits returns the limits in force.
func (a *Adapter) Limits() Limits { return a.options.Limits }

// Tools returns the MCP tools through which the adapter is reached.
func (a *Adapter) Tools() []describe.Tool { return a.view.Load().tools }

// Tool returns the name of the MCP tool through which an operation is called; empty if there is no such operation.
func (a *Adapter) Tool(operation string) string {
	if o := a.view.Load().directory.operations[operation]; o != nil {
		return o.tool
	}
	return ""
}
