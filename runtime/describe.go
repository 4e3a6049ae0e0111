package aql

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/project"
	"github.com/aqltag/aqltag/runtime/gate"
)

// Describe tells what an adapter with these options shows of definitions, without handlers: how they are spread over tools,
// and the _protocol metadata. Exports use it, so that they say what the adapter will say. It goes by Options.Policy only so
// far as New does, and fails on options that New refuses.
func Describe(definitions model.Adapter, options Options) (project.Surface, project.Protocol, error) {
	limits, err := options.Limits.withDefaults()
	faults := []error{err}
	options.Limits = limits
	if options.Concurrency == "" {
		options.Concurrency = FullyConcurrent
	}
	surface, err := newSurface(options)
	faults = append(faults, err)
	a := &Adapter{options: options, definitions: definitions, surface: surface, log: slog.New(slog.DiscardHandler)}
	g, err := gate.New(a.gateOptions(), &a.definitions)
	if err = errors.Join(append(faults, err)...); err != nil {
		return project.Surface{}, project.Protocol{}, fmt.Errorf("describing adapter %q: %w", options.Name, err)
	}
	if options.Policy != nil {
		bound, err := options.Policy.Bind(&a.definitions)
		if err != nil {
			return project.Surface{}, project.Protocol{}, fmt.Errorf("describing adapter %q: policy: %w", options.Name, err)
		}
		g = g.WithPolicy(bound)
	}
	return surface, a.protocol(g), nil
}

// Tool returns the name of the MCP tool through which an operation is called, as introspection tells it; empty where there
// is no such operation.
func (a *Adapter) Tool(operation string) string {
	if o := a.view.Load().operations[operation]; o != nil {
		return o.tool
	}
	return ""
}
