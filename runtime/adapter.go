package aql

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/project"
)

// Options configures an adapter. The zero value is a good one: semantic mode with the CRUDE profile, the protocol's
// limits, and confirmation before everything destructive.
type Options struct {
	Name    string // of the service; shown to MCP clients
	Version string // of the service

	Mode              string            // semantic (default), single or all
	Profile           string            // crude (default), crude_authorize, semantic, or one of Profiles
	Profiles          []project.Profile // custom profiles
	Prefix            string            // in front of every tool name, such as "github_"
	OmitEmptyFamilies bool              // registers no tool for a family without operations

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
	// NoConfirmation turns confirmation tokens off: destructive operations then run as soon as they are asked for.
	NoConfirmation bool
	// IsErrorOnFailure marks every failure as an MCP tool error, also those an agent can recover from.
	IsErrorOnFailure bool
	// MVPErrorCodes reports broken constraints with VALIDATION_INVALID_TYPE, for consumers that know only the protocol's
	// first set of codes (requirements T-25).
	MVPErrorCodes bool

	// Logger receives what is not shown to agents; nil discards it.
	Logger *slog.Logger
}

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
	options       Options
	operations    map[string]*operation
	names         []string // in definition order, introspect first
	definitions   model.Adapter
	tools         []project.Tool
	families      map[string]string // tool name to the family it serves; "" serves all
	familyTool    map[string]string // family to the tool that serves it
	surface       project.Surface
	introspection *project.Introspection
	log           *slog.Logger
	turn          sync.RWMutex
	admission     admission
}

// operation is an operation with what dispatch needs to know about it.
type operation struct {
	definition model.Operation
	newCall    func(*slots) call
	family     string
	tool       string
	params     []string          // valid parameter names
	aliases    map[string]string // other name to parameter
	gated      bool              // a confirmation token is asked for
	deprecated []int             // parameters that are
	secretive  bool              // something in its parameters is sensitive
	ownsToken  bool              // has a parameter of its own that is called confirmation_token
}

// gateLevel is the danger level from which on an operation asks before it runs (requirements REQ-DL-04, T-50).
var gateLevel = model.Destructive.Level()

// New makes an adapter. It fails, saying everything that is wrong, on faults of the registry (Merge) and on options that
// are out of range or name a mode, profile or prefix that does not exist.
func New(registry *Registry, options Options) (*Adapter, error) {
	faults := append([]error(nil), registry.faults...)
	limits, err := options.Limits.withDefaults()
	if err != nil {
		faults = append(faults, err)
	}
	options.Limits = limits
	admission, err := newAdmission(options.InWork, limits)
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

	a := &Adapter{
		options: options, surface: surface, log: options.Logger, admission: admission,
		operations: make(map[string]*operation), families: make(map[string]string), familyTool: make(map[string]string),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.definitions = registry.Definitions()
	a.definitions.Name, a.definitions.Version = options.Name, options.Version
	if err := a.project(&a.definitions); err != nil {
		return nil, fmt.Errorf("making adapter %q: %w", options.Name, err)
	}
	a.addOperation(project.IntrospectOperation(), a.newIntrospectCall)
	for i, o := range registry.operations {
		a.addOperation(o.definition, calls[i])
	}
	return a, nil
}

func newSurface(options Options) (project.Surface, error) {
	surface := project.Surface{Prefix: options.Prefix, OmitEmptyFamilies: options.OmitEmptyFamilies}
	var err error
	if surface.Mode, err = project.ParseMode(options.Mode); err != nil {
		return surface, err
	}
	if surface.Profile, err = project.FindProfile(options.Profile, options.Profiles); err != nil {
		return surface, err
	}
	return surface, nil
}

// project renders everything an agent can ask about the adapter, once.
func (a *Adapter) project(definitions *model.Adapter) error {
	var err error
	if a.tools, err = a.surface.Tools(definitions); err != nil {
		return err
	}
	for _, tool := range a.tools {
		a.families[tool.Name] = tool.Family
		a.familyTool[tool.Family] = tool.Name
	}
	a.introspection, err = project.Introspect(definitions, a.surface, a.protocol())
	return err
}

// protocol tells what this adapter can do, for the _protocol metadata (MCP-AQL introspection §4.1.1).
func (a *Adapter) protocol() project.Protocol {
	limits := a.options.Limits
	return project.Protocol{
		Conformance: a.conformance(),
		Capabilities: project.Capabilities{
			Batch:               true,
			FieldSelection:      a.selectsFields(),
			Warnings:            true,
			Confirmation:        !a.options.NoConfirmation,
			DangerousOperations: true,
		},
		Limits: project.Limits{
			RequestSize: limits.RequestSize, ResponseSize: limits.ResponseSize, StringLength: limits.StringLength,
			ArrayElements: limits.ArrayElements, NestingDepth: limits.NestingDepth,
		},
		Concurrency:  string(a.options.Concurrency),
		SupportsETag: a.options.SupportsETag,
		Gated:        a.gated,
	}
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
	return slices.ContainsFunc(a.definitions.Operations, func(o model.Operation) bool {
		return slices.ContainsFunc(o.Params, func(p model.Param) bool { return p.Type == model.TypeSelection })
	})
}

// gated reports whether an operation asks for a confirmation token before it runs.
func (a *Adapter) gated(o *model.Operation) bool {
	return !a.options.NoConfirmation && o.Danger.Level() >= gateLevel
}

func (a *Adapter) addOperation(definition model.Operation, newCall func(*slots) call) {
	bound := &operation{definition: definition, newCall: newCall}
	bound.family, bound.tool = a.surface.Family(&bound.definition), a.surface.Tool(&bound.definition)
	bound.gated = a.gated(&bound.definition)
	for i, param := range bound.definition.Params {
		if param.Deprecated != "" {
			bound.deprecated = append(bound.deprecated, i)
		}
		bound.params = append(bound.params, param.Name)
		bound.secretive = bound.secretive || a.secretive(&param, make(map[string]bool))
		bound.ownsToken = bound.ownsToken || param.Name == tokenParam
		for _, alias := range param.Aliases {
			if bound.aliases == nil {
				bound.aliases = make(map[string]string)
			}
			bound.aliases[alias] = param.Name
		}
	}
	if bound.gated && !bound.ownsToken {
		bound.params = append(bound.params, tokenParam)
	}
	if bound.params == nil {
		bound.params = []string{}
	}
	a.operations[bound.definition.Name] = bound
	a.names = append(a.names, bound.definition.Name)
}

// secretive reports whether a parameter, or something in it, is sensitive.
func (a *Adapter) secretive(p *model.Param, seen map[string]bool) bool {
	if p.Sensitive || p.Items != nil && a.secretive(p.Items, seen) {
		return true
	}
	t, known := a.definitions.Type(p.Type)
	if !known || seen[p.Type] {
		return false
	}
	seen[p.Type] = true
	return slices.ContainsFunc(t.Fields, func(field model.Param) bool { return a.secretive(&field, seen) })
}

// Name returns the name of the service.
func (a *Adapter) Name() string { return a.options.Name }

// Version returns the version of the service.
func (a *Adapter) Version() string { return a.options.Version }

// Logger returns the logger of the options, or one that discards.
func (a *Adapter) Logger() *slog.Logger { return a.log }

// Limits returns the limits in force.
func (a *Adapter) Limits() Limits { return a.options.Limits }

// Tools returns the MCP tools through which the adapter is reached.
func (a *Adapter) Tools() []project.Tool { return a.tools }

// enter waits until a call to o may run, as the concurrency model says, and returns what ends its turn.
func (a *Adapter) enter(o *operation) (leave func()) {
	switch {
	case a.options.Concurrency == Serialized, a.options.Concurrency == ReadConcurrent && o.definition.Category != model.Read:
		a.turn.Lock()
		return a.turn.Unlock
	case a.options.Concurrency == ReadConcurrent:
		a.turn.RLock()
		return a.turn.RUnlock
	default:
		return func() {}
	}
}
